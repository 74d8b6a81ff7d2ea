import RepriseCore
import Synchronization
import Testing
import Wire

/// A server that plays what it is given, and notes what it is asked for.
private final class PlayedClient: DataClient {
  private struct State {
    var now = SessionBuilder.time(0)
    var events: [(seconds: Double, event: ClientEvent)]
    var performed: [ClientAction.Kind] = []
  }

  private let state: Mutex<State>
  let capabilities: Capabilities = [.messages, .push, .binary]

  init(_ events: [(Double, ClientEvent)]) { state = Mutex(State(events: events)) }

  var now: Timestamp { state.withLock { $0.now } }
  var performed: [ClientAction.Kind] { state.withLock { $0.performed } }

  func perform(_ action: ClientAction) async throws {
    state.withLock { state in
      state.performed.append(action.kind)
      switch action.kind {
      case .connect: state.events.insert((0, .connected(.init())), at: 0)
      case .subscribe(let wanted):
        state.events.insert((0, .subscribed(action.id, wanted.map(\.qos))), at: 0)
      case .disconnect:
        // What is on its way comes first.
        let end = state.events.firstIndex { SessionBuilder.time($0.seconds) > state.now }
        state.events.insert((0, .closed(.byUser)), at: end ?? state.events.count)
      default: break
      }
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try Task.checkCancellation()
    return state.withLock { state in
      let time = state.events.first.map { max(state.now, SessionBuilder.time($0.seconds)) }
      guard let time, time <= deadline ?? time else {
        guard let deadline else { return .ended }
        state.now = max(state.now, deadline)
        return .deadline
      }
      state.now = time
      return state.events.removeFirst().event
    }
  }

  func wake() {}
}

@Suite struct RecorderTests {
  private static func message(_ number: Int) -> ClientEvent {
    .message(Message("t", "\(number)"))
  }

  private static func recorder(
    _ client: PlayedClient, _ recording: RecordingClient<PlayedClient, MemorySink>,
    duration: Duration? = nil, count: Int? = nil,
    tell: @escaping @Sendable (RecorderNotice) throws -> Void = { _ in }
  ) -> Recorder<PlayedClient, MemorySink> {
    Recorder(
      client, recording: recording,
      plan: RecorderPlan(
        options: ConnectOptions(clientID: "r"), subscriptions: [Subscription("#")],
        duration: duration, messageCount: count), progressEvery: .seconds(10), tell: tell)
  }

  /// The payloads of a recording, and how it ends.
  private static func contents(
    _ recording: RecordingClient<PlayedClient, MemorySink>
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
    let client = PlayedClient((1...9).map { (1, Self.message($0)) })
    let recording = try RecordingClient(client, to: MemorySink())
    let recorder = Self.recorder(client, recording, count: 3)
    let end = try await recorder.run()
    #expect(end == .count)
    try await recorder.close(after: end)
    #expect(try Self.contents(recording) == (["1", "2", "3"], "DISCONNECT fin"))
    #expect(client.performed.last == .disconnect)
  }

  @Test func recordsForATimeAndOverALoss() async throws {
    let client = PlayedClient([
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
    let client = PlayedClient((1...9).map { (1, Self.message($0)) } + [(2, Self.message(10))])
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
    let client = PlayedClient((1...99).map { (1, Self.message($0)) })
    let recording = try RecordingClient(client, to: MemorySink(), limit: 4_096)
    let recorder = Self.recorder(client, recording)
    let end = try await recorder.run()
    #expect(end == .size)
    try await recorder.close(after: end)
    let (payloads, how) = try Self.contents(recording)
    #expect(payloads.count > 5)
    #expect(how == "end-of-capture")
    #expect(client.performed.last == .disconnect)
    #expect(recording.sink.bytes.count <= 4_096)
  }

  @Test func goesOnInItsOwnRecording() async throws {
    let client = PlayedClient([
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
    let client = PlayedClient([])
    let recording = try RecordingClient(client, to: MemorySink())
    let recorder = Self.recorder(client, recording) { _ in
      throw DataClientError(.transport, "nobody listens")
    }
    let error = await #expect(throws: DataClientError.self) { try await recorder.run() }
    #expect(error?.message == "nobody listens")
  }
}
