import RepriseCore
import TestSupport
import Testing
import Wire

extension MemorySink {
  /// The recording's events, read back.
  func events() throws -> [Event] { try EventList(recording: bytes).events }

  var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A disk with room for some lines.
private struct FullSink: ByteSink, Sendable {
  var room: Int
  var memory = MemorySink()
  mutating func write(_ bytes: RawSpan) throws {
    guard room > 0 else { throw DataClientError(.transport, "no space left on device") }
    room -= 1
    memory.write(bytes)
  }
}

@Suite struct RecordingClientTests {
  @Test(arguments: Array(0..<60) as [UInt64], [false, true])
  func replayGivesTheSameEvents(_ seed: UInt64, _ refuses: Bool) async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: seed, losses: Int(seed % 4), .messages(refuses: refuses)),
      to: MemorySink(),
      url: "mqtt://test")
    let live = try await RandomUser.run(recorder, seed: seed)
    try recorder.finish()
    #expect(live.count > 20)
    #expect(recorder.sink.text.contains("mqtt-5.0") == refuses)
    let events = try recorder.sink.events()
    let replay = try ReplayClient(
      events, options: ReplayOptions(match: .strict, actors: .readerOnly))
    let replayed = try await RandomUser.run(replay, seed: seed)
    #expect(replayed == live)
    try replay.finish()

    // A replay that is recorded again gives the same recording.
    let again = try RecordingClient(
      ReplayClient(events, options: ReplayOptions(actors: .readerOnly)), to: MemorySink(),
      url: "mqtt://test")
    #expect(try await RandomUser.run(again, seed: seed) == live)
    try again.finish()
    let lines = recorder.sink.text.split(separator: "\n").dropFirst().dropLast()
    let others = again.sink.text.split(separator: "\n").dropFirst().dropLast()
    #expect(lines.elementsEqual(others))
  }

  @Test(arguments: [false, true]) func packetsAreWithoutFaults(_ refuses: Bool) async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: 3, losses: 2, .messages(refuses: refuses)), to: MemorySink())
    let events = try await RandomUser.run(recorder, seed: 3, steps: 200)
    let refusals = events.filter { if case .failed = $0 { true } else { false } }
    #expect(refusals.isEmpty == !refuses)
    for (index, event) in try recorder.sink.events().enumerated() {
      #expect(event.context.frame == index + 2)
      let faults = event.withView { view -> [MQTTFault] in
        if case .mqtt(let packet) = view.body { packet.faults } else { [] }
      }
      #expect(faults.isEmpty)
    }
  }

  @Test(arguments: [
    ("mqtt://h", nil), ("mqtts://h", nil), ("ws://h/mqtt", Carrier.webSocket),
    ("wss://h/mqtt", .webSocket),
  ])
  func packetsAreOverWhatTheURLSays(url: String, carrier: Carrier?) async throws {
    let recorder = try RecordingClient(RandomServer(seed: 1), to: MemorySink(), url: url)
    _ = try await RandomUser.run(recorder, seed: 1)
    let events = try recorder.sink.events()
    #expect(events.count > 2 && events.allSatisfy { $0.context.over == carrier })
  }

  @Test func secretsNeverReachTheSink() async throws {
    let rules = RedactionRules(hidesUsernames: true, keys: ["ssid"], topics: ["private/#"])
    let recorder = try RecordingClient(
      RandomServer(seed: 1), to: MemorySink(), redaction: rules)
    var user = Actor(recorder)
    try await user.do(
      .connect(
        ConnectOptions(
          clientID: "c", username: "hush-user", password: Array("hush-password".utf8),
          will: Message("private/will", "hush-will"))))
    _ = try await recorder.next(before: nil)
    try await user.publish("a", #"{"iotToken":"hush-token","net":{"SSID":"hush-net"},"n":1}"#)
    try await user.publish("private/x", "hush-payload")
    let text = recorder.sink.text
    #expect(!text.contains("hush-"))
    #expect(
      text.contains(#""redacted":["password","secrets","username","key:ssid","topic:private/#"]"#))
    // What is hidden may be anything in a replay.
    let replay = try ReplayClient(try recorder.sink.events())
    user = Actor(replay)
    let error = await #expect(throws: DataClientError.self) { try await user.connect() }
    #expect(error?.message.contains("username") == true)
  }

  @Test(arguments: [
    "{\"ssid\":\"hush\"}\n{\"SSID\":\"hush\"}", #"{"ssid":"hush",}"#,
    #"[{"p":"{\"ssid\":\"hush\"}"]"#,
  ])
  func keysAreHiddenInWhatIsNoWholeJSON(_ payload: String) async throws {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond([]), to: MemorySink(), redaction: RedactionRules(keys: ["sSid"]))
    var user = Actor(recorder)
    try await user.publish("a", payload)
    try await user.publish("a", "my ssid is no secret")
    #expect(!recorder.sink.text.contains("hush"))
    #expect(recorder.sink.text.contains("my ssid is no secret"))
  }

  @Test func secretsAreKeptWhenThatIsWanted() async throws {
    let rules = RedactionRules(hidesSecrets: false)
    let recorder = try RecordingClient(
      RandomServer(seed: 1), to: MemorySink(), redaction: rules)
    var user = Actor(recorder)
    try await user.publish("a", #"{"token":"t-1"}"#)
    #expect(recorder.sink.text.contains("t-1"))
  }

  @Test(arguments: 1...6) func fullDiskIsTold(_ room: Int) async throws {
    let recorder = try RecordingClient(RandomServer(seed: 5), to: FullSink(room: room))
    let error = await #expect(throws: DataClientError.self) {
      try await RandomUser.run(recorder, seed: 5)
    }
    #expect(error?.code == .notRecorded)
    #expect(error?.message.contains("no space left on device") == true)
    await #expect(throws: DataClientError.self) { try await recorder.next(before: nil) }
    // What is there is valid to its last event.
    #expect(try recorder.sink.memory.events().count == room - 1)
  }

  @Test func whatIsRefusedIsNotRecorded() async throws {
    let recorder = try RecordingClient(LocalFileClient(files: [:]), to: MemorySink())
    var user = Actor(recorder)
    await #expect(throws: DataClientError.self) { try await user.publish("t") }
    let request = RequestMessage(path: "p", method: "GET")
    let error = await #expect(throws: DataClientError.self) { try await user.do(.send(request)) }
    #expect(error?.code == .unsupported)
    #expect(!recorder.capabilities.contains(.requests))
    #expect(try recorder.sink.events().isEmpty)
  }

  @Test func everyChangedByteOfAnActionIsADivergence() async throws {
    let recorder = try RecordingClient(RandomServer(seed: 11), to: MemorySink())
    let live = try await RandomUser.run(recorder, seed: 11, steps: 30)
    try recorder.finish()
    let events = try recorder.sink.events()
    let publications = events.indices.filter { index in
      guard let packet = events[index].packet, events[index].context.sender == .client else {
        return false
      }
      // What is sent again is no action.
      return packet.publish != nil && !packet.dup
    }
    #expect(publications.count > 3)
    for index in publications {
      guard case .mqtt(var packet) = events[index].body else { continue }
      packet.bytes[packet.bytes.count - 2] ^= 1
      var changed = events
      changed[index].body = .mqtt(packet)
      let replay = try ReplayClient(changed, options: ReplayOptions(actors: .readerOnly))
      await #expect(throws: DataClientError.self) {
        let events = try await RandomUser.run(replay, seed: 11, steps: 30)
        #expect(events != live)
      }
      #expect(replay.divergence?.place?.frame == changed[index].context.frame)
      #expect(replay.divergence?.kind == .otherAction)
    }
  }
}

extension MQTTPacket {
  var publish: Publish? {
    if case .publish(let publish) = content { publish } else { nil }
  }
}
