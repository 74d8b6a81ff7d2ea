public import DataClient

/// Runs the channel on a recorded session, and tells what it was asked for and what it told its app.
///
/// The channel is the one that apps use, in the world of the session and in its time. The app is played by a
/// ``ChannelPlan``: whenever the session has an action that the channel does not do by itself, the call is made that
/// the recorded app must have made there.
///
/// ```swift
/// let replay = try ChannelReplay(events)
/// let outcome = try await replay.run { observation in … }
/// if let divergence = outcome.divergence { print(divergence) }
/// ```
public struct ChannelReplay: Sendable {
  /// What the app does.
  public let plan: ChannelPlan
  private let client: ReplayClient

  /// Prepares a replay, which can be run once.
  /// - Parameters:
  ///   - events: The events of the app's client.
  ///   - options: How to compare and to tell the time; roles and actors are the plan's.
  /// - Throws: `DataClientError` when the session has not the one client, or it is no app.
  public init(
    _ events: ReplayEvents, options: ReplayOptions = ReplayOptions()
  ) throws(DataClientError) {
    plan = try ChannelPlan(try events.dialogue())
    var options = options
    options.roles = plan.roles
    options.actors = .anyTask
    client = try ReplayClient(events, options: options)
  }

  /// Runs the channel to the end of the session, or to where it leaves it.
  /// - Parameter observe: Takes what is seen, one after the other; it must return soon.
  /// - Returns: How it ended.
  /// - Throws: `DataClientError` when the session has a hole, and `CancellationError`.
  public func run(
    _ observe: @escaping @Sendable (ChannelObservation) -> Void
  ) async throws -> ChannelReplayOutcome {
    var configuration = plan.configuration
    // Where the recorded client has taken back what was granted too late, the plan calls that.
    configuration.takesBackLateGrants = false
    configuration.log = ChannelLog(level: .warning, levels: [.call: .debug]) { _ in }
    do {
      var machine = try ChannelStateMachine(configuration)
      machine.adopt(plan.adopted)
      machine.resume(plan.resumed)
      let player = ChannelPlayer(machine, client, plan, observe)
      return try await player.run()
    } catch let error as ChannelError {
      throw DataClientError(.unreadable, error.message)
    }
  }
}
