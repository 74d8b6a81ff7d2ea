import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise record client` of what is behind a WebSocket.
@Suite struct RecordWebSocketTests {
  private let directory = Scratch()

  private func words(_ url: String, _ more: [String]) -> [String] {
    ["record", "client", url, "-o", directory.file("a.jsonl")] + more
  }

  /// A recorder that records.
  private func start(_ url: String, _ more: [String]) async throws -> RunningCommand {
    let command = try RunningCommand(words(url, more), in: directory)
    try await command.tells("recording to")
    #expect(!command.hasEnded, "\(command.errors)")
    return command
  }

  private func recorded() throws -> Recorded { try Recorded(directory.file("a.jsonl")) }

  /// Reads the recording by other commands.
  private func isRead(showing text: String) async throws {
    let file = directory.file("a.jsonl")
    let shown = try await RunningCommand.run(["inspect", file], in: directory)
    #expect(shown.status == 0 && shown.output.contains(text), "\(shown.output)\(shown.errors)")
    let judged = try await RunningCommand.run(
      ["conform", "trace", file], in: directory)
    #expect(judged.status == 0, "\(judged.output)")
    let converted = try await RunningCommand.run(
      ["convert", file, "-o", directory.file("b.jsonl")], in: directory)
    #expect(converted.status == 0)
    #expect(try Recorded(directory.file("b.jsonl")).types == recorded().types)
  }

  @Test(arguments: ["3.1.1", "5.0"]) func recordsTopics(version: String) async throws {
    let server = try await WebSocketBroker()
    let command = try await start(
      server.url, ["--topic", "t/#", "--count", "3", "--qos", "2", "--mqtt", version])
    let client = try await TestClient.connected(server.broker)
    for qos in QoS.allCases {
      try await client.publish("t/x", Array("\(qos.rawValue)".utf8), qos: qos)
    }
    #expect(try await command.wait() == 0)
    let recording = try recorded()
    #expect(recording.payloads == ["0", "1", "2"])
    #expect(
      recording.types == [
        "OPEN", "CONNECT", "CONNACK", "SUBSCRIBE", "SUBACK", "PUBLISH", "PUBLISH", "PUBACK",
        "PUBLISH", "PUBREC", "PUBREL", "PUBCOMP", "DISCONNECT", "CLOSE fin",
      ])
    #expect(Child.text(of: directory.file("a.jsonl")).contains(server.url))
    try await isRead(showing: "PUBLISH     t/x  qos 2")
  }

  @Test func recordsTheMessagesOfAWebSocket() async throws {
    let server = try await PythonServer()
    let url = server.url("/push?20").replacing("//", with: "//me:hush-1@")
    let command = try RunningCommand(words(url, ["--count", "20"]), in: directory)
    #expect(try await command.wait() == 0)
    let recording = try recorded()
    #expect(
      recording.types == ["OPEN", "UPGRADE", "UPGRADED"]
        + Array(repeating: "TEXT", count: 20) + ["CLOSE", "CLOSE", "CLOSE fin"])
    #expect(command.errors.contains("a.jsonl: note: 20 messages, "))
    #expect(!Child.text(of: directory.file("a.jsonl")).contains("hush"))
    try await isRead(showing: "TEXT")
    // And it is a world to live in.
    let replay = try ReplayClient(
      recording.events, options: ReplayOptions(match: .strict, actors: .readerOnly))
    #expect(replay.capabilities.contains(.frames))
  }

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func endsInGoodOrderWhenItIsInterrupted(signal: Int32, status: Int32) async throws {
    let server = try await PythonServer()
    let command = try await start(server.url("/push?3"), [])
    try await command.writes("3 × TEXT") { (try? recorded())?.types.count { $0 == "TEXT" } == 3 }
    #expect(try await command.stop(signal) == status)
    #expect(try recorded().types.suffix(4) == ["TEXT", "CLOSE", "CLOSE", "CLOSE fin"])
  }

  @Test func hidesKeys() async throws {
    let server = try await PythonServer()
    let result = try await RunningCommand.run(
      words(server.url("/headers"), ["--count=1", "--redact=key:host", "--username=me"]),
      in: directory)
    #expect(result.status == 0, "\(result.errors)")
    let text = Child.text(of: directory.file("a.jsonl")).replacing(" ", with: "")
    for key in ["authorization", "host"] { #expect(text.contains(#"\"\#(key)\":\"***\""#)) }
    #expect(try recorded().types.last == "CLOSE fin")
  }

  @Test func goesOnInTheSameFileAfterALoss() async throws {
    let server = try ScriptedServer { socket in
      guard let key = socket.readUpgrade() else { return }
      socket.acceptUpgrade(key)
      socket.writeText("one")
    }
    let command = try RunningCommand(
      words("ws://127.0.0.1:\(server.port)/", ["--count", "2"]), in: directory)
    #expect(try await command.wait() == 0)
    #expect(command.errors.contains("connecting again in 1 s"))
    let types = try recorded().types
    #expect(types.count { $0 == "TEXT" } == 2 && types.contains("CLOSE reset"))
  }

  @Test(arguments: [[], ["--topic", "a"]]) func sendsTheFieldsThatAreTyped(topic: [String])
    async throws
  {
    let requests = Observed<[String]>([])
    let server = try ScriptedServer { socket in
      var head: [UInt8] = []
      while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
        let next = socket.read(1)
        guard !next.isEmpty else { return }
        head += next
      }
      requests.change { $0.append(String(decoding: head, as: UTF8.self)) }
      socket.write(Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".utf8))
    }
    let result = try await RunningCommand.run(
      [
        "record", "client", "ws://127.0.0.1:\(server.port)/", "-o", directory.file("a.jsonl"),
        "--header", "X-Key: a: b", "--header=authorization:Bearer hush",
      ] + topic, in: directory)
    #expect(result.status == 2 && !result.errors.contains("hush"))
    let request = await requests.first { $0.first } ?? ""
    let fields = request.lowercased().split(separator: "\r\n")
    #expect(fields.contains("x-key: a: b"), "\(request)")
    #expect(fields.contains("authorization: bearer hush"), "\(request)")
  }

  @Test func tellsAKeyFromACertificate() async throws {
    let certificates = try await Certificates()
    let (key, certificate) = (certificates.key("client"), certificates.certificate("client"))
    for (words, start) in [
      (
        ["--ca-file", key], "--ca-file \(key): this is a private key, and should be a certificate; "
      ),
      (
        ["--ca-file", certificates.authority, "--cert", certificate, "--key", certificate],
        "--key \(certificate): this is a certificate, and should be a private key; "
      ),
    ] {
      let result = try await RunningCommand.run(
        ["record", "client", "wss://127.0.0.1:9/", "-o", directory.file("a.jsonl")] + words,
        in: directory)
      #expect(result.status == 2)
      #expect(result.errors.hasPrefix("reprise: " + start), "\(result.errors)")
    }
  }

  @Test(arguments: ["/403", "/404"]) func tellsARefusal(path: String) async throws {
    let server = try await PythonServer()
    let result = try await RunningCommand.run(
      ["record", "client", server.url(path), "-o", directory.file("a.jsonl")], in: directory)
    #expect(result.status == 2)
    #expect(result.errors.contains("HTTP status \(path.dropFirst())"))
    #expect(result.errors.count { $0 == "\n" } == 1)
    #expect(access(directory.file("a.jsonl"), F_OK) != 0)
  }

  /// Servers of something else, by what they say to a request.
  @Test(arguments: [
    (
      "wss", "HTTP/1.1 400 Bad Request\r\n\r\n",
      "TLS could not be begun; check the port: there may be no"
    ),
    ("ws", "", "check the port: it may speak MQTT itself, mqtt://, or be one for TLS, wss://"),
    ("ws", "HTTP/1.1 401 Unauthorized\r\n\r\n", "(HTTP status 401); check user name and password"),
    (
      "ws", "HTTP/1.1 301 Moved\r\nLocation: wss://else.where/\r\n\r\n",
      "names another place: wss://else.where/; type that URL if it is to be trusted"
    ),
  ])
  func advisesOnOtherServers(scheme: String, answer: String, advice: String) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.read(1)
      socket.write(Array(answer.utf8))
    }
    let url = "\(scheme)://127.0.0.1:\(server.port)/"
    let result = try await RunningCommand.run(
      ["record", "client", url, "-o", directory.file("a.jsonl")], in: directory)
    #expect(result.status == 2)
    #expect(result.errors.contains("127.0.0.1:\(server.port): "))
    #expect(result.errors.contains(advice), "\(result.errors)")
  }

  @Test func trustsOnlyWhomItShould() async throws {
    let certificates = try await Certificates()
    let server = try await PythonServer(
      certificate: certificates.certificate("server"), key: certificates.key("server"))
    let url = server.url("/push?1", host: "localhost")
    let words = [
      "record", "client", url, "--count", "1", "--force", "-o", directory.file("a.jsonl"),
    ]
    for (options, isGood) in [
      (["--ca-file", certificates.authority], true), ([], false), (["--insecure"], true),
    ] {
      let result = try await RunningCommand.run(words + options, in: directory)
      #expect((result.status == 0) == isGood, "\(result.errors)")
    }
  }
}
