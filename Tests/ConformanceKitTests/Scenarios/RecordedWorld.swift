import DataClient

@testable import ConformanceKit

/// A world whose client is recorded in memory.
final class RecordedWorld: ScenarioWorld {
  private struct Kept: EventConsumer {
    var events = ReplayEvents()
    mutating func consume(_ event: borrowing EventView) { events.consume(event) }
  }

  private let world: any ScenarioWorld
  private let recorder: RecordingClient<AnyClient, MemorySink>

  init(_ world: any ScenarioWorld) throws {
    self.world = world
    recorder = try RecordingClient(AnyClient(client: world.client), to: MemorySink())
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
    let bytes = recorder.sink.bytes
    var kept = Kept()
    var stream = RecordingStream()
    try stream.consume(bytes.span.bytes, into: &kept)
    try stream.finish(into: &kept)
    return try ReplayClient(kept.events, options: ReplayWorld.options)
  }
}

/// A client whose type is not known.
private struct AnyClient: DataClient {
  let client: any DataClient

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }
  func perform(_ action: ClientAction) async throws { try await client.perform(action) }
  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }
  func wake() { client.wake() }
}

/// A world in which nothing ever happens.
struct DeadWorld: ScenarioWorld {
  let client: any DataClient = ScriptedWorld().client
  func perform(_ step: CloudStep) async throws {}
  func end() async throws {}
}
