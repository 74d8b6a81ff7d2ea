import Glibc
import RepriseCore
import TestSupport
import Testing

/// `reprise record client`, with a broker.
@Suite struct RecordCommandTests {
  private let directory = Scratch()
  private let broker: Broker

  init() async throws {
    broker = try await Broker()
  }

  private func words(_ file: String, _ more: [String] = []) -> [String] {
    ["record", "client", broker.url, "--topic", "#", "-o", directory.file(file)] + more
  }

  /// A recorder that has subscribed.
  private func start(_ file: String, _ more: [String] = []) async throws -> RunningCommand {
    let command = try RunningCommand(words(file, more), in: directory)
    try await command.tells("subscribed")
    #expect(!command.hasEnded, "\(command.errors)")
    return command
  }

  private func publish(_ payloads: [String], qos: QoS = .atLeastOnce) async throws {
    let client = try await TestClient.connected(broker)
    for payload in payloads { try await client.publish("t/x", Array(payload.utf8), qos: qos) }
    try await client.disconnect()
  }

  private func recorded(_ file: String) throws -> Recorded { try Recorded(directory.file(file)) }

  private func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  // MARK: What is recorded

  @Test(arguments: ["3.1.1", "5.0"]) func recordsWhatComes(version: String) async throws {
    let command = try await start(
      "a.jsonl", ["--count", "3", "--qos", "2", "--mqtt", version, "--keep-alive", "20s"])
    #expect(directory.mode(of: "a.jsonl") == 0o600)
    for (number, qos) in QoS.allCases.enumerated() { try await publish(["\(number)"], qos: qos) }
    #expect(try await command.wait() == 0)
    let recording = try recorded("a.jsonl")
    #expect(recording.notes == [])
    #expect(recording.payloads == ["0", "1", "2"])
    #expect(
      recording.types == [
        "OPEN", "CONNECT", "CONNACK", "SUBSCRIBE", "SUBACK", "PUBLISH", "PUBLISH", "PUBACK",
        "PUBLISH", "PUBREC", "PUBREL", "PUBCOMP", "DISCONNECT", "CLOSE fin",
      ])
    #expect(recording.events.allSatisfy { "\($0.context.wire.name)" == "mqtt-\(version)" })
    #expect(command.errors.contains("a.jsonl: note: 3 messages, "))
    #expect(command.text == "")
    // The other commands read it.
    let file = directory.file("a.jsonl")
    let shown = try await RunningCommand.run(["inspect", file], in: directory)
    #expect(shown.status == 0)
    #expect(shown.output.contains("PUBLISH     t/x  qos 2"))
    let judged = try await RunningCommand.run(["conform", "trace", file], in: directory)
    #expect(judged.status == 0, "\(judged.output)")
    // And it is a world to live in.
    let replay = try ReplayClient(
      recording.events, options: ReplayOptions(match: .strict, actors: .readerOnly))
    #expect(replay.capabilities.contains(.messages))
  }

  /// A fleet of recorders shares a stream: each message is in one of the recordings, and in one only.
  @Test(arguments: ["3.1.1", "5.0"]) func sharesAStream(version: String) async throws {
    let fleet = ["--share", "fleet", "--mqtt", version]
    let commands = [
      try await start("a.jsonl", fleet), try await start("b.jsonl", fleet),
      // Another group has its own stream.
      try await start("c.jsonl", ["--share", "other", "--mqtt", version]),
    ]
    let payloads = (0..<40).map { "\($0)" }
    try await publish(payloads)
    try await commands[2].writes("all messages") { [self] in
      (try? recorded("c.jsonl").payloads.count) == payloads.count
    }
    try await commands[1].writes("the rest") { [self] in
      let counts = ["a.jsonl", "b.jsonl"].map { (try? recorded($0).payloads.count) ?? 0 }
      return counts.reduce(0, +) >= payloads.count
    }
    for command in commands { #expect(try await command.stop(SIGINT) == 130) }
    let parts = try ["a.jsonl", "b.jsonl"].map { try recorded($0).payloads }
    #expect(parts.allSatisfy { !$0.isEmpty })
    #expect(parts.joined().compactMap { Int($0) }.sorted() == Array(0..<40))
    #expect(try recorded("c.jsonl").payloads == payloads)
    let judged = try await RunningCommand.run(
      ["conform", "trace"] + ["a", "b", "c"].map { directory.file("\($0).jsonl") }, in: directory)
    #expect(judged.status == 0, "\(judged.output)")
  }

  @Test func recordsToStandardOutput() async throws {
    let command = try RunningCommand(
      ["record", "client", broker.url, "--topic=t/+", "--count=1", "-o", "-", "--quiet"],
      in: directory)
    try await command.prints("SUBACK")
    try await publish(["only"])
    #expect(try await command.wait() == 0)
    try directory.write(command.text, to: "copy.jsonl")
    #expect(try recorded("copy.jsonl").payloads == ["only"])
    #expect(command.errors == "")
  }

  @Test func hidesWhatMustNotBeTold() async throws {
    try directory.write("hush-password\n", to: "password")
    let command = try await start(
      "a.jsonl",
      [
        "--count=3", "--username=hush-user", "--password-file", directory.file("password"),
        "--redact=username", "--redact", "key:ssid", "--redact", "topic:private,x/y",
        "--redact=topic:private/#",
      ])
    let client = try await TestClient.connected(broker)
    try await client.publish("a", Array(#"{"token":"hush-token","SSID":"hush-net"}"#.utf8))
    try await client.publish("private,x/y", Array("hush-1".utf8))
    try await client.publish("private/x", Array("hush-2".utf8))
    try await client.disconnect()
    #expect(try await command.wait() == 0)
    let text = Child.text(of: directory.file("a.jsonl"))
    #expect(!text.contains("hush-"))
    #expect(text.contains(#""key:ssid","topic:private,x/y","topic:private/#""#))
  }

  @Test func goesOnInTheSameFileAfterALoss() async throws {
    let command = try await start("a.jsonl", ["--count", "2"])
    try await publish(["before"])
    try await command.writes("a message") { (try? recorded("a.jsonl").payloads) == ["before"] }
    await broker.stop()
    try await command.tells("connecting again in 1 s")
    try await broker.start()
    try await command.tells("connected and subscribed", times: 2)
    #expect(command.errors.components("connected and subscribed") == 2)
    try await publish(["after"])
    #expect(try await command.wait() == 0)
    let recording = try recorded("a.jsonl")
    #expect(recording.payloads == ["before", "after"])
    let connections = recording.events.map(\.context.connection)
    #expect(connections == connections.sorted())
    #expect(connections.max() ?? 0 >= 2)
    // A broker that stops ends its connections in good order, as the recorder does in the end.
    #expect(recording.types.filter { $0.hasPrefix("CLOSE") } == ["CLOSE fin", "CLOSE fin"])
  }

  @Test func endsAtALossIfItIsTold() async throws {
    let command = try await start("a.jsonl", ["--no-reconnect"])
    await broker.stop()
    #expect(try await command.wait() == 2)
    #expect(command.errors.contains("reprise: \(broker.url): the connection was lost: "))
    #expect(try recorded("a.jsonl").types.last == "CLOSE fin")
  }

  @Test func showsItsProgressAtATerminal() async throws {
    let words = words("a.jsonl", ["--duration=4s"]).map { "'\($0)'" }.joined(separator: " ")
    let text = try await Child.run([
      "script", "-qec", "\(RunningCommand.path) \(words)", "/dev/null",
    ])
    #expect(text.contains("a.jsonl: 0 messages, "))
    #expect(text.contains(" a second, "))
    #expect(text.contains("1 s left"))
    // The line is gone before another is shown.
    #expect(text.contains("\r\u{1B}[Kreprise: \(directory.file("a.jsonl")): note: 0 messages, "))
  }

  // MARK: Its ends

  @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
  func endsInGoodOrderWhenItIsInterrupted(signal: Int32, status: Int32) async throws {
    let command = try await start("a.jsonl")
    try await publish(["1", "2"])
    try await command.writes("two messages") { (try? recorded("a.jsonl").payloads) == ["1", "2"] }
    #expect(try await command.stop(signal) == status)
    let recording = try recorded("a.jsonl")
    #expect(recording.types.suffix(2) == ["DISCONNECT", "CLOSE fin"])
    #expect(recording.payloads == ["1", "2"])
  }

  @Test func canBeReadAfterBeingKilled() async throws {
    let client = try await TestClient.connected(broker)
    let filling = String(repeating: "x", count: 200_000)
    var lost = 0
    for round in 0..<20 {
      let command = try await start("\(round).jsonl", ["--qos", "0"])
      // Long lines, so that the end comes in the middle of one.
      let count = 2 * round + 4
      for number in 0..<count {
        try await client.publish("t", Array("\(number) \(filling)".utf8), qos: .atMostOnce)
      }
      // What has come is in the file, and more is on its way.
      let file = directory.file("\(round).jsonl")
      let least = (round % 4) * filling.utf8.count
      try await command.writes("\(least) bytes") { size(file) > least }
      #expect(try await command.stop(SIGKILL) == 137)
      let recording = try recorded("\(round).jsonl")
      #expect(recording.types.prefix(5) == ["OPEN", "CONNECT", "CONNACK", "SUBSCRIBE", "SUBACK"])
      #expect(recording.payloads == (0..<recording.payloads.count).map { "\($0) \(filling)" })
      lost += count - recording.payloads.count
      let read = try await RunningCommand.run(
        ["inspect", "--quiet", file], in: directory)
      #expect(read.status == 0)
    }
    // It was killed in the middle of its work, and not behind it.
    #expect(lost > 0)
  }

  @Test func endsInTime() async throws {
    let result = try await RunningCommand.run(
      words("a.jsonl", ["--duration", "3s"]), in: directory)
    #expect(result.status == 0)
    #expect(try recorded("a.jsonl").types.last == "CLOSE fin")
  }

  @Test func endsBeforeAFileIsTooLarge() async throws {
    let command = try await start("a.jsonl", ["--max-size", "4K"])
    try await publish((0..<40).map { "message \($0)" })
    #expect(try await command.wait() == 0)
    let bytes = Child.bytes(of: directory.file("a.jsonl")).count
    #expect((3_000...4_096).contains(bytes))
    let recording = try recorded("a.jsonl")
    #expect(recording.payloads == (0..<recording.payloads.count).map { "message \($0)" })
    #expect(recording.types.last == "CLOSE end-of-capture")
  }

  // MARK: Files

  @Test func rotates() async throws {
    try directory.write("mine", to: "day-0002.jsonl")
    let command = try await start("day.jsonl", ["--rotate", "--max-size=4K", "--count=60"])
    let payloads = (0..<60).map { "message \($0)" }
    try await publish(payloads)
    #expect(try await command.wait() == 0)
    #expect(directory.mode(of: "day.jsonl") == nil)
    #expect(Child.text(of: directory.file("day-0002.jsonl")) == "mine")
    var found: [String] = []
    var number = 1
    while directory.mode(of: "day-000\(number).jsonl") != nil {
      defer { number += 1 }
      guard number != 2 else { continue }
      let name = "day-000\(number).jsonl"
      #expect(directory.mode(of: name) == 0o600)
      #expect(Child.bytes(of: directory.file(name)).count <= 4_096)
      let recording = try recorded(name)
      #expect(recording.notes == [])
      #expect(recording.types.first == "OPEN")
      found += recording.payloads
      let judged = try await RunningCommand.run(
        ["conform", "trace", directory.file(name)], in: directory)
      #expect(judged.status == 0, "\(judged.output)")
    }
    #expect(number > 5)
    #expect(found == payloads)
  }

  @Test func rotatesByTime() async throws {
    let result = try await RunningCommand.run(
      words("day", ["--rotate", "--interval=1s", "--duration=4s", "--force"]), in: directory)
    #expect(result.status == 0)
    #expect(directory.mode(of: "day-0001") == 0o600)
    #expect(directory.mode(of: "day-0003") == 0o600)
    #expect(try recorded("day-0003").types.first == "OPEN")
  }

  @Test func replacesNothingUnlessItIsTold() async throws {
    try directory.write("mine", to: "a.jsonl")
    chmod(directory.file("a.jsonl"), 0o644)
    let refused = try await RunningCommand.run(words("a.jsonl", ["--duration=1s"]), in: directory)
    #expect(refused.status == 2)
    #expect(
      refused.errors
        == "reprise: \(directory.file("a.jsonl")): it exists; name another file or add --force\n")
    #expect(Child.text(of: directory.file("a.jsonl")) == "mine")
    let done = try await RunningCommand.run(
      words("a.jsonl", ["--duration=3s", "--force"]), in: directory)
    #expect(done.status == 0)
    #expect(try recorded("a.jsonl").types.first == "OPEN")
    #expect(directory.mode(of: "a.jsonl") == 0o600)
  }

  @Test func leavesATypedFileAloneWhenThereIsNoBroker() async throws {
    try directory.write("mine", to: "a.jsonl")
    await broker.stop()
    let result = try await RunningCommand.run(words("a.jsonl", ["--force"]), in: directory)
    #expect(result.status == 2)
    #expect(result.errors.contains("Connection refused; check host and port"))
    #expect(Child.text(of: directory.file("a.jsonl")) == "mine")
    _ = try await RunningCommand.run(words("b.jsonl"), in: directory)
    #expect(directory.mode(of: "b.jsonl") == nil)
  }

  @Test(
    .disabled(
      if: getenv("REPRISE_SANITIZER").map { String(cString: $0) } == "thread",
      "ThreadSanitizer has files of its own, which a limit for files keeps from growing"))
  func tellsOfALimitForFiles() async throws {
    let command = try RunningCommand(words("a.jsonl"), in: directory, blocks: 8)
    try await command.tells("subscribed")
    try await publish((0..<60).map { "message \($0)" })
    #expect(try await command.wait() == 2)
    #expect(command.errors.contains("a.jsonl: can't be written on: file too large; "))
    let recording = try recorded("a.jsonl")
    #expect(recording.notes == [])
    #expect(recording.payloads.count > 10)
    #expect(recording.payloads == (0..<recording.payloads.count).map { "message \($0)" })
  }

  @Test func tellsOfAFullDisk() async throws {
    let full = try await RunningCommand.run(
      ["record", "client", broker.url, "-t", "#", "-o", "/dev/full", "--force"], in: directory)
    #expect(full.status == 2)
    #expect(
      full.errors
        == "reprise: /dev/full: can't be written on: no space left on device; "
        + "what was written before stays\n")
  }

  @Test func refusesADirectoryThatIsNotThere() async throws {
    let result = try await RunningCommand.run(words("no/a.jsonl"), in: directory)
    #expect(result.status == 2)
    #expect(result.errors.contains("no/a.jsonl: can't be written: no such file or directory"))
  }
}

extension String {
  /// How often a text stands in it.
  func components(_ text: String) -> Int { ranges(of: text).count }
}
