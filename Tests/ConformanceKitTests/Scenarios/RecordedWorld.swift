import RepriseCore
import TestSupport

@testable import ConformanceKit

/// A world whose client is recorded in memory.
final class RecordedWorld: ScenarioWorld {
  private let world: any ScenarioWorld
  private let recorder: RecordingClient<AnyClient, MemorySink>

  init(_ world: any ScenarioWorld) throws {
    self.world = world
    recorder = try RecordingClient(AnyClient(world.client), to: MemorySink())
  }

  var client: any DataClient { recorder }
  var patience: Duration? { world.patience }
  func perform(_ step: CloudStep) async throws { try await world.perform(step) }
  func settle() async throws { try await world.settle() }
  func end() async throws { try await world.end() }

  /// Ends the recording.
  /// - Returns: The recording as a world.
  func replay() throws -> ReplayClient {
    try recorder.finish()
    let events = try EventList(recording: recorder.sink.bytes).events
    return try ReplayClient(events, options: ReplayWorld.options)
  }
}

/// A world in which nothing ever happens.
struct DeadWorld: ScenarioWorld {
  let client: any DataClient = ScriptedWorld().client
  func perform(_ step: CloudStep) async throws {}
  func end() async throws {}
}
