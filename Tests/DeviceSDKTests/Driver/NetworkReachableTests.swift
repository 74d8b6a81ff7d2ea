import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

/// Systems of the SDK that follow what watches the network.
@Suite(.timeLimit(.minutes(20))) struct NetworkReachableTests {
  /// A world whose connections are made while the test says that there is a network.
  private final class World: Sendable {
    private let isThere = Mutex(true)

    func set(_ isThere: Bool) { self.isThere.withLock { $0 = isThere } }

    func client(
      _ capabilities: Capabilities, _ cloud: @escaping ScriptedClient.Responder
    ) -> ScriptedClient {
      ScriptedClient(capabilities: capabilities) { [self] action, now in
        guard case .connect = action.kind, !isThere.withLock({ $0 }) else {
          return try cloud(action, now)
        }
        return [.closed(.unreached("refused"))]
      }
    }
  }

  /// A system of the SDK.
  struct Subject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var capabilities: Capabilities = [.messages, .push, .binary]
    var cloud = SampleChannel.cloud
    /// Whether it tries nothing while it is told that there is no network.
    var waits = true
    /// Opens the system, and runs a body that can ask whether it is open.
    let run:
      @Sendable (
        ScriptedClient, (any NetworkReachable, @Sendable () -> Bool) async throws -> Void
      ) async throws -> Void
  }

  private static let subjects = [
    Subject(testDescription: "channel") { client, body in
      try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
        try await channel.start()
        try await body(channel) { channel.state == .connected }
      }
    },
    Subject(testDescription: "gateway") { client, body in
      let configuration = GatewayConfiguration(.own(try SampleChannel.identity()))
      try await withGateway(on: client, configuration: configuration) { gateway in
        try await gateway.start()
        try await body(gateway) { gateway.state == .connected }
      }
    },
    Subject(testDescription: "MQTT session") { client, body in
      try await withSession(on: client, configuration: MQTTConfiguration(clientID: "c")) { mqtt in
        try await body(mqtt) { mqtt.state == .connected(isSessionPresent: false) }
      }
    },
    Subject(testDescription: "requests", capabilities: [.frames]) { client, body in
      var configuration = RequestConfiguration()
      // Virtual time would pass from one heartbeat to the next.
      configuration.heartbeatInterval = nil
      try await withRequests(on: client, configuration: configuration) { connection in
        try await connection.open()
        try await body(connection) { connection.state == .open }
      }
    },
    // The service's own states have no room for waiting.
    Subject(testDescription: "link", cloud: LinkTests.server, waits: false) { client, body in
      try await withLink(on: client, configuration: SampleLink.configuration()) { link in
        try await link.login(token: "t")
        try await body(link) { link.state == .connected }
      }
    },
  ]

  private static func connects(_ client: ScriptedClient) -> Int {
    client.performed.count { if case .connect = $0.kind { true } else { false } }
  }

  @Test(arguments: subjects)
  func isTriedAtOnceWhenTheNetworkIsBack(_ subject: Subject) async throws {
    let world = World()
    let client = world.client(subject.capabilities, subject.cloud)
    try await subject.run(client) { system, isOpen in
      let network = ToldNetwork()
      async let following: Void = system.follow(network.changes)
      await network.tell(true)
      #expect(isOpen() && Self.connects(client) == 1)
      world.set(false)
      client.feed(.closed(.lost("test")))
      await client.advance(by: .seconds(10))
      let refused = Self.connects(client)
      #expect(refused > 1 && !isOpen())
      await network.tell(false)
      await client.advance(by: .seconds(3_600))
      let before = Self.connects(client)
      #expect((before == refused) == subject.waits && !isOpen())
      let now = client.now
      world.set(true)
      await network.tell(true)
      await client.settle()
      #expect(Self.connects(client) == before + 1 && client.now == now && isOpen())
      network.end()
      try await following
    }
  }

  @Test func aLinkIsClosedWithTheNetwork() async throws {
    let client = ScriptedClient(responder: LinkTests.server)
    try await withLink(on: client, configuration: SampleLink.configuration()) { link in
      try await link.login(token: "t")
      try await link.setReachable(true)
      #expect(link.state == .connected)
      try await link.setReachable(false)
      #expect(link.state == .disconnected)
    }
  }

  @Test func followingEndsWithTheTask() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      let network = ToldNetwork()
      let following = Task { try await channel.follow(network.changes) }
      await network.tell(false)
      following.cancel()
      try await following.value
      // What was told last holds.
      async let started: Void = channel.start()
      try await channel.setReachable(true)
      try await started
    }
  }
}

/// What watches a network that is as the test says.
private final class ToldNetwork: Sendable {
  /// Tells of the network, and the test that it was asked.
  struct Changes: AsyncSequence, Sendable {
    let told: AsyncStream<Bool>
    let ask: AsyncStream<Void>.Continuation

    func makeAsyncIterator() -> Iterator { Iterator(told: told.makeAsyncIterator(), ask: ask) }

    struct Iterator: AsyncIteratorProtocol {
      var told: AsyncStream<Bool>.Iterator
      let ask: AsyncStream<Void>.Continuation

      mutating func next() async -> Bool? {
        ask.yield()
        return await told.next(isolation: #isolation)
      }
    }
  }

  let changes: Changes
  private let asked: AsyncStream<Void>
  private let teller: AsyncStream<Bool>.Continuation

  init() {
    let (told, teller) = AsyncStream<Bool>.makeStream()
    let (asked, ask) = AsyncStream<Void>.makeStream()
    changes = Changes(told: told, ask: ask)
    self.asked = asked
    self.teller = teller
  }

  /// Tells how the network is, once it is asked for, and returns when it is asked for the next time: what was told is
  /// known then.
  func tell(_ isThere: Bool) async {
    await wait()
    teller.yield(isThere)
    await wait()
    // The next one is asked for already.
    changes.ask.yield()
  }

  private func wait() async { for await _ in asked { break } }

  func end() { teller.finish() }
}
