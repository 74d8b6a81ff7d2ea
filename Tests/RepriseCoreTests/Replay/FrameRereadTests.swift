import RepriseCore
import Testing

/// Events in memory, read as often as one likes.
private struct Shelf: SessionSource {
  let events: [Event]

  func open(_ take: @escaping (borrowing EventView) -> Void) throws -> any SessionReading {
    Reading(events, take)
  }

  private final class Reading: SessionReading {
    private var rest: ArraySlice<Event>
    private let take: (borrowing EventView) -> Void

    init(_ events: [Event], _ take: @escaping (borrowing EventView) -> Void) {
      rest = events[...]
      self.take = take
    }

    func advance() throws -> Bool {
      guard let event = rest.popFirst() else { return false }
      event.withView { take($0) }
      return true
    }
  }
}

/// Sessions of WebSocket that are not kept, but read again while they are replayed.
@Suite struct FrameRereadTests {
  @Test(arguments: Array(0..<10) as [UInt64], [0, 2_000])
  func givesTheSameEvents(_ seed: UInt64, keeping limit: Int) async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: seed, losses: Int(seed % 3), .frames), to: MemorySink())
    let live = try await RandomUser.run(recorder, seed: seed, inFrames: true)
    // A recorder that is killed writes no end.
    if seed.isMultiple(of: 2) { try recorder.finish() }
    let source = Shelf(events: try recorder.sink.events())
    var events = ReplayEvents(rereading: source, keeping: limit)
    for event in source.events { events.append(event) }
    let replay = try ReplayClient(
      events, options: ReplayOptions(match: .strict, actors: .readerOnly))
    #expect(replay.capabilities == [.frames, .push, .binary])
    #expect(try await RandomUser.run(replay, seed: seed, inFrames: true) == live)
    try replay.finish()
  }
}
