import TestSupport
import Testing
import Wire

@testable import RepriseCore

/// What a server says of itself when it accepts a connection.
@Suite struct ServerPropertiesTests {
  private typealias Change = (name: String, of: @Sendable (inout ServerProperties) -> Void)

  private static let changes: [Change] = [
    ("assignedClientIdentifier", { $0.assignedClientID = "ü" }),
    ("sessionExpiryInterval", { $0.sessionExpiryInterval = .max }),
    ("serverKeepAlive", { $0.keepAlive = 0 }),
    ("receiveMaximum", { $0.receiveMaximum = 1 }),
    ("maximumPacketSize", { $0.maximumPacketSize = .max }),
    ("maximumQoS", { $0.maximumQoS = .atMostOnce }),
    ("retainAvailable", { $0.isRetainAvailable = false }),
    ("wildcardSubscriptionAvailable", { $0.isWildcardAvailable = true }),
    ("sharedSubscriptionAvailable", { $0.isSharedAvailable = false }),
    ("responseInformation", { $0.responseInformation = "r/" }),
    ("reasonString", { $0.reasonString = "" }),
    ("userProperty", { $0.userProperties = [.init("a", "1")] }),
  ]

  /// Each of them is one property of the packet, and comes back alone.
  @Test func eachStandsInThePacket() throws {
    var all = ServerProperties()
    for (name, change) in Self.changes {
      var server = ServerProperties()
      change(&server)
      change(&all)
      #expect(server.ofPackets.map { "\($0.id.name)" } == [name])
      #expect(ServerProperties(server.ofPackets) == server && server != ServerProperties())
    }
    all.userProperties = [.init("b", ""), .init("a", "1"), .init("b", "2")]
    let packet = MQTTPacket.Connack(properties: all.ofPackets)
    let bytes = try MQTTPacket(.connack(packet), version: .v5_0).encoded()
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else {
      Issue.record("no header")
      return
    }
    let view = MQTTPacketView(bytes.span.bytes, header: header, version: .v5_0)
    #expect(view.faults.isEmpty && ServerProperties(view.properties, in: view.bytes) == all)
  }

  /// What a client is told when it connects is told again by its recording; 3.1.1 has no place for it.
  @Test(arguments: [MQTTVersion.v3_1_1, .v5_0]) func recordingsTellThem(
    _ version: MQTTVersion
  ) async throws {
    var server = ServerProperties()
    for (_, change) in Self.changes { change(&server) }
    let told = ClientEvent.connected(.init(isSessionPresent: true, properties: server))
    let recorder = try RecordingClient(
      ScriptedClient.everySecond([told]), to: MemorySink(), version: version)
    func run(on client: any DataClient) async throws -> ClientEvent {
      var user = Actor(client)
      try await user.connect(cleanStart: false)
      return try await client.next(before: nil)
    }
    #expect(try await run(on: recorder) == told)
    try recorder.finish()
    let replayed = try await run(on: ReplayClient(recorder.sink.events()))
    #expect(replayed == (version == .v5_0 ? told : .connected(.init(isSessionPresent: true))))
  }
}
