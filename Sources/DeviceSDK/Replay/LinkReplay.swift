public import DataClient

/// Runs a link on a recorded session, and tells what it was asked for and what it told its app.
///
/// It is the link that apps use, of the message service or of a stream channel, in the world of the session and
/// in its time. The app is played by a ``LinkPlan``.
public struct LinkReplay: Sendable {
  /// What the app does.
  public let plan: LinkPlan
  private let client: ReplayClient

  /// Returns whether a session is that of a link, by its client identifier.
  /// - Parameter events: The events of one client.
  /// - Returns: Whether ``init(_:options:)`` is for it.
  public static func isMeant(for events: ReplayEvents) -> Bool {
    guard let dialogue = try? events.dialogue() else { return false }
    for step in dialogue {
      guard case .action(let action) = step.content, case .connect(let options) = action.kind
      else { return false }
      return RecordedLinkName(options.clientID) != nil
    }
    return false
  }

  /// Prepares a replay, which can be run once.
  /// - Parameters:
  ///   - events: The events of the link's client.
  ///   - options: How to compare and to tell the time; roles and actors are the plan's.
  /// - Throws: `DataClientError` when the session has not the one client, or it is no link.
  public init(
    _ events: ReplayEvents, options: ReplayOptions = ReplayOptions()
  ) throws(DataClientError) {
    plan = try LinkPlan(try events.dialogue())
    var options = options
    options.roles = .standard
    options.actors = .anyTask
    client = try ReplayClient(events, options: options)
  }

  /// Runs the link to the end of the session, or to where it leaves it.
  /// - Parameter observe: Takes what is seen, one after the other; it must return soon.
  /// - Returns: How it ended.
  /// - Throws: `DataClientError` when the session has a hole, and `CancellationError`.
  public func run(
    _ observe: @escaping @Sendable (LinkObservation) -> Void
  ) async throws -> LinkReplayOutcome {
    do {
      guard let channel = plan.streamChannel else {
        let machine = try MessageLinkMachine(plan.configuration)
        let player = LinkPlayer(machine, client, observe, words: LinkCallWords.init) { [plan] in
          plan.messageCalls(for: $0, on: $1)
        }
        return try await player.run(
          goodbye: .logout, breaksOff: plan.breaksOff, state: \.state)
      }
      let machine = try StreamLinkMachine(channel, plan.configuration)
      let player = LinkPlayer(machine, client, observe, words: LinkCallWords.init) { [plan] in
        plan.streamCalls(for: $0, in: $1.state)
      }
      return try await player.run(goodbye: .leave, breaksOff: plan.breaksOff, state: \.state)
    } catch let error as LinkError {
      throw DataClientError(.unreadable, error.message)
    }
  }
}

/// Plays the app of a recorded session on a link of its own.
private struct LinkPlayer<Machine: StateMachine>: Sendable
where Machine.Value == Void, Machine.Effect == LinkEffect {
  private let stage: LinkStage
  private let driver: Driver<Machine>
  private let client: ReplayClient
  private let words: @Sendable (Machine.Call) -> LinkCallWords
  private let calls: @Sendable (Int, Machine) -> [Machine.Call]

  init(
    _ machine: Machine, _ client: ReplayClient,
    _ observe: @escaping @Sendable (LinkObservation) -> Void,
    words: @escaping @Sendable (Machine.Call) -> LinkCallWords,
    calls: @escaping @Sendable (Int, Machine) -> [Machine.Call]
  ) {
    self.client = client
    self.words = words
    self.calls = calls
    let stage = LinkStage(client, observe)
    self.stage = stage
    driver = Driver(machine, client: client) { stage.take($0) }
  }

  /// Runs the link to the end of its world.
  func run(
    goodbye: Machine.Call, breaksOff: Bool, state: (Machine) -> LinkState
  ) async throws -> LinkReplayOutcome {
    let (world, end) = AsyncStream<Never>.makeStream()
    do {
      try await driver.run(
        goodbye: goodbye, loop: { try await driver.loop(goodbye) }, helper: {},
        finish: end.finish
      ) {
        try await play()
        // The app has nothing more to do; what the server sends still comes.
        for await _ in world {}
      }
      try client.finish()
    } catch let error as DataClientError where error.code == .diverged {
      // It is part of the outcome.
    }
    try Task.checkCancellation()
    var divergence = client.divergence
    var unsent: String?
    if let extra = divergence, extra.kind == .extraAction, breaksOff, client.leftOvers.isEmpty {
      // Nobody knows whether the recorded client sent it too.
      unsent = extra.actual
      divergence = nil
    }
    return LinkReplayOutcome(
      divergence: divergence, time: client.now, state: driver.read(state),
      openCalls: stage.openCalls, unsent: unsent)
  }

  /// Makes the calls of the app, each when the link waits for it.
  private func play() async throws {
    var last: (ordinal: Int, call: LinkObservation.Call)?
    while let due = try await client.nextDueAction(), let ordinal = due.ordinal {
      if let last, last.ordinal == ordinal {
        client.giveUp(because: Self.reason(last.call, stage.failure(of: last.call)))
        continue
      }
      let calls: [Machine.Call] = driver.read { self.calls(ordinal, $0) }
      guard !calls.isEmpty else {
        client.giveUp(because: Self.reason(due.action))
        continue
      }
      // All are told before the first is made: what the link tells of that one comes from another task.
      let descriptions = calls.map { stage.begin(words($0), at: due.place) }
      if let description = descriptions.last { last = (ordinal, description) }
      // Not `driver.call`: the link's own task sends and tells, so that all comes from it alone.
      driver.submit(
        zip(calls, descriptions).map { call, description in
          (call, { [stage] in stage.end(description, $0) })
        })
    }
  }

  private static func reason(_ action: ClientAction.Kind?) -> String {
    guard case .publish(let message)? = action, message.topic.hasSuffix("/up/ping") else {
      return "the link has no call for it"
    }
    return "no heartbeat is due then; a link that was recorded in another time than its own differs"
  }

  private static func reason(_ call: LinkObservation.Call, _ error: LinkError?) -> String {
    let name = [call.name, call.channel].compactMap(\.self).joined(separator: " ")
    guard let error else { return "the app calls \(name), and the link does not send it now" }
    return "the app calls \(name), which fails at once: \(error)"
  }
}
