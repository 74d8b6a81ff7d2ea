import RepriseCore
import TestSupport
import Testing
import Wire

/// Recordings of sessions that go on over several connections.
@Suite struct SessionRecordingTests {
  /// What a client does before each event, and what it is told.
  private static func run(
    on client: any DataClient, as names: (String, String) = ("c", "c")
  ) async throws -> [ClientEvent] {
    var user = Actor(client)
    var events: [ClientEvent] = []
    try await user.connect(as: names.0, cleanStart: false)
    events.append(try await client.next(before: nil))
    try await user.publish("t", "1", qos: .atLeastOnce)
    try await user.publish("t", "2", qos: .exactlyOnce)
    try await user.subscribe("a")
    events.append(try await client.next(before: nil))
    try await user.connect(as: names.1, cleanStart: false)
    events.append(try await client.next(before: nil))
    try await user.publish("t", "3", qos: .atLeastOnce)
    while events.last != .ended { events.append(try await client.next(before: nil)) }
    return events
  }

  private static func id(_ number: UInt32) -> ClientAction.ID { .init(rawValue: number) }

  private static func events(isSessionPresent: Bool) -> [ClientEvent] {
    [
      .connected(.init()), .closed(.lost("cut")),
      .connected(.init(isSessionPresent: isSessionPresent)), .published(id(2)),
      .published(id(3)), .published(id(6)),
    ]
  }

  @Test func whatIsAnsweredOnTheNextConnectionIsRecorded() async throws {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond(Self.events(isSessionPresent: true)), to: MemorySink(),
      url: "mqtt://h"
    )
    let live = try await Self.run(on: recorder)
    try recorder.finish()
    let events = try recorder.sink.events()
    let replay = try ReplayClient(events, options: ReplayOptions(match: .strict))
    #expect(try await Self.run(on: replay) == live)
    try replay.finish()
    // The client has to send again what was not acknowledged (MQTT-4.4.0-1), in the same order (MQTT-4.6.0-1).
    let again = events.compactMap(\.packet).filter(\.dup)
    #expect(again.map { $0.publish?.payload } == [Array("1".utf8), Array("2".utf8)])
    let first = events.compactMap { $0.packet?.publish?.packetID }
    #expect(first == [1, 2, 1, 2, 4])
  }

  @Test func whatCameToNothingIsNotSentAgain() async throws {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond([
        .connected(.init()), .failed(Self.id(2), .unanswered(.lost, "")), .closed(.lost("cut")),
        .connected(.init(isSessionPresent: true)),
      ]), to: MemorySink())
    var user = Actor(recorder)
    for _ in 0..<2 {
      try await user.connect(cleanStart: false)
      _ = try await recorder.next(before: nil)
      try await user.publish("t", "1", qos: .atLeastOnce)
      _ = try await recorder.next(before: nil)
      _ = try await recorder.next(before: nil)
    }
    #expect(try recorder.sink.events().allSatisfy { $0.packet?.dup != true })
  }

  @Test(arguments: [("c", false), ("d", true)])
  func anotherSessionOwesNothing(name: String, isPresent: Bool) async throws {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond(Self.events(isSessionPresent: isPresent)), to: MemorySink(),
      url: "mqtt://h")
    _ = try await Self.run(on: recorder, as: ("c", name))
    try recorder.finish()
    let packets = try recorder.sink.events().compactMap(\.packet)
    #expect(packets.allSatisfy { !$0.dup })
    let acknowledged = packets.compactMap { packet -> UInt16? in
      guard case .acknowledgement(_, let id, _) = packet.content else { return nil }
      return id
    }
    #expect(acknowledged.count == 1)
  }
}
