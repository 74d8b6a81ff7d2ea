import DataClient
import Synchronization

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
final class ScriptedClient: DataClient {
  private struct State {
    var now = SessionBuilder.time(0)
    var planned: [(time: Timestamp, event: ClientEvent)] = []
    var random: TestGenerator
    var losses: Int
    /// Whether it speaks MQTT 5.0, where a server may refuse.
    let refuses: Bool
    var isWoken = false
    /// How many of the planned events tell of messages of QoS 0 that were written.
    var written = 0

    /// Success, or now and then a refusal, with a reason or without.
    func answer(_ id: ClientAction.ID, _ success: ClientEvent, _ delay: Int) -> ClientEvent {
      guard refuses, delay.isMultiple(of: 5) else { return success }
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

  private let state: Mutex<State>
  let capabilities: Capabilities

  init(seed: UInt64, losses: Int = 0, refuses: Bool = false) {
    let all: Capabilities = [.messages, .retain, .will, .exactlyOnce, .push, .binary]
    capabilities = refuses ? all.union(.refusals) : all
    state = Mutex(State(random: TestGenerator(seed), losses: losses, refuses: refuses))
  }

  var now: Timestamp { state.withLock { $0.now } }

  func perform(_ action: ClientAction) async throws {
    try state.withLock { state in
      let delay = Int.random(in: 0..<3_000, using: &state.random)
      switch action.kind {
      case .connect:
        state.plan(.connected(.init(isSessionPresent: delay.isMultiple(of: 2))), delay)
      case .subscribe(let subscriptions):
        let granted = subscriptions.map { $0.filter == "refused" ? nil : $0.qos }
        state.plan(.subscribed(action.id, granted), delay)
      case .unsubscribe:
        state.plan(state.answer(action.id, .unsubscribed(action.id), delay), delay)
      case .publish(let message):
        if message.qos == .atMostOnce {
          // Written at once, and so told before all that is on its way.
          state.planned.insert((state.now, .published(action.id)), at: state.written)
          state.written += 1
        } else {
          state.plan(state.answer(action.id, .published(action.id), delay), delay)
        }
        let qos = QoS.allCases.randomElement(using: &state.random) ?? .atMostOnce
        let echo = Message(
          topic: "echo", payload: message.payload, qos: qos, isRetained: delay.isMultiple(of: 3))
        state.plan(.message(echo), delay)
      case .disconnect:
        state.cut()
        state.plan(.closed(.byUser), delay)
      case .send, .sendText, .sendBinary: throw DataClientError(.unsupported, "no requests")
      }
      if state.losses > 0, delay < 300 {
        state.losses -= 1
        state.cut()
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
        state.written = max(0, state.written - 1)
        return state.planned.removeFirst().event
      }
      guard let deadline else { return .ended }
      state.now = max(state.now, deadline)
      return .deadline
    }
  }

  func wake() { state.withLock { $0.isWoken = true } }
}

/// A user who does and reads by chance, the same on the same events.
enum RandomUser {
  static func run(_ client: any DataClient, seed: UInt64, steps: Int = 60) async throws
    -> [ClientEvent]
  {
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
      let qos = QoS.allCases.randomElement(using: &random) ?? .atMostOnce
      if isIdle {
        try await user.connect(as: "random", cleanStart: seed.isMultiple(of: 2))
        isIdle = false
        continue
      }
      switch choice {
      case 0...2 where isOpen: try await user.publish("up/\(step)", #"{"step":\#(step)}"#, qos: qos)
      case 3 where isOpen:
        try await user.do(.subscribe([Subscription("echo", qos: qos), Subscription("refused")]))
      case 4 where isOpen: try await user.do(.unsubscribe(["echo"]))
      case 5 where isOpen && step.isMultiple(of: 3):
        try await user.do(.disconnect)
        isOpen = false
      default:
        let wait = Int.random(in: 0..<2_000, using: &random)
        try await read(client.now.advanced(by: .milliseconds(wait)))
      }
    }
    let end = client.now.advanced(by: .seconds(100))
    repeat { try await read(end) } while events.last != .deadline && events.last != .ended
    // Behind the last traffic a replay says that it has ended, where a live world lets time pass.
    while events.last == .deadline || events.last == .ended { events.removeLast() }
    return events
  }
}
