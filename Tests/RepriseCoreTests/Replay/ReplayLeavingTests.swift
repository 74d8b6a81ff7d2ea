import RepriseCore
import Testing
import Wire

/// Clients that leave without a DISCONNECT on the wire.
@Suite struct ReplayLeavingTests {
  /// A client that gives up before the CONNACK closes the socket: that is all that a capture shows.
  @Test(arguments: [1, 2]) func givesUpWhileItConnects(connections: Int) async throws {
    var session = SessionBuilder()
    for number in 1...connections {
      session.connection = number
      session.open(Double(number))
      session.add(Double(number), .client, .connect(.init(clientID: "c")))
      session.close(Double(number) + 0.5, .client, how: .fin)
    }
    let client = try ReplayClient(session.events, options: ReplayOptions(actors: .readerOnly))
    var user = Actor(client)
    for _ in 1...connections {
      try await user.connect()
      try await user.do(.disconnect)
      #expect(try await user.next() == .closed(.byUser))
    }
    try client.finish()
  }

  @Test func doesNotGiveUpWhereTheServerCloses() async throws {
    var session = SessionBuilder()
    session.open(0)
    session.add(0, .client, .connect(.init(clientID: "c")))
    session.close(0.5, .server, how: .fin)
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    try await user.connect()
    await #expect(throws: DataClientError.self) { try await user.do(.disconnect) }
    #expect(client.divergence?.kind == .extraAction)
  }
}
