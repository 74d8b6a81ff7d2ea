import RepriseCore
import Testing
import Wire

/// The session that a link makes by chance stands in all its topics, and is another one in every run.
@Suite struct LinkSessionTests {
  private static func topic(_ session: String, _ rest: String, _ service: String) -> String {
    "link/app/\(service)/ann/\(session)/\(rest)"
  }

  private static func events(_ service: String) -> [Event] {
    var session = SessionBuilder()
    let recorded = "5f3e9a01"
    let will = MQTTPacket.Will(topic: topic(recorded, "up/lost", service), payload: [])
    session.open(0)
    session.add(0, .client, .connect(.init(clientID: topic(recorded, "c", service), will: will)))
    session.add(0.01, .server, .connack(.init()))
    session.subscribe(1, [topic(recorded, "down/#", service)], id: 1)
    session.publish(2, .client, topic(recorded, "up/ping", service), "x")
    session.publish(3, .server, topic(recorded, "down/pong", service), "x")
    return session.events
  }

  private static func live(
    _ session: String, _ service: String, in client: ReplayClient
  ) async throws -> ClientEvent {
    var user = Actor(client)
    var options = ConnectOptions(clientID: topic(session, "c", service))
    options.will = Message(topic: topic(session, "up/lost", service), payload: [])
    try await user.do(.connect(options))
    _ = try await user.next()
    try await user.subscribe(topic(session, "down/#", service))
    _ = try await user.next()
    try await user.publish(topic(session, "up/ping", service), "x")
    _ = try await user.next()
    return try await user.next()
  }

  @Test(arguments: ["message", "stream"])
  func isCoveredByRolesByDefault(service: String) async throws {
    let client = try ReplayClient(Self.events(service))
    let event = try await Self.live("77", service, in: client)
    // What the server sent to the recorded session comes to that of this run.
    #expect(event == .message(Message(Self.topic("77", "down/pong", service), "x")))
    try client.finish()
  }

  /// A near miss: without roles it is another topic, and so is another service with them.
  @Test(arguments: [(ReplayRoles.none, "message"), (.standard, "stream")])
  func isAnotherTopicOtherwise(roles: ReplayRoles, service: String) async throws {
    let client = try ReplayClient(Self.events("message"), options: ReplayOptions(roles: roles))
    await #expect(throws: DataClientError.self) {
      try await Self.live("77", service, in: client)
    }
    #expect(client.divergence?.kind == .otherAction)
  }
}
