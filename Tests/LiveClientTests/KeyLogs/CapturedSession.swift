import TestSupport
import Testing

/// A session by TLS as it went over the wire, by a proxy that knows nothing of TLS.
struct CapturedSession {
  let broker: SecureBroker
  let way: SecureBroker.Way
  let directory: Scratch

  /// The capture.
  var capture: String { directory.file("session.pcapng") }
  /// What the client logged.
  var keys: String { directory.file("keys.log") }
  /// What is typed to read the capture by that.
  var byKeyLog: [String] { ["--keylog", keys] }

  /// Has the command record the broker's message.
  /// - Parameters:
  ///   - broker: The broker.
  ///   - way: The way to it.
  ///   - words: What is typed besides.
  /// - Throws: What keeps it from being recorded.
  init(
    _ broker: SecureBroker, _ way: SecureBroker.Way, _ words: [String] = []
  ) async throws {
    try await self.init(broker, way) { port, directory in
      let client = try await RunningCommand.run(
        broker.recording(
          try broker.url(way, at: port), to: directory.file("session.jsonl"),
          broker.terms(way) + words),
        in: directory, environment: ["SSLKEYLOGFILE=\(directory.file("keys.log"))"])
      #expect(client.status == 0, "\(client.errors)")
    }
  }

  /// Has a client by a pre-shared key publish a message.
  /// - Parameters:
  ///   - broker: The broker.
  ///   - suites: The cipher suites that the client offers, as OpenSSL calls them.
  /// - Throws: What keeps the message from being published.
  init(_ broker: SecureBroker, suites: String) async throws {
    try await self.init(broker, .sharedKey) { port, _ in
      try await Child.run([
        "mosquitto_pub", "-h", "localhost", "-p", "\(port)", "-i", SecureBroker.identity,
        "--psk", SecureBroker.sharedKey, "--psk-identity", SecureBroker.identity,
        "--ciphers", suites, "-q", "1", "-t", "keys/shared", "-m", "hello",
      ])
    }
  }

  private init(
    _ broker: SecureBroker, _ way: SecureBroker.Way,
    by client: (_ port: UInt16, _ directory: Scratch) async throws -> Void
  ) async throws {
    self.broker = broker
    self.way = way
    directory = Scratch()
    let proxy = try await ProxyBench(
      to: "tcp://127.0.0.1:\(broker.port(way))", ["--count=1"], file: "session.pcapng",
      in: directory)
    try await client(proxy.port, directory)
    #expect(try await proxy.command.wait() == 0)
  }

  /// What `inspect` shows of the capture.
  struct Shown {
    /// A line for each event from its direction on, without the columns' spaces; addresses are `ADDRESS`.
    var events: [String]
    /// How the connection ended: which of alerts and ends come, and in which order, is a matter of luck.
    var ending: [String]
    /// What was told besides, each line behind the name of the capture.
    var notes: [String]
  }

  /// Inspects the capture.
  /// - Parameter words: What is typed besides.
  /// - Returns: What is shown.
  /// - Throws: What keeps the command from running.
  func inspect(_ words: [String] = []) async throws -> Shown {
    let shown = try await RunningCommand.run(["inspect", capture] + words, in: directory)
    #expect(shown.status == 0, "\(shown.errors)")
    let lines = shown.output.split(separator: "\n").dropFirst().map { line -> String in
      String(line.drop { $0 != "→" && $0 != "←" })
        .replacing(/\ +/, with: " ").replacing(/127\.0\.0\.1:\d+/, with: "ADDRESS")
    }
    let endings = lines.filter { $0.dropFirst(2).starts(with: /ALERT|CLOSE (fin|reset)/) }
    return Shown(
      events: lines.filter { !endings.contains($0) }, ending: endings,
      notes: shown.errors.split(separator: "\n").map {
        String($0).replacing("reprise: \(capture): ", with: "").replacing(
          /port \d+/, with: "port PORT")
      })
  }

  /// What `conform trace` judges of the capture.
  /// - Parameter words: What is typed besides.
  /// - Returns: The exit status, and for each specification how many clauses had anything to judge.
  /// - Throws: What keeps the command from running.
  func judge(_ words: [String]) async throws -> (status: Int32, judged: [String: Int]) {
    let report = try await RunningCommand.run(["conform", "trace", capture] + words, in: directory)
    var judged: [String: Int] = [:]
    for line in report.output.split(separator: "\n") {
      guard let match = line.wholeMatch(of: /(\S+): (\d+) of \d+ clauses had anything to judge/)
      else { continue }
      judged[String(match.1)] = Int(match.2)
    }
    return (report.status, judged)
  }

  /// The types of the control packets that tshark sees, by their numbers.
  func tsharkTypes() async throws -> [Int] {
    let port = try broker.port(way)
    let isWebSocket = way == .webSocket
    let child = try Child(
      [
        "tshark", "-n", "-r", capture, "-o", "tls.keylog_file:\(keys)",
        "-d", "tcp.port==\(port),tls", "-d", "tls.port==\(port),\(isWebSocket ? "http" : "mqtt")",
        "-Y", isWebSocket ? "websocket.opcode == 2" : "mqtt", "-T", "fields",
        "-e", isWebSocket ? "data.data" : "mqtt.msgtype",
      ], errorsApart: true)
    #expect(await child.wait() == 0, "\(child.errors)")
    return child.text.split { "\n,".contains($0) }.compactMap { word in
      // tshark 4.0 knows no MQTT in WebSocket; there the first byte has the type in its upper half.
      isWebSocket ? Int(word.prefix(1), radix: 16) : Int(word)
    }
  }
}
