import RepriseCore
import Testing
import Wire

/// What those need who play the people of a recorded application.
@Suite struct ReplayScriptTests {
  @Test func tellsWhatThingsComeFrom() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .server, "t")
    session.publish(9, .client, "u")
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    #expect(client.cause.place == nil)
    try await user.connect()
    #expect(client.cause.place?.frame == 2)
    _ = try await user.next()
    #expect(client.cause.place?.frame == 3)
    _ = try await user.next()
    #expect(client.cause == client.cause)
    #expect(client.cause.place?.frame == 4)
    #expect(client.cause.time == SessionBuilder.time(1))
    // A deadline comes from nothing, and what is done for it is where it was recorded.
    _ = try await user.next(5)
    #expect(client.cause.place == nil)
    #expect(client.cause.time == SessionBuilder.time(5))
    try await user.publish("u")
    #expect(client.cause.place?.frame == 5)
    #expect(client.cause.time == SessionBuilder.time(9))
    _ = try await user.next()
    #expect(!client.isOver)
    #expect(try await user.next() == .ended)
    #expect(client.isOver)
  }

  @Test func whoCanNotPlayOnSaysWhy() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "u")
    let client = try ReplayClient(session.events, options: ReplayOptions(source: "s.pcap"))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    client.giveUp(because: "there is no button for it")
    let error = await #expect(throws: DataClientError.self) { try await user.next() }
    #expect(error?.code == .diverged)
    let divergence = try #require(client.divergence)
    #expect(divergence.kind == .missingAction)
    #expect(divergence.place?.frame == 4)
    #expect(divergence.actual == "there is no button for it")
    #expect(divergence.remedy.hasPrefix("reprise inspect s.pcap --filter 'connection == 1"))
    #expect(try await client.nextDueAction() == nil)
  }

  // MARK: Envelopes

  private static let flat = #"{"id":"1","version":"1.0","request":{"clientId":"c"},"params":{}}"#
  private static let nested =
    #"{"id":"9","system":{"version":"1.0","time":"7"},"request":{},"params":{}}"#

  @Test(arguments: [
    (flat, nested, []), (nested, flat, []),
    (flat, #"{"id":"1","version":"1.1","params":{}}"#, ["payload.version"]),
    (flat, #"{"id":"1","version":"1.0","params":{"a":1}}"#, ["payload.params.a"]),
    (flat, #"{"id":"1","version":"1.0"}"#, ["payload.params"]),
  ])
  func optionalMembersMayBeOnOneSideOnly(
    recorded: String, performed: String, places: [String]
  ) async throws {
    var roles = ReplayRoles.standard
    roles.optionalPaths = ["version", "request", "request.clientId", "system"]
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "u", recorded)
    let client = try ReplayClient(session.events, options: ReplayOptions(roles: roles))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    do { try await user.publish("u", performed) } catch is DataClientError {}
    #expect((client.divergence?.differences.map(\.place) ?? []) == places)
  }

  @Test func aHiddenUserNameIsAny() async throws {
    var session = SessionBuilder()
    session.open(0)
    session.add(0, .client, .connect(.init(clientID: "c", username: RedactionRules.mark)))
    session.add(0.1, .server, .connack(.init()))
    var user = Actor(try ReplayClient(session.events))
    try await user.do(.connect(ConnectOptions(clientID: "c", keepAlive: 60, username: "me")))
    #expect(try await user.next() == .connected(.init()))
  }

  @Test func secretsAreHiddenByName() throws {
    let text =
      #"{"iotToken":"t","sign":7,"n":{"deviceSecret":"s","list":[{"password":"p"}]},"id":"1"}"#
    let value = try #require(JSONValue(parsing: Array(text.utf8))).hidingSecrets
    var shown: [UInt8] = []
    value.append(to: &shown)
    #expect(
      String(decoding: shown, as: UTF8.self)
        == #"{"iotToken":"***","sign":"***","n":{"deviceSecret":"***","list":[{"password":"***"}]},"#
        + #""id":"1"}"#)
  }
}
