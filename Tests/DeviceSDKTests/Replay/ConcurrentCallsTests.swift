import AppSessions
import CloudSimulator
import DataClient
import DeviceSDK
import Testing

/// Calls that an app makes without waiting for one another, on their own recording.
@Suite struct ConcurrentCallsTests {
  private static let configuration = {
    ChannelConfiguration(
      appKey: "1234", authCode: "test",
      identity: try? ChannelIdentity(productKey: "a1pk", deviceName: "dev1"))
  }()

  /// Three calls at once, each of which gets the answer that is for it.
  private static func callThree(_ channel: Channel) async throws {
    async let light = channel.invoke("/light/get", ["room": 1])
    async let lamp = channel.invoke("/lamp/get", ["room": 2])
    async let again = channel.invoke("/light/get", ["room": 3])
    let replies = try await [light, lamp, again]
    #expect(replies.map(\.data) == [["room": 1], ["room": 2], ["room": 3]])
  }

  private static func recording() async throws -> [UInt8] {
    try await AppSession.record { app in
      try await app.connect()
      try await callThree(app.channel)
      _ = try await app.channel.invoke("/after")
    }
  }

  /// The same with the three requests one behind the other, as a broker sees them that is not in the same process.
  private static func recordingOfBurst() async throws -> [UInt8] {
    let lines = try await recording().split(separator: UInt8(ascii: "\n"))
    let requests = lines.indices.filter {
      let line = String(decoding: lines[$0], as: UTF8.self)
      return line.contains(#""from":"client""#) && line.contains(#""type":"PUBLISH""#)
    }
    try #require(requests.count == 4)
    let others = (requests[0]...requests[2]).filter { !requests.contains($0) }
    let order =
      lines[..<requests[0]] + (requests.prefix(3) + others).map { lines[$0] }
      + lines[(requests[2] + 1)...]
    return Array(order.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
  }

  private static func replay(_ events: ReplayEvents, _ options: ReplayOptions) async throws {
    let client = try ReplayClient(events, options: options)
    try await withChannel(on: client, configuration: configuration) { channel in
      try await channel.start()
      try await callThree(channel)
      _ = try await channel.invoke("/after")
    }
    try client.finish()
  }

  @Test func takesThreeCallsInAnyOrder() async throws {
    let recording = try await Self.recordingOfBurst()
    let events = try AppSession.events(recording)
    let options = ReplayOptions(roles: .channel)
    var diverged = 0
    for _ in 0..<1_000 {
      do { try await Self.replay(events, options) } catch {
        diverged += 1
        if diverged == 1 { Issue.record("\(error)") }
      }
    }
    #expect(diverged == 0)
  }
}
