package import RepriseCore

/// A recorded or captured run of a scenario as a world: the cloud does again what it did then.
package struct ReplayWorld: ScenarioWorld {
  /// The client that the subject lives on.
  package let client: any DataClient
  private let replay: ReplayClient

  /// Makes a world of a session.
  /// - Parameters:
  ///   - replay: The session, read with ``options``.
  ///   - speed: How many times as fast as recorded the time passed for the subject then; 1 to 1,000.
  /// - Throws: `DataClientError` of code `invalidAction` for a speed that is none.
  package init(_ replay: ReplayClient, speed: Int = 1) throws(DataClientError) {
    self.replay = replay
    client = try ScaledTimeClient(replay, speed: speed)
  }

  /// How a session of a scenario is to be replayed.
  ///
  /// Only who reads events acts, so an action that does not come is told at once. Time may pass an
  /// action that is not performed yet: what is to happen when is in the scenario, and the session says
  /// only in which order it happened, and that is the order of the one who acts.
  package static var options: ReplayOptions {
    ReplayOptions(order: .recorded, actors: .readerOnly, timerTolerance: .seconds(1_000_000))
  }

  /// How far the session was gone through.
  package var place: ReplayPlace? { replay.place }

  /// Where the subject left the session.
  package var divergence: ReplayDivergence? { replay.divergence }

  /// Does nothing: what the cloud does is in the session.
  package func perform(_ step: CloudStep) async throws {}

  /// Ends the replay.
  /// - Throws: `DataClientError` of code `diverged` when something of the session is left over.
  package func end() async throws { try replay.finish() }
}
