import RepriseCore
import Statistics
import Testing
import Wire

/// How connections end, and what only looks like it.
@Suite struct ConnectionEndTests {
  private static let second = 1_000_000

  /// A connection of the client `c` with a keep-alive of 10 s, accepted, until a moment in microseconds.
  private static func session(_ change: (inout HandMadeSession) -> Void) -> HandMadeSession {
    var session = HandMadeSession()
    session.open(0)
    session.connect(100, "c", keepAlive: 10)
    session.accept(200)
    change(&session)
    return session
  }

  /// The ends, each with its cause, who ended it, and the code.
  private static func ends(_ session: HandMadeSession) -> [String] {
    session.counted().ends.map { end, count in
      let code = end.code.map { " \($0)" } ?? ""
      return "\(count) \(end.cause.rawValue) \(end.peer?.rawValue ?? "-")\(code)"
    }.sorted()
  }

  @Test(arguments: [
    (nil as UInt8?, "1 disconnect client"), (0, "1 disconnect client"),
    (4, "1 disconnect client 4"),
    (0x82, "1 disconnect client 130"),
  ])
  func knowsADisconnectOfTheClient(_ code: UInt8?, _ end: String) {
    let session = Self.session {
      $0.version = .v5_0
      $0.send(300, .client, .disconnect(MQTTPacket.Reason(code)))
      $0.close(400, .fin, by: .server)
    }
    #expect(Self.ends(session) == [end])
  }

  @Test(arguments: [
    (0x8E as UInt8, "1 taken-over server 142"), (0x8D, "1 keep-alive server 141"),
    (0x8B, "1 disconnect server 139"),
  ])
  func knowsADisconnectOfTheServer(_ code: UInt8, _ end: String) {
    let session = Self.session {
      $0.version = .v5_0
      $0.send(300, .server, .disconnect(MQTTPacket.Reason(code)))
      $0.close(400, .reset, by: .client)
    }
    #expect(Self.ends(session) == [end])
  }

  @Test(arguments: [(5 as UInt8, "1 refused server 5"), (0, "1 fin server -")])
  func knowsARefusal(_ code: UInt8, _ end: String) {
    var session = HandMadeSession()
    session.open(0)
    session.connect(100, "c")
    session.accept(200, code: code)
    session.close(300, .fin, by: .server)
    #expect(Self.ends(session) == [end.replacing(" -", with: "")])
  }

  /// One and a half times 10 s, less a tenth of a second for the clocks.
  @Test(arguments: [
    (14_800_000, Peer.server, "1 fin server"), (14_900_000, .server, "1 keep-alive server"),
    (15_000_000, .client, "1 fin client"),
  ])
  func knowsAKeepAliveThatRanOut(_ silence: Int, _ closer: Peer, _ end: String) {
    let session = Self.session { $0.close(100 + silence, .fin, by: closer) }
    #expect(Self.ends(session) == [end])
  }

  @Test func knowsNoSilenceWhereBytesAreMissing() {
    let session = Self.session {
      $0.lose(300, .client)
      $0.close(100 + 20 * Self.second, .fin, by: .server)
    }
    #expect(Self.ends(session) == ["1 unknown -"])
  }

  /// The client may have sent DISCONNECT in what is missing; not so where something of it came behind that.
  @Test(arguments: [(true, "1 fin client"), (false, "1 unknown -")])
  func blamesNobodyBehindMissingBytes(_ isSeenAgain: Bool, _ end: String) {
    let session = Self.session {
      $0.lose(300, .client)
      if isSeenAgain { $0.send(400, .client, .pingreq) }
      $0.close(500, .fin, by: .client)
    }
    #expect(Self.ends(session) == [end])
  }

  /// A newer connection of the same client takes over, if it is accepted, comes first, and the server closes soon.
  @Test(arguments: [
    ("c", 0 as UInt8, 1_000, Peer.server, "1 taken-over server"),
    ("d", 0, 1_000, .server, "1 fin server"), ("c", 5, 1_000, .server, "1 fin server"),
    ("c", 0, 1_000, .client, "1 fin client"), ("c", 0, 11_000_000, .server, "1 fin server"),
  ])
  func knowsATakeover(
    _ client: String, _ code: UInt8, _ delay: Int, _ closer: Peer, _ end: String
  ) {
    let session = Self.session {
      $0.connection = 2
      $0.open(300)
      $0.connect(400, client)
      $0.accept(500, code: code)
      $0.connection = 1
      $0.close(400 + delay, .fin, by: closer)
    }
    #expect(Self.ends(session) == [end])
  }

  @Test(arguments: [(Peer.client, "1 fault server"), (.server, "1 fin server")])
  func knowsAnEndBehindBytesThatCanNotBeRead(_ sender: Peer, _ end: String) {
    let session = Self.session {
      if sender == .client {
        $0.add(
          300, sender, .malformed(Malformation(code: "not-mqtt", offset: 0, message: "no MQTT")))
      } else {
        $0.send(300, .server, .pingresp)
      }
      $0.close(400, .fin, by: .server)
    }
    #expect(Self.ends(session) == [end])
  }

  @Test func tellsTheEndOfTheCapture() {
    let session = Self.session { $0.close(20 * Self.second, .endOfCapture, by: .client) }
    #expect(Self.ends(session) == ["1 end-of-capture -"])
  }

  /// Silences, pings and what they are held against.
  @Test func tellsWhatTheKeepAliveIsUsedFor() throws {
    let session = Self.session {
      $0.send(100 + 9 * Self.second, .client, .pingreq)
      $0.send(100 + 24 * Self.second, .client, .pingreq)
      $0.send(101 + 39 * Self.second, .client, .pingreq)
      // Across what is missing no silence is known, and none where the clock goes back.
      $0.lose(102 + 39 * Self.second, .client)
      $0.send(100 + 99 * Self.second, .client, .pingreq)
      $0.send(90 * Self.second, .client, .disconnect(MQTTPacket.Reason()))
      $0.close(99 * Self.second, .fin, by: .client)
    }
    let client = try #require(session.counted().clients.top(1).first?.value)
    #expect(client.keepAlive == 10 && client.pings == 4 && client.connections == 1)
    #expect(client.longestSilence == 15_000_001_000 && client.overruns == 1)
    #expect(client.connected == 99_000_000_000)
  }
}
