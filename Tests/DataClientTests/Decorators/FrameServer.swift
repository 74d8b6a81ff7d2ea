import DataClient
import Synchronization

/// A server of WebSocket in memory that answers after a while, in text or bytes, pushes by itself, and now
/// and then loses the connection.
final class FrameServer: DataClient {
  private struct State {
    var now = SessionBuilder.time(0)
    var planned: [(time: Timestamp, event: ClientEvent)] = []
    var random: TestGenerator
    var losses: Int
    var isWoken = false

    mutating func plan(_ event: ClientEvent, _ milliseconds: Int) {
      // Nothing of a connection comes behind its end.
      if case .closed = planned.last?.event { return }
      let time = max(now.advanced(by: .milliseconds(milliseconds)), planned.last?.time ?? now)
      planned.append((time, event))
    }
  }

  private let state: Mutex<State>
  let capabilities: Capabilities = [.frames, .push, .binary]

  init(seed: UInt64, losses: Int = 0) {
    state = Mutex(State(random: TestGenerator(seed), losses: losses))
  }

  var now: Timestamp { state.withLock { $0.now } }

  func perform(_ action: ClientAction) async throws {
    try state.withLock { state in
      let delay = Int.random(in: 0..<3_000, using: &state.random)
      switch action.kind {
      case .connect: state.plan(.connected(.init()), delay)
      case .sendText(let text):
        state.plan(.text(text), delay)
        if delay.isMultiple(of: 3) { state.plan(.text(#"{"push":\#(delay)}"#), delay + 5) }
      case .sendBinary(let bytes): state.plan(.binary(bytes.reversed()), delay)
      case .disconnect:
        state.planned.removeAll()
        state.plan(.closed(.byUser), delay)
      case .subscribe, .unsubscribe, .publish, .send:
        throw DataClientError(.unsupported, "frames only")
      }
      if state.losses > 0, delay < 300 {
        state.losses -= 1
        state.planned.removeAll()
        state.plan(.closed(.lost("the line is \"dead\"")), delay)
      }
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try Task.checkCancellation()
    return state.withLock { state in
      if state.isWoken {
        state.isWoken = false
        return .woken
      }
      if let first = state.planned.first, first.time <= deadline ?? first.time {
        state.now = max(state.now, first.time)
        return state.planned.removeFirst().event
      }
      guard let deadline else { return .ended }
      state.now = max(state.now, deadline)
      return .deadline
    }
  }

  func wake() { state.withLock { $0.isWoken = true } }
}

/// A user of a ``FrameServer`` who does and reads by chance, the same on the same events.
enum RandomFrameUser {
  static func run(
    _ client: any DataClient, seed: UInt64, steps: Int = 60
  ) async throws -> [ClientEvent] {
    var random = TestGenerator(seed)
    var user = Actor(client)
    var (isOpen, isIdle) = (false, true)
    var events: [ClientEvent] = []
    func read(_ deadline: Timestamp) async throws {
      let event = try await client.next(before: deadline)
      events.append(event)
      switch event {
      case .connected: (isOpen, isIdle) = (true, false)
      case .closed: (isOpen, isIdle) = (false, true)
      default: return
      }
    }
    for step in 0..<steps {
      let choice = Int.random(in: 0..<12, using: &random)
      if isIdle {
        try await user.do(.connect(ConnectOptions()))
        isIdle = false
        continue
      }
      switch choice {
      case 0...2 where isOpen:
        try await user.do(.sendText(#"{"uniqueId":\#(step),"ä":"\#(seed)"}"#))
      case 3 where isOpen:
        try await user.do(.sendBinary(Array(repeating: UInt8(step), count: step * 40)))
      case 4 where isOpen && step.isMultiple(of: 3):
        try await user.do(.disconnect)
        isOpen = false
      default:
        let wait = Int.random(in: 0..<2_000, using: &random)
        try await read(client.now.advanced(by: .milliseconds(wait)))
      }
    }
    let end = client.now.advanced(by: .seconds(100))
    repeat { try await read(end) } while events.last != .deadline && events.last != .ended
    while events.last == .deadline || events.last == .ended { events.removeLast() }
    return events
  }
}
