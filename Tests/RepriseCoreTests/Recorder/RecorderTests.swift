import RepriseCore
import Synchronization
import TestSupport
import Testing
import Wire

extension ScriptedClient {
  /// A server that plays what it is given at its seconds, and takes a connection and what is subscribed to.
  fileprivate static func playing(_ events: [(Double, ClientEvent)]) -> ScriptedClient {
    playing(events, [.messages, .push, .binary]) { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .subscribe(let wanted): [.subscribed(action.id, wanted.map(\.qos))]
      case .disconnect: [.closed(.byUser)]
      default: []
      }
    }
  }
}

@Suite struct RecorderTests {
  private static func message(_ number: Int) -> ClientEvent {
    .message(Message("t", "\(number)"))
  }

  private static func recorder(
    _ client: ScriptedClient, _ recording: RecordingClient<ScriptedClient, MemorySink>,
    duration: Duration? = nil, count: Int? = nil,
    tell: @escaping @Sendable (RecorderNotice) throws -> Void = { _ in }
  ) -> Recorder<ScriptedClient, MemorySink> {
    Recorder(
      client, recording: recording,
      plan: RecorderPlan(
        options: ConnectOptions(clientID: "r"), subscriptions: [Subscription("#")],
        duration: duration, messageCount: count), progressEvery: .seconds(10), tell: tell)
  }

  /// The payloads of a recording, and how it ends.
  private static func contents(
    _ recording: RecordingClient<ScriptedClient, MemorySink>
  ) throws -> (payloads: [String], end: String) {
    let events = try recording.sink.events()
    let payloads = events.compactMap { event in
      event.packet?.publish.map { String(decoding: $0.payload, as: UTF8.self) }
    }
    guard case .closed(let closing) = events.last?.body else { return (payloads, "open") }
    var end = closing.how.rawValue
    if case .disconnect(_) = events.dropLast().last?.packet?.content { end = "DISCONNECT " + end }
    return (payloads, end)
  }

  @Test func recordsAsManyMessagesAsAreWanted() async throws {
    let client = ScriptedClient.playing((1...9).map { (1, Self.message($0)) })
    let recording = try RecordingClient(client, to: MemorySink())
    let recorder = Self.recorder(client, recording, count: 3)
    let end = try await recorder.run()
    #expect(end == .count)
    try await recorder.close(after: end)
    #expect(try Self.contents(recording) == (["1", "2", "3"], "DISCONNECT fin"))
    #expect(client.performed.last?.kind == .disconnect)
  }

  @Test func recordsForATimeAndOverALoss() async throws {
    let client = ScriptedClient.playing([
      (1, Self.message(1)), (2, .closed(.lost("x"))), (5, Self.message(2)), (61, Self.message(3)),
    ])
    let recording = try RecordingClient(client, to: MemorySink())
    let notices = Mutex<[RecorderNotice]>([])
    let recorder = Self.recorder(client, recording, duration: .seconds(60)) { notice in
      notices.withLock { $0.append(notice) }
    }
    let end = try await recorder.run()
    #expect(end == .duration)
    try await recorder.close(after: end)
    #expect(try Self.contents(recording) == (["1", "2"], "DISCONNECT fin"))
    let told = notices.withLock { $0 }
    #expect(
      told.prefix(3) == [
        .connected, .subscribed(lowered: []), .lost(.lost("x"), retryAfter: .seconds(1)),
      ])
    #expect(told.filter { $0 == .progress(messages: 2) }.count == 5)
    #expect(try recording.sink.events().map(\.context.connection).max() == 2)
  }

  @Test func recordsWhatHasComeWhenItIsCancelled() async throws {
    let client = ScriptedClient.playing(
      (1...9).map { (1, Self.message($0)) } + [(2, Self.message(10))])
    let recording = try RecordingClient(client, to: MemorySink())
    let recorder = Self.recorder(client, recording) { notice in
      if case .subscribed = notice { withUnsafeCurrentTask { $0?.cancel() } }
    }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await #expect(throws: CancellationError.self) { try await recorder.run() }
      }
    }
    #expect(try Self.contents(recording).payloads.isEmpty)
    // The moment has come at which nine messages wait.
    #expect(try await recording.next(before: SessionBuilder.time(1)) == Self.message(1))
    try await recorder.close(after: nil)
    #expect(
      try Self.contents(recording) == ((1...9).map(String.init), "DISCONNECT fin"))
  }

  @Test func endsWhenTheRecordingIsFull() async throws {
    let client = ScriptedClient.playing((1...99).map { (1, Self.message($0)) })
    let recording = try RecordingClient(client, to: MemorySink(), limit: 4_096)
    let recorder = Self.recorder(client, recording)
    let end = try await recorder.run()
    #expect(end == .size)
    try await recorder.close(after: end)
    let (payloads, how) = try Self.contents(recording)
    #expect(payloads.count > 5)
    #expect(how == "end-of-capture")
    #expect(client.performed.last?.kind == .disconnect)
    #expect(recording.sink.bytes.count <= 4_096)
  }

  @Test func goesOnInItsOwnRecording() async throws {
    let client = ScriptedClient.playing([
      (1, Self.message(1)), (2, .closed(.lost("x"))), (5, Self.message(2)), (7, Self.message(3)),
    ])
    let recording = try RecordingClient(client, to: MemorySink())
    let recorder = Self.recorder(client, recording, count: 3)
    try await recorder.close(after: try await recorder.run())
    let replay = try ReplayClient(
      try recording.sink.events(), options: ReplayOptions(match: .strict, actors: .readerOnly))
    let again = try RecordingClient(replay, to: MemorySink())
    let second = Recorder(
      replay, recording: again,
      plan: RecorderPlan(
        options: ConnectOptions(clientID: "r"), subscriptions: [Subscription("#")],
        messageCount: 3))
    try await second.close(after: try await second.run())
    try replay.finish()
    let lines = recording.sink.text.split(separator: "\n").dropFirst()
    #expect(lines.elementsEqual(again.sink.text.split(separator: "\n").dropFirst()))
  }

  @Test func endsWithWhatTellingThrows() async throws {
    let client = ScriptedClient.playing([])
    let recording = try RecordingClient(client, to: MemorySink())
    let recorder = Self.recorder(client, recording) { _ in
      throw DataClientError(.transport, "nobody listens")
    }
    let error = await #expect(throws: DataClientError.self) { try await recorder.run() }
    #expect(error?.message == "nobody listens")
  }
}
