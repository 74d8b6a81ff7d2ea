import RepriseCore
import Synchronization

/// A replaying client whose user's timers fire when those of the recorded client did.
///
/// Timers of a real client are a little late, and what comes of one begins the next. In a replay none is late, so that
/// each would be earlier than recorded by more than the one before, until something is sent before what it came after
/// in the session. A deadline that is early by no more than what is known of the session so waits for the next action
/// that was a timer's work. The delay of a new try differs from try to try: so one that is early waits in any case.
final class TimelyClient: PromptClient {
  private let client: ReplayClient
  private let actions: [(time: Timestamp, isConnect: Bool, isOfTimer: Bool)]
  private let slack: Int64
  private let performed = Atomic<Int>(0)
  private let watch: ClientWatch?

  /// Wraps a client.
  /// - Parameters:
  ///   - client: The client.
  ///   - dialogue: What it replays.
  ///   - slack: How late a timer of the recorded client was at most.
  ///   - watch: What sees all that passes.
  ///   - isOfTimer: Whether an action is the work of such a timer.
  init(
    _ client: ReplayClient, _ dialogue: ReplayDialogue, slack: Duration, watch: ClientWatch?,
    isOfTimer: (ClientAction.Kind) -> Bool
  ) {
    self.client = client
    self.watch = watch
    self.slack = slack.clampedNanoseconds
    actions = dialogue.compactMap { step in
      guard case .action(let action) = step.content else { return nil }
      let isConnect = if case .connect = action.kind { true } else { false }
      return (step.place.time, isConnect, isOfTimer(action.kind))
    }
  }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }
  func wake() { client.wake() }

  func perform(_ action: ClientAction) async throws {
    try await client.perform(action)
    performed.wrappingAdd(1, ordering: .relaxed)
    watch?.performed(action.kind)
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    watch?.waits()
    let event = try await client.next(before: deadline.map(timely))
    watch?.received(event)
    return event
  }

  func nextAtOnce(before deadline: Timestamp?) throws -> ClientEvent? {
    watch?.waits()
    let event = try client.nextAtOnce(before: deadline.map(timely))
    if let event { watch?.received(event) }
    return event
  }

  private func timely(_ deadline: Timestamp) -> Timestamp {
    let number = performed.load(ordering: .relaxed)
    guard actions.indices.contains(number) else { return deadline }
    if actions[number].isConnect { return max(deadline, actions[number].time) }
    guard slack > 0 else { return deadline }
    for action in actions[number...] {
      guard action.time.nanoseconds(since: deadline) <= slack else { break }
      if action.isOfTimer { return max(deadline, action.time) }
    }
    return deadline
  }
}
