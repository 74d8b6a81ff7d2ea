import RepriseCore
import Testing
import Wire

@testable import LiveClient

/// The machine alone, in its own time.
@Suite struct MQTTClientMachineTests {
  private static let kept = ConnectOptions(clientID: "c", cleanStart: false)

  @Test(arguments: [MQTTVersion.v3_1_1, .v5_0]) func saysWhatIsAskedFor(_ version: MQTTVersion)
    throws
  {
    var bench = MQTTMachineBench(version)
    let will = Message(topic: "w", payload: [1], qos: .atLeastOnce, isRetained: true)
    try bench.perform(
      .connect(
        ConnectOptions(
          clientID: "c", cleanStart: false, keepAlive: 7, username: "u", password: [0, 9],
          will: will)))
    #expect(bench.sent.isEmpty)
    bench.handle(.connected(.init()))
    guard case .connect(let connect) = bench.sent.first?.content else {
      Issue.record("no CONNECT")
      return
    }
    #expect(connect.clientID == "c" && !connect.cleanStart && connect.keepAlive == 7)
    #expect(connect.username == "u" && connect.password == [0, 9])
    #expect(connect.will == .init(topic: "w", payload: [1], qos: 1, retain: true))
    #expect(
      connect.properties
        == (version == .v5_0
          ? [MQTTProperty(.sessionExpiryInterval, .integer(0xFFFF_FFFF))] : []))
  }

  /// A packet of the size that was allowed is taken, one of a byte more ends the connection (5.0 section 3.1.2.11.4).
  @Test(arguments: [false, true]) func aLargerPacketThanAllowedIsNotTaken(_ isLarger: Bool) throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect(ConnectOptions(properties: ConnectProperties(maximumPacketSize: 10)))
    let payload = [UInt8](repeating: 7, count: isLarger ? 5 : 4)
    let publish = MQTTPacket.Content.publish(.init(topic: "t", payload: payload))
    #expect(try MQTTPacket(publish, version: .v5_0).encoded().count == (isLarger ? 11 : 10))
    try bench.receive(publish)
    let message = ClientEvent.message(Message(topic: "t", payload: payload, qos: .atMostOnce))
    #expect(bench.told == (isLarger ? [] : [message]))
    #expect(bench.closes == (isLarger ? 1 : 0))
    #expect(bench.sent.map(\.content) == (isLarger ? [.disconnect(.init(0x95))] : []))
    bench.handle(.closed(.byUser))
    if isLarger {
      let reason = "s: the server sent a packet of 11 bytes; 10 were allowed"
      #expect(bench.told == [.closed(.lost(reason))])
    }
  }

  /// A message of QoS 2 counts until it is released (5.0 section 4.9).
  @Test func moreMessagesThanAllowedEndTheConnection() throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect(ConnectOptions(properties: ConnectProperties(receiveMaximum: 2)))
    func publish(_ id: UInt16) -> MQTTPacket.Content {
      .publish(.init(topic: "t", payload: [], qos: 2, packetID: id))
    }
    try bench.receive(publish(1), publish(2))
    try bench.receive(.acknowledgement(.pubrel, packetID: 1, .init()), publish(3), publish(3))
    #expect(
      bench.exchanges == ["PUBREC 1", "PUBREC 2", "PUBCOMP 1", "PUBREC 3", "PUBREC 3"])
    #expect(bench.closes == 0)
    bench.sent = []
    try bench.receive(publish(4))
    #expect(bench.sent.map(\.content) == [.disconnect(.init(0x93))] && bench.closes == 1)
  }

  @Test(arguments: 1...12) func packetsNeedNotBeAligned(size: Int) throws {
    var bench = MQTTMachineBench()
    try bench.connect()
    var bytes: [UInt8] = []
    for number in 0..<5 {
      let message = MQTTPacket.Publish(
        topic: "t", payload: Array(repeating: UInt8(number), count: number))
      bytes += try MQTTPacket(.publish(message), version: .v3_1_1).encoded()
    }
    for start in stride(from: 0, to: bytes.count, by: size) {
      bench.handle(.binary(Array(bytes[start..<min(start + size, bytes.count)])))
    }
    let payloads = bench.told.compactMap { event -> [UInt8]? in
      if case .message(let message) = event { message.payload } else { nil }
    }
    #expect(payloads == (0..<5).map { Array(repeating: UInt8($0), count: $0) })
  }

  @Test func exchangesOfEachQoSEndOnce() throws {
    var bench = MQTTMachineBench()
    try bench.connect()
    let ids = try QoS.allCases.map { qos throws(DataClientError) in
      try bench.perform(.publish(Message(topic: "t", payload: [], qos: qos)))
    }
    #expect(bench.told == [.published(ids[0])])
    try bench.receive(.acknowledgement(.puback, packetID: 1, .init()))
    try bench.receive(.acknowledgement(.puback, packetID: 1, .init()))
    // What is no answer to a message of QoS 2 settles none.
    try bench.receive(.acknowledgement(.puback, packetID: 2, .init()))
    try bench.receive(.acknowledgement(.pubrec, packetID: 2, .init()))
    try bench.receive(.acknowledgement(.pubcomp, packetID: 2, .init()))
    #expect(bench.told == ids.map { .published($0) })
    #expect(bench.exchanges == ["PUBLISH 0", "PUBLISH 1", "PUBLISH 2", "PUBREL 2"])
  }

  @Test func aMessageOfQoS2ComesOnce() throws {
    var bench = MQTTMachineBench()
    try bench.connect(Self.kept)
    let publish = MQTTPacket.Publish(topic: "t", payload: [1], qos: 2, packetID: 5)
    try bench.receive(.publish(publish), .publish(publish))
    #expect(bench.told.count == 1)
    // The session goes on, and the server sends it again.
    bench.lose()
    try bench.connect(Self.kept, present: true)
    try bench.receive(.publish(publish), .acknowledgement(.pubrel, packetID: 5, .init()))
    #expect(bench.told.isEmpty)
    #expect(bench.exchanges == ["PUBREC 5", "PUBCOMP 5"])
    // The identifier is free for another one.
    try bench.receive(.publish(publish))
    #expect(bench.told.count == 1)
  }

  @Test func whatIsUnsettledIsSentAgain() throws {
    var bench = MQTTMachineBench()
    try bench.connect(Self.kept)
    let ids = try [QoS.exactlyOnce, .atLeastOnce, .exactlyOnce].map { qos throws(DataClientError) in
      try bench.perform(.publish(Message(topic: "t", payload: [], qos: qos)))
    }
    try bench.receive(.acknowledgement(.pubrec, packetID: 3, .init()))
    bench.lose()
    try bench.connect(Self.kept, present: true)
    #expect(bench.exchanges == ["PUBLISH 1 dup", "PUBLISH 2 dup", "PUBREL 3"])
    try bench.receive(
      .acknowledgement(.pubcomp, packetID: 3, .init()),
      .acknowledgement(.puback, packetID: 2, .init()))
    #expect(bench.told == [.published(ids[2]), .published(ids[1])])
    // A server that forgot the session has nothing to be told again.
    bench.lose()
    try bench.connect(Self.kept, present: false)
    #expect(bench.exchanges.isEmpty)
  }

  @Test func onlySoManyMessagesAreUnderWay() throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect(ConnectOptions(), [MQTTProperty(.receiveMaximum, .integer(2))])
    for _ in 0..<5 {
      try bench.perform(.publish(Message(topic: "t", payload: [], qos: .atLeastOnce)))
    }
    try bench.perform(.subscribe([Subscription("x")]))
    #expect(bench.sent.count == 2)
    for id in 1...3 { try bench.receive(.acknowledgement(.puback, packetID: UInt16(id), .init())) }
    #expect(bench.exchanges.count == 5)
    // What was asked for later is not earlier on the wire.
    guard case .subscribe = bench.sent.last?.content else {
      Issue.record("\(bench.sent)")
      return
    }
  }

  @Test func tooMuchIsRefused() throws {
    var bench = MQTTMachineBench(limit: Load(count: 3, bytes: 1_000_000))
    try bench.connect()
    let message = Message(topic: "t", payload: [], qos: .atLeastOnce)
    for _ in 0..<3 { try bench.perform(.publish(message)) }
    let error = #expect(throws: DataClientError.self) { try bench.perform(.publish(message)) }
    #expect(error?.code == .transport)
    try bench.receive(.acknowledgement(.puback, packetID: 1, .init()))
    try bench.perform(.publish(message))
  }

  @Test func refusalsAreTold() throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect()
    let one = try bench.perform(.publish(Message(topic: "t", payload: [], qos: .atLeastOnce)))
    let two = try bench.perform(.publish(Message(topic: "t", payload: [], qos: .exactlyOnce)))
    let three = try bench.perform(.unsubscribe(["a", "b"]))
    let four = try bench.perform(.subscribe([Subscription("a"), Subscription("b")]))
    let why = [MQTTProperty(.reasonString, .string("no"))]
    try bench.receive(
      .acknowledgement(.puback, packetID: 1, .init(0x87, properties: why)),
      .acknowledgement(.pubrec, packetID: 2, .init(0x97)),
      .unsuback(packetID: 3, codes: [0, 0x80], []), .suback(packetID: 4, codes: [1, 0x87], []))
    #expect(
      bench.told == [
        .failed(one, .refused(code: 0x87, reason: "no")),
        .failed(two, .refused(code: 0x97, reason: nil)),
        .failed(three, .refused(code: 0x80, reason: nil)), .subscribed(four, [.atLeastOnce, nil]),
      ])
  }

  // MARK: Time

  @Test func keepsTheConnectionAlive() throws {
    var bench = MQTTMachineBench()
    try bench.connect(ConnectOptions(keepAlive: 10))
    #expect(bench.machine.deadline == bench.now.advanced(by: .seconds(10)))
    bench.pass(.seconds(4))
    try bench.perform(.publish(Message(topic: "t", payload: [])))
    bench.pass(.seconds(6))
    #expect(bench.sent.count == 1)
    bench.pass(.seconds(4))
    #expect(bench.sent.last?.content == .pingreq)
    try bench.receive(.pingresp)
    bench.pass(.seconds(10))
    #expect(bench.sent.count == 3 && bench.closes == 0)
    bench.pass(.seconds(10))
    #expect(bench.closes == 1 && bench.machine.deadline == nil)
    bench.handle(.closed(.byUser))
    guard case .closed(.lost(let reason)) = bench.told.last else {
      Issue.record("\(bench.told)")
      return
    }
    #expect(reason == "s: the server did not answer within the keep-alive time")
  }

  @Test func theServerMayWantAnotherKeepAlive() throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect(ConnectOptions(keepAlive: 0), [MQTTProperty(.serverKeepAlive, .integer(3))])
    #expect(bench.machine.deadline == bench.now.advanced(by: .seconds(3)))
    var other = MQTTMachineBench()
    try other.connect(ConnectOptions(keepAlive: 0))
    #expect(other.machine.deadline == nil)
  }

  @Test func aServerThatNeverAnswersIsLeft() throws {
    var bench = MQTTMachineBench()
    try bench.perform(.connect(ConnectOptions()))
    bench.handle(.connected(.init()))
    bench.pass(.seconds(29))
    #expect(bench.closes == 0)
    bench.pass(.seconds(1))
    #expect(bench.closes == 1)
  }

  @Test func leavesBehindWhatWaits() throws {
    var bench = MQTTMachineBench()
    try bench.connect()
    let id = try bench.perform(.publish(Message(topic: "t", payload: [], qos: .atLeastOnce)))
    try bench.perform(.disconnect)
    #expect(bench.closes == 0)
    #expect(throws: DataClientError.self) { try bench.perform(.disconnect) }
    try bench.receive(.acknowledgement(.puback, packetID: 1, .init()))
    #expect(bench.sent.last?.content == .disconnect(.init()) && bench.closes == 1)
    bench.handle(.closed(.byUser))
    #expect(bench.told == [.published(id), .closed(.byUser)])
  }

  @Test func leavesInTheEndAllTheSame() throws {
    var bench = MQTTMachineBench()
    try bench.connect()
    try bench.perform(.publish(Message(topic: "t", payload: [], qos: .atLeastOnce)))
    try bench.perform(.disconnect)
    bench.pass(.seconds(5))
    #expect(bench.closes == 1)
    bench.handle(.closed(.byUser))
    #expect(bench.told == [.closed(.byUser)])
  }

  // MARK: Servers that do not keep to the protocol

  @Test(
    arguments: [
      .text("no"), .binary([0x20, 2, 0, 0]), .binary([0x82, 0]), .binary([0xC0, 0]),
      .binary([0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), .binary([0x36, 3, 0, 1, 0x61]),
      .binary([0xE0, 0]),
    ] as [ClientEvent])
  func theConnectionIsGivenUp(_ event: ClientEvent) throws {
    var bench = MQTTMachineBench()
    try bench.connect()
    bench.handle(event)
    #expect(bench.closes == 1)
    bench.handle(.binary([0x30, 3, 0, 1, 0x61]))
    bench.handle(.closed(.byUser))
    #expect(bench.told.count == 1)
    guard case .closed(.lost) = bench.told.first else {
      Issue.record("\(bench.told)")
      return
    }
    try bench.connect()
  }

  @Test func refusedConnectionsAreClosed() throws {
    var bench = MQTTMachineBench()
    try bench.perform(.connect(ConnectOptions()))
    bench.handle(.connected(.init()))
    try bench.receive(.connack(.init(code: 5)))
    #expect(bench.closes == 1 && bench.told.isEmpty)
    bench.handle(.closed(.byUser))
    #expect(bench.told == [.closed(.refused(code: 5))])
  }

  @Test func theServersFarewellIsTold() throws {
    var bench = MQTTMachineBench(.v5_0)
    try bench.connect()
    try bench.receive(.disconnect(.init(0x8E)))
    bench.handle(.closed(.byUser))
    guard case .closed(.byServer(code: 0x8E, let reason)) = bench.told.first else {
      Issue.record("\(bench.told)")
      return
    }
    #expect(reason.contains("session taken over"))
  }
}
