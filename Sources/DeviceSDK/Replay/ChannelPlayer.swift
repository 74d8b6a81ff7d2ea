import DataClient

/// Plays the app of a recorded session on a channel of its own.
struct ChannelPlayer: Sendable {
  private let stage: ChannelStage
  private let driver: Driver<ChannelStateMachine>
  private let client: ReplayClient
  private let plan: ChannelPlan

  init(
    _ machine: ChannelStateMachine, _ client: ReplayClient, _ plan: ChannelPlan,
    _ observe: @escaping @Sendable (ChannelObservation) -> Void
  ) {
    self.client = client
    self.plan = plan
    let stage = ChannelStage(client, plan.identity, observe)
    self.stage = stage
    driver = Driver(machine, client: client) { stage.take($0) }
  }

  /// Runs the channel to the end of its world.
  func run() async throws -> ChannelReplayOutcome {
    let (world, end) = AsyncStream<Never>.makeStream()
    do {
      try await driver.run(
        goodbye: .stop, loop: { try await driver.loop(.stop) }, helper: {}, finish: end.finish
      ) {
        try await play()
        // The app has nothing more to do; what the cloud sends still comes.
        for await _ in world {}
      }
      try client.finish()
    } catch let error as DataClientError where error.code == .diverged {
      // It is part of the outcome.
    }
    try Task.checkCancellation()
    return outcome
  }

  private var outcome: ChannelReplayOutcome {
    var divergence = client.divergence
    var unsent: String?
    if let extra = divergence, extra.kind == .extraAction, plan.breaksOff,
      client.leftOvers.isEmpty
    {
      // Nobody knows whether the recorded client sent it too.
      unsent = extra.actual
      divergence = nil
    }
    let (state, account) = stage.states
    return ChannelReplayOutcome(
      divergence: divergence, time: client.now, state: state, account: account,
      openCalls: stage.openCalls, unsent: unsent, statistics: driver.read { $0.statistics })
  }

  // MARK: The app

  /// Makes the calls of the app, each when the channel waits for it.
  private func play() async throws {
    var last: (ordinal: Int, call: ChannelObservation.Call)?
    while let due = try await client.nextDueAction(), let ordinal = due.ordinal {
      if let last, last.ordinal == ordinal {
        client.giveUp(because: Self.reason(last.call, stage.failure(of: last.call)))
        continue
      }
      guard let call = plan.call(for: ordinal) else {
        client.giveUp(because: Self.reason(due.action))
        continue
      }
      if case .bind = call, driver.read({ $0.account }) == .needsLogin {
        // Several tokens were refused, and yet there is a new one: so the user has logged in again.
        make(.noteLogin, at: due.place)
      }
      last = (ordinal, make(call, at: due.place))
    }
  }

  @discardableResult
  private func make(
    _ call: ChannelStateMachine.Call, at place: ReplayPlace
  ) -> ChannelObservation.Call {
    let description = stage.begin(call, at: place)
    // Not `driver.call`: the channel's own task sends and tells, so that all comes from it alone.
    driver.submit(call) { [stage] in stage.end(description, $0) }
    return description
  }

  // MARK: Words

  private static func reason(
    _ call: ChannelObservation.Call, _ error: ChannelError?
  ) -> String {
    let name = [call.name, call.topic].compactMap(\.self).joined(separator: " ")
    guard let error else { return "the app calls \(name), and the channel does not send it now" }
    return "the app calls \(name), which fails at once: \(error)"
  }

  private static func reason(_ action: ClientAction.Kind?) -> String {
    switch action {
    case .subscribe, .unsubscribe:
      "the channel has no call for several filters in one packet; only what was lost with a "
        + "connection is asked for again at once"
    default: "the channel has no call for it"
    }
  }
}
