import RepriseCore

/// A small generator of pseudo-random numbers, the same on every run.
struct TestGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

/// A server in memory that answers after a while, sends by itself, and now and then loses the connection.
final class RandomServer: DataClient {
  /// What it takes and sends.
  enum Speech {
    /// Messages with topics; a server of MQTT 5.0 may refuse some.
    case messages(refuses: Bool)
    /// Text and bytes, as over a WebSocket.
    case frames

    var capabilities: Capabilities {
      let messages: Capabilities = [.messages, .retain, .will, .exactlyOnce, .push, .binary]
      return switch self {
      case .messages(let refuses): refuses ? messages.union(.refusals) : messages
      case .frames: [.frames, .push, .binary]
      }
    }
  }

  private struct State: EventSource {
    var now = SessionBuilder.time(0)
    var planned: [(time: Timestamp, event: ClientEvent)] = []
    var random: TestGenerator
    var losses: Int
    let speech: Speech
    /// How many of the planned events tell of messages of QoS 0 that were written.
    var written = 0

    /// Time passes to what is planned, or to the deadline.
    mutating func take(before deadline: Timestamp?) -> ClientEvent? {
      if let first = planned.first, first.time <= deadline ?? first.time {
        now = max(now, first.time)
        written = max(0, written - 1)
        return planned.removeFirst().event
      }
      guard let deadline else { return .ended }
      now = max(now, deadline)
      return .deadline
    }

    mutating func take(_ action: ClientAction, _ delay: Int) throws(DataClientError) {
      switch (speech, action.kind) {
      case (.messages, .connect):
        plan(.connected(.init(isSessionPresent: delay.isMultiple(of: 2))), delay)
      case (.frames, .connect): plan(.connected(.init()), delay)
      case (_, .disconnect):
        cut()
        plan(.closed(.byUser), delay)
      case (.messages, .subscribe(let subscriptions)):
        let granted = subscriptions.map { $0.filter == "refused" ? nil : $0.qos }
        plan(.subscribed(action.id, granted), delay)
      case (.messages, .unsubscribe):
        plan(answer(action.id, .unsubscribed(action.id), delay), delay)
      case (.messages, .publish(let message)): echo(message, action.id, delay)
      case (.frames, .sendText(let text)):
        plan(.text(text), delay)
        if delay.isMultiple(of: 3) { plan(.text(#"{"push":\#(delay)}"#), delay + 5) }
      case (.frames, .sendBinary(let bytes)): plan(.binary(bytes.reversed()), delay)
      case (.messages, .sendText), (.messages, .sendBinary), (.frames, .subscribe),
        (.frames, .unsubscribe), (.frames, .publish), (_, .send):
        throw DataClientError(.unsupported, "not said over such a connection")
      }
    }

    private mutating func echo(_ message: Message, _ id: ClientAction.ID, _ delay: Int) {
      if message.qos == .atMostOnce {
        // Written at once, and so told before all that is on its way.
        planned.insert((now, .published(id)), at: written)
        written += 1
      } else {
        plan(answer(id, .published(id), delay), delay)
      }
      let qos = QoS.allCases.randomElement(using: &random) ?? .atMostOnce
      let echo = Message(
        topic: "echo", payload: message.payload, qos: qos, isRetained: delay.isMultiple(of: 3))
      plan(.message(echo), delay)
    }

    /// Success, or now and then a refusal, with a reason or without.
    private func answer(_ id: ClientAction.ID, _ success: ClientEvent, _ delay: Int) -> ClientEvent
    {
      guard case .messages(refuses: true) = speech, delay.isMultiple(of: 5) else { return success }
      let reason = delay.isMultiple(of: 2) ? "reason \(delay)" : nil
      return .failed(id, .refused(code: 0x87, reason: reason))
    }

    /// Forgets what is on its way, but not what was written.
    mutating func cut() { planned.removeLast(planned.count - written) }

    mutating func plan(_ event: ClientEvent, _ milliseconds: Int) {
      // Nothing of a connection comes behind its end.
      if case .closed = planned.last?.event { return }
      let time = max(now.advanced(by: .milliseconds(milliseconds)), planned.last?.time ?? now)
      planned.append((time, event))
    }
  }

  private let desk: EventDesk<State>
  let capabilities: Capabilities

  init(seed: UInt64, losses: Int = 0, _ speech: Speech = .messages(refuses: false)) {
    capabilities = speech.capabilities
    desk = EventDesk(State(random: TestGenerator(seed), losses: losses, speech: speech))
  }

  var now: Timestamp { desk.read { $0.now } }

  func perform(_ action: ClientAction) async throws {
    try desk.change { state throws(DataClientError) in
      let delay = Int.random(in: 0..<3_000, using: &state.random)
      try state.take(action, delay)
      if state.losses > 0, delay < 300 {
        state.losses -= 1
        state.cut()
        state.plan(.closed(.lost("the line is \"dead\"")), delay)
      }
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await desk.next(before: deadline)
  }

  func wake() { desk.wake() }
}
