import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise record proxy` as a user has it.
@Suite struct ProxyCommandTests {
  private let directory = Scratch()

  @Test func recordsWhatABrokerAndItsClientsSay() async throws {
    let broker = try await Broker()
    let bench = try await ProxyBench(to: broker.url, ["--count", "3"], in: directory)
    let common = ["-h", "127.0.0.1", "-p", "\(bench.port)", "-t", "plant/1"]
    let subscriber = try Child(
      ["stdbuf", "-oL", "mosquitto_sub", "-d", "-q", "2", "-C", "2"] + common)
    try await subscriber.wait(for: "a subscription") { $0.text.contains("Subscribed") }
    for qos in 1...2 {
      try await Child.run(["mosquitto_pub", "-q", "\(qos)", "-m", "21.\(qos)"] + common)
    }
    #expect(await subscriber.wait() == 0)
    #expect(try await bench.command.wait() == 0)
    #expect(bench.command.errors.contains("a.pcapng: note: 3 connections, "))
    var status = stat()
    #expect(stat(directory.file("a.pcapng"), &status) == 0 && status.st_mode & 0o777 == 0o600)
    // By the port that the file has, tshark knows what it sees.
    #expect(
      try await directory.tshark([
        "-Y", "mqtt.msgtype == 3 && tcp.dstport == 1883", "-T", "fields", "-e", "mqtt.topic",
      ])
        == "plant/1\nplant/1\n")
    #expect(
      try await directory.tshark([
        "-o", "tcp.check_checksum:TRUE", "-Y", "_ws.expert.severity >= 0x600000",
      ]) == "")
    let comments = try await directory.tshark([
      "-Y", "frame.comment", "-T", "fields", "-e", "frame.comment",
    ])
    #expect(comments.contains(" connects to 127.0.0.1:\(bench.port), for \(broker.url)\n"))
    #expect(comments.contains(" to 127.0.0.1:\(broker.port)\n"))
    let file = directory.file("a.pcapng")
    let judged = try await RunningCommand.run(["conform", "trace", file], in: directory)
    #expect(judged.status == 0, "\(judged.output)\(judged.errors)")
    let shown = try await RunningCommand.run(["inspect", file], in: directory)
    #expect(shown.errors == "")
    #expect(shown.output.contains("PUBREC"))
  }

  @Test func saysThatNobodyAnswers() async throws {
    let (reserved, port) = try Socket.reserved()
    let bench = try await ProxyBench(to: "127.0.0.1:\(port)", in: directory)
    for _ in 0..<3 {
      #expect(try await bench.connected().readToBreak() == ([], ECONNRESET))
    }
    #expect(try await bench.command.stop(SIGTERM) == 143)
    let line =
      "reprise: 127.0.0.1:\(port) can't be reached: connection refused; check host and port, "
      + "and whether a server runs there; the client is reset\n"
    #expect(bench.command.errors.components(line) == 1)
    let passed = try bench.passed()
    #expect(passed.serverPorts == [port])
    #expect(
      passed.connections.map(\.marks)
        == Array(repeating: ["client syn", "server syn", "server reset"], count: 3))
    withExtendedLifetime(reserved) {}
  }

  /// The port tells others what they see: plain text where TLS ends in the proxy, and whatever it is where it does not.
  @Test(arguments: [
    ("127.0.0.1:8883", 8_883), ("tcp://127.0.0.1:443", 443), ("127.0.0.1:1884", 1_884),
    ("tls://127.0.0.1:8883", 1_883), ("tls://127.0.0.1:443", 80), ("tls://127.0.0.1:8884", 8_884),
    ("mqtts://127.0.0.1:8884", 1_883), ("mqtt://127.0.0.1:1884", 1_883), ("wss://127.0.0.1", 80),
  ])
  func showsThePortOfWhatPasses(upstream: String, port: UInt16) async throws {
    let bench = try await ProxyBench(to: upstream, ["--count", "1"])
    // Whether anybody is there does not matter: the client has said hello before.
    let client = try bench.connected()
    client.finish()
    #expect(try await bench.command.wait() == 0)
    #expect(try bench.passed().serverPorts == [port])
  }

  @Test func refusesAPlaceThatIsTaken() async throws {
    let (socket, port) = try Socket.listening()
    let result = try await RunningCommand.run(
      ["record", "proxy", "localhost:\(port)", "localhost:9", "-o", directory.file("a.pcapng")],
      in: directory)
    #expect(result.status == 2)
    #expect(
      result.errors
        == "reprise: localhost:\(port) can't be listened on: address already in use; type another "
        + "port, or end what has this one\n")
    #expect(access(directory.file("a.pcapng"), F_OK) != 0)
    withExtendedLifetime(socket) {}
  }

  /// A proxy that is its own server connects to itself until no file can be opened any more.
  @Test(arguments: [
    ("127.0.0.1:", "127.0.0.1:"), ("", "127.0.0.1:"), ("localhost:", "mqtt://localhost:"),
    (":", "127.0.0.1:"), (":", "127.0.0.9:"), (":", "localhost:"), ("127.0.0.1:", "0.0.0.0:"),
    ("0.0.0.0:", "[::ffff:127.0.0.1]:"),
  ])
  func refusesToBeItsOwnServer(listen: String, upstream: String) async throws {
    let port = try Socket.freePort()
    let result = try await RunningCommand.run(
      [
        "record", "proxy", "\(listen)\(port)", "\(upstream)\(port)", "--duration=1ms", "-o",
        directory.file("a.pcapng"),
      ], in: directory)
    #expect(result.status == 2)
    #expect(
      result.errors
        == "reprise: LISTEN \(listen)\(port) and UPSTREAM \(upstream)\(port) are one place, so that the "
        + "proxy would connect to itself; type another port for one of them\n")
    #expect(access(directory.file("a.pcapng"), F_OK) != 0)
  }

  /// Another port, or another address of this computer with the same one, is another server.
  @Test(arguments: [("127.0.0.1:", "127.0.0.2:", 0), (":", "127.0.0.1:", 1)])
  func takesAServerBesideIt(listen: String, upstream: String, further: UInt16) async throws {
    let port = try Socket.freePort()
    let result = try await RunningCommand.run(
      [
        "record", "proxy", "\(listen)\(port)", "\(upstream)\(port &+ further)", "--duration=1ms",
        "-o", directory.file("a.pcapng"),
      ], in: directory)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func overwritesOnlyWhatItIsToldTo() async throws {
    try directory.write("mine", to: "a.pcapng")
    let words = ["record", "proxy", "\(try Socket.freePort())", "127.0.0.1:9", "--duration=1ms"]
    let file = ["-o", directory.file("a.pcapng")]
    let refused = try await RunningCommand.run(words + file, in: directory)
    #expect(refused.status == 2)
    #expect(refused.errors.contains("a.pcapng: it exists; name another file or add --force"))
    #expect(Child.text(of: directory.file("a.pcapng")) == "mine")
    let replaced = try await RunningCommand.run(words + file + ["--force"], in: directory)
    #expect(replaced.status == 0, "\(replaced.errors)")
    // No client came, and that is a capture, too.
    #expect(try Passed(directory.file("a.pcapng")).connections.isEmpty)
    #expect(directory.size(of: "a.pcapng") > 100)
  }

  /// Whatever has passed is there, though nobody had the time to end the file.
  @Test func survivesItsKilling() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await ProxyBench(to: "127.0.0.1:\(port)", in: directory)
    let client = try bench.connected()
    let server = try await onThread { try listener.accept() }
    for round in 1...3 {
      let before = directory.size(of: "a.pcapng")
      client.write([UInt8](repeating: UInt8(round), count: 5_000))
      #expect(try await onThread { server.read(5_000).count } == 5_000)
      try await bench.command.writes("what has passed") { [self] in
        directory.size(of: "a.pcapng") >= before + 5_000
      }
    }
    #expect(try await bench.command.stop(SIGKILL) == 128 + SIGKILL)
    let passed = try bench.passed()
    #expect(passed.connections.first?.bytes[.client]?.count == 15_000)
    let shown = try await RunningCommand.run(
      ["inspect", directory.file("a.pcapng")], in: directory)
    #expect(shown.status == 0)
    #expect(!shown.errors.contains("cut"))
  }

  /// No file is larger than it may be, and all together have all there is.
  @Test func beginsOtherFiles() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await ProxyBench(
      to: "127.0.0.1:\(port)", ["--rotate", "--max-size", "64K"], file: "day.pcapng",
      in: directory)
    let client = try bench.connected()
    let server = try await onThread { try listener.accept() }
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) }
    async let sent: Void = client.writeAll(bytes)
    #expect(try await onThread { server.read(bytes.count) } == bytes)
    try await sent
    #expect(try await bench.command.stop(SIGINT) == 130)
    var sizes: [Int] = []
    while case let size = directory.size(of: "day-000\(sizes.count + 1).pcapng"), size > 0 {
      sizes.append(size)
    }
    #expect(sizes.count == 5 || sizes.count == 6)
    #expect(sizes.allSatisfy { $0 <= 65_536 })
    let files = sizes.indices.map { directory.file("day-000\($0 + 1).pcapng") }
    // Merged, they are one capture again.
    try await Child.run(["mergecap", "-a", "-w", directory.file("all.pcapng")] + files)
    #expect(try bench.passed("all.pcapng").connections.first?.bytes[.client] == bytes)
    #expect(bench.command.errors.contains("note: 1 connection, 293.0 KiB passed, "))
  }

  @Test func endsBeforeAFileIsTooLarge() async throws {
    let (listener, port) = try Socket.listening()
    let bench = try await ProxyBench(
      to: "127.0.0.1:\(port)", ["--max-size", "64K"], in: directory)
    let client = try bench.connected()
    let server = try await onThread { try listener.accept() }
    client.write([UInt8](repeating: 1, count: 100_000))
    #expect(try await bench.command.wait() == 0)
    #expect(directory.size(of: "a.pcapng") <= 65_536)
    #expect(directory.size(of: "a.pcapng") > 40_000)
    withExtendedLifetime(server) {}
  }

  @Test func writesToAPipe() async throws {
    let broker = try await Broker()
    let port = try Socket.freePort()
    let line =
      "\(RunningCommand.path) record proxy \(port) \(broker.url) --count 1 -o - "
      + "| \(RunningCommand.path) inspect --format jsonl -"
    let child = try Child(["bash", "-c", line])
    try await child.wait(for: "a proxy") { $0.text.contains("listening") }
    try await Child.run(["mosquitto_pub", "-h", "localhost", "-p", "\(port)", "-t", "a", "-m", "b"])
    #expect(await child.wait() == 0)
    #expect(child.text.contains(#""type":"PUBLISH""#))
  }
}
