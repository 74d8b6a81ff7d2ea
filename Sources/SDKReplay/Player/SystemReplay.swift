package import DeviceSDK
package import RepriseCore

/// Runs one of the SDK's systems on a recorded session, and tells what it was asked for and what it told its
/// application.
///
/// The machine is the one that applications use, in the world of the session and in its time. The application is
/// played by a ``ReplayPlan``: whenever the session has an action that the machine does not do by itself, the call is
/// made that the recorded application must have made there.
///
/// ```swift
/// let replay = try SystemReplay<ChannelPlan>(events)
/// let outcome = try await replay.run { observation in … }
/// if let divergence = outcome.divergence { print(divergence) }
/// ```
package struct SystemReplay<Plan: ReplayPlan>: Sendable {
  /// What is seen of the system.
  package typealias Observation = ReplayObservation<
    Plan.Machine.Value, Plan.Machine.Effect, Plan.Machine.Failure
  >

  /// What the application does.
  package let plan: Plan
  private let client: ReplayClient
  private let dialogue: ReplayDialogue

  /// Prepares a replay, which can be run once.
  /// - Parameters:
  ///   - events: The events of the application's client.
  ///   - options: How to compare and to tell the time; roles and actors are the plan's.
  ///   - makePlan: Makes the plan, where that takes more than the session.
  /// - Throws: `DataClientError` when the session has not the one client, or it is another system's.
  package init(
    _ events: ReplayEvents, options: ReplayOptions = ReplayOptions(),
    makePlan: (ReplayDialogue) throws(DataClientError) -> Plan = Plan.init
  ) throws(DataClientError) {
    dialogue = try events.dialogue()
    plan = try makePlan(dialogue)
    var options = options
    options.roles = plan.roles
    options.actors = .anyTask
    client = try ReplayClient(events, options: options)
  }

  /// Runs the system to the end of the session, or to where it leaves it.
  /// - Parameters:
  ///   - watch: What sees how the machine comes to it; nil for nothing.
  ///   - observe: Takes what is seen, one after the other; it must return soon.
  /// - Returns: How it ended.
  /// - Throws: `DataClientError` when the session has a hole, and `CancellationError`.
  package func run(
    watch: ReplayWatch<Plan>? = nil,
    _ observe: @escaping @Sendable (Observation) -> Void
  ) async throws -> ReplayOutcome<Plan> {
    do {
      return try await ReplayPlayer(plan, client, dialogue, watch, observe).run()
    } catch let error as Plan.Machine.Failure {
      throw DataClientError(.unreadable, "\(error)")
    }
  }
}
