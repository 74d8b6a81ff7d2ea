import Gates
import Glibc
import RepriseCore
import TestSupport
import Testing

@testable import LiveClient

/// Opening and closing connections, and every way in which that fails.
@Suite struct ConnectTests {
  typealias Version = MosquittoClient.Version

  @Test(arguments: Version.allCases) func opensAndCloses(_ version: Version) async throws {
    let broker = try await Broker()
    let client = try TestClient(broker.url, version: version)
    for _ in 0..<3 {
      #expect(try await client.connect() == false)
      try await client.disconnect()
    }
    #expect(await client.refusal(.disconnect) == .notConnected)
  }

  @Test(arguments: Version.allCases) func takesUserNameAndPassword(_ version: Version) async throws
  {
    let directory = Scratch()
    try await Child.run(["mosquitto_passwd", "-b", "-c", directory.file("users"), "ann", "p@:/ü"])
    let broker = try await Broker(
      ["allow_anonymous false", "password_file \(directory.file("users"))"])
    let client = try TestClient(broker.url, version: version)
    let right = ConnectOptions(username: "ann", password: [UInt8]("p@:/ü".utf8))
    let wrong = ConnectOptions(username: "ann", password: [UInt8]("p".utf8))
    let code: UInt8 = version == .v3_1_1 ? 5 : 135
    #expect(try await client.failure(wrong) == .refused(code: code))
    #expect(try await client.failure() == .refused(code: code))
    try await client.connect(right)
    try await client.disconnect()
    let byURL = try TestClient(
      "mqtt://ann:p%40%3a%2F%C3%BC@127.0.0.1:\(broker.port)", version: version)
    try await byURL.connect()
    try await byURL.disconnect()
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt8]) func tellsRefusals(_ code: UInt8) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, code])
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)")
    for _ in 0..<2 { #expect(try await client.failure() == .refused(code: code)) }
  }

  @Test(arguments: Array(128...159).filter { ![130, 139, 141, 142, 143].contains($0) } as [UInt8])
  func tellsRefusalsOfVersion5(_ code: UInt8) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 3, 0, code, 0])
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)", version: .v5_0)
    #expect(try await client.failure() == .refused(code: code))
  }

  @Test func tellsThatNobodyListens() async throws {
    let client = try TestClient("mqtt://127.0.0.1:\(Socket.freePort())")
    let why = try await client.failure()
    guard case .unreached(let text, _) = why else {
      Issue.record("\(String(describing: why))")
      return
    }
    #expect(text.contains("127.0.0.1") && text.contains("Connection refused"), "\(text)")
  }

  @Test func tellsThatANameDoesNotResolve() async throws {
    let why = try await TestClient("mqtt://no-such-host.invalid").failure()
    guard case .unreached(let text, _) = why else {
      Issue.record("\(String(describing: why))")
      return
    }
    #expect(text.contains("no-such-host.invalid") && text.contains("ame"), "\(text)")
  }

  @Test(arguments: [[], [0x20], [0x30, 2, 0, 0], [0xff, 0xff, 0xff, 0xff, 0xff]] as [[UInt8]])
  func tellsAnswersThatAreNone(_ answer: [UInt8]) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write(answer)
    }
    let why = try await TestClient("mqtt://127.0.0.1:\(server.port)").failure()
    guard case .lost = why else {
      Issue.record("\(String(describing: why))")
      return
    }
  }

  @Test func givesUpAConnectionAtOnce() async throws {
    let server = try ScriptedServer { socket in _ = socket.read(1_000_000) }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)")
    for _ in 0..<5 {
      try await client.perform(.connect(ConnectOptions()))
      #expect(await client.refusal(.connect(ConnectOptions())) == .invalidAction)
      try await client.perform(.disconnect)
      #expect(try await client.event() == .closed(.byUser))
    }
    let broker = try await Broker()
    let other = try TestClient(broker.url)
    try await other.perform(.connect(ConnectOptions()))
    try await other.perform(.disconnect)
    #expect(try await other.event() == .closed(.byUser))
    try await other.connect()
    try await other.disconnect()
  }

  @Test func noticesThatTheBrokerIsGone() async throws {
    let broker = try await Broker()
    let client = try await TestClient.connected(broker)
    await broker.stop(SIGKILL)
    // The system closes what the killed process had open, in good order.
    guard case .closed(.byServer(code: nil, _)) = try await client.event() else {
      Issue.record("not closed")
      return
    }
    try await broker.start()
    try await client.connect()
  }

  @Test func noticesThatTheBrokerIsSilent() async throws {
    let broker = try await Broker()
    let client = try await TestClient.connected(broker, ConnectOptions(keepAlive: 5))
    broker.pause(true)
    guard case .closed(.lost(let text)) = try await client.event(within: 60) else {
      Issue.record("not lost")
      return
    }
    broker.pause(false)
    #expect(text.contains("keep-alive"), "\(text)")
  }

  @Test func staysAliveWithoutTraffic() async throws {
    let broker = try await Broker()
    let client = try await TestClient.connected(broker, ConnectOptions(keepAlive: 5))
    let deadline = Timestamp(nanoseconds: client.client.now.nanoseconds + 12_000_000_000)
    #expect(try await client.client.next(before: deadline) == .deadline)
    try await client.publish("still/there", [])
  }

  @Test func saysWhyTheServerDisconnected() async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 3, 0, 0, 0, 0xe0, 1, 0x8e])
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)", version: .v5_0)
    try await client.connect()
    guard case .closed(.byServer(code: 0x8E, let text)) = try await client.event() else {
      Issue.record("not closed by the server")
      return
    }
    #expect(text.contains("taken over"), "\(text)")
  }

  /// How a server ends a connection that it has accepted.
  enum ServerEnd: CaseIterable { case inOrder, brokenOff }

  @Test(arguments: ServerEnd.allCases, MosquittoClient.Version.allCases)
  func tellsAnEndInGoodOrderFromABrokenConnection(
    _ end: ServerEnd, _ version: MosquittoClient.Version
  ) async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    let client = try TestClient(gate.url, version: version)
    try await client.perform(.connect(ConnectOptions()))
    try await gate.accept()
    #expect(try await client.event().beginsSession)
    switch end {
    case .inOrder: try await gate.hangUp()
    case .brokenOff: try await gate.lose()
    }
    switch (end, try await client.event()) {
    case (.inOrder, .closed(.byServer(code: nil, let text))):
      #expect(text.contains("the server closed the connection"), "\(text)")
    case (.brokenOff, .closed(.lost(let text))):
      #expect(text.contains("the connection was reset"), "\(text)")
    case (_, let event): Issue.record("\(event)")
    }
  }

  @Test(arguments: MosquittoClient.Version.allCases)
  func aSessionThatIsTakenOverIsClosedByTheServer(
    _ version: MosquittoClient.Version
  ) async throws {
    let broker = try await Broker()
    let twins = try (0..<2).map { _ in try TestClient(broker.url, version: version) }
    for twin in twins {
      try await twin.perform(.connect(ConnectOptions(clientID: "twin")))
      #expect(try await twin.event().beginsSession)
    }
    guard case .closed(.byServer(let code, _)) = try await twins[0].event() else {
      Issue.record("not closed by the server")
      return
    }
    #expect(code == nil || code == 0x8E)
  }

  @Test func asksAsOftenAsTheServerWants() async throws {
    let pings = Counter()
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      // Server Keep Alive, five seconds: the client's own time has no end.
      socket.write([0x20, 6, 0, 0, 3, 0x13, 0, 5])
      // The library asks for the first time at once, and goes on only if somebody looks at the clock.
      while pings.count < 2, socket.readPacket()?.first == 0xc0 {
        pings.add()
        socket.write([0xd0, 0])
      }
      pings.end()
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)", version: .v5_0)
    try await client.connect(ConnectOptions(keepAlive: 0))
    try await pings.ends()
    #expect(pings.count == 2)
  }

  /// A client that waits so long for a server to accept it.
  private func client(of server: ScriptedServer, waiting patience: Duration) throws -> TestClient {
    let setup = MosquittoLink.Setup(
      url: try BrokerURL("mqtt://127.0.0.1:\(server.port)"), tls: TLSOptions(), version: .v3_1_1,
      patience: patience)
    return TestClient(try MosquittoClient(setup, limits: .init(), lacking: []))
  }

  @Test func leavesAServerThatNeverAnswers() async throws {
    let server = try ScriptedServer { socket in _ = socket.read(1_000_000) }
    let client = try client(of: server, waiting: .milliseconds(50))
    for _ in 0..<2 {
      guard case .lost(let text)? = try await client.failure(ConnectOptions(keepAlive: 0)) else {
        Issue.record("not lost")
        return
      }
      #expect(text.contains("did not answer CONNECT in time; see whether"), "\(text)")
    }
  }

  /// The server may have accepted what is given up, and keeps the will of whoever goes without a word.
  @Test func saysFarewellToAConnectionThatIsGivenUp() async throws {
    let packets = Observed<[UInt8]>([])
    let server = try ScriptedServer { socket in
      while let packet = socket.readPacket() { packets.change { $0.append(packet.first) } }
      packets.change { $0.append(0) }
    }
    let client = try client(of: server, waiting: .seconds(3_600))
    let will = Message(topic: "w", payload: [])
    try await client.perform(.connect(ConnectOptions(keepAlive: 0, will: will)))
    _ = await packets.first { $0.isEmpty ? nil : true }
    try await client.perform(.disconnect)
    #expect(try await client.event() == .closed(.byUser))
    #expect(await packets.first { $0.last == 0 ? $0 : nil } == [0x10, 0xe0, 0])
  }

  /// A server that knows MQTT 3.1.1 alone answers in its own form (3.1.1 section 3.1.2.2).
  @Test func tellsThatAServerKnowsNoVersion5() async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, 1])
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)", version: .v5_0)
    #expect(try await client.failure() == .refused(code: 0x84))
  }

  @Test(arguments: [
    ConnectOptions(keepAlive: 1), ConnectOptions(keepAlive: 4), ConnectOptions(cleanStart: false),
    ConnectOptions(clientID: "a\u{0}b"), ConnectOptions(username: "a\u{0}b"),
    ConnectOptions(password: [1]), ConnectOptions(username: "u", password: [1, 0, 2]),
    ConnectOptions(will: Message(topic: "a/+", payload: [])),
    ConnectOptions(will: Message(topic: "", payload: [])),
    ConnectOptions(will: Message(topic: "a", payload: .init(repeating: 0, count: 65_536))),
  ]) func refusesOptions(_ options: ConnectOptions) async throws {
    let client = try TestClient("mqtt://127.0.0.1:1")
    #expect(await client.refusal(.connect(options)) == .invalidAction)
  }
}
