import RepriseCore
import Synchronization
import Testing

@Suite struct TranscribingClientTests {
  @Test func tellsWhatARecordingWouldHave() async throws {
    let recorder = try RecordingClient(
      RandomServer(seed: 4, losses: 2), to: MemorySink(), url: "mqtt://test")
    let events = try await RandomUser.run(recorder, seed: 4)
    let told = Mutex<[Event]>([])
    let client = TranscribingClient(
      RandomServer(seed: 4, losses: 2), url: "mqtt://test",
      tell: { event in told.withLock { $0.append(event) } })
    #expect(try await RandomUser.run(client, seed: 4) == events)
    #expect(try told.withLock { $0 } == recorder.sink.events())
    #expect(events.count > 20)
  }

  @Test func handsOnWhatTellingThrows() async throws {
    let client = TranscribingClient(
      RandomServer(seed: 4), url: "mqtt://test",
      tell: { _ in throw DataClientError(.transport, "nobody listens") })
    var user = Actor(client)
    // Whether there is a connection is known by its outcome.
    try await user.connect()
    let error = await #expect(throws: DataClientError.self) { try await client.next(before: nil) }
    #expect(error?.message == "nobody listens")
  }
}
