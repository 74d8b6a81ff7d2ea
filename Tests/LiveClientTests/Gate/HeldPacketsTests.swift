import RepriseCore
import Testing
import Wire

@testable import Gates

/// Which answers of a broker wait, and what lets them through, without a socket.
@Suite struct HeldPacketsTests {
  /// A valve that has taken packets, and what passed.
  private struct Bench {
    var held = HeldPackets(isPassing: false)
    var passed: [UInt8] = []

    mutating func take(_ packets: MQTTPacket...) throws {
      for packet in packets {
        let bytes = try packet.encoded()
        let span = bytes.span.bytes
        guard case .header(let header) = MQTTFixedHeader.read(span) else { continue }
        let view = MQTTPacketView(span, header: header, version: packet.version)
        if held.passes(view) { passed += bytes }
      }
    }
  }

  private static func packet(_ content: MQTTPacket.Content) -> MQTTPacket {
    MQTTPacket(content, version: .v3_1_1)
  }

  private static let connack = packet(.connack(.init()))
  private static let publish = packet(.publish(.init(topic: "a", payload: [1])))
  private static let pingresp = packet(.pingresp)

  private static func suback(_ id: UInt16, _ codes: UInt8...) -> MQTTPacket {
    packet(.suback(packetID: id, codes: codes, []))
  }

  private static func answer(_ type: MQTTPacketType, _ id: UInt16) -> MQTTPacket {
    packet(.acknowledgement(type, packetID: id, .init()))
  }

  private static func unsuback(_ id: UInt16) -> MQTTPacket {
    packet(.unsuback(packetID: id, codes: [], []))
  }

  @Test(arguments: [
    suback(1, 0), unsuback(1), answer(.puback, 1), answer(.pubrec, 1), answer(.pubcomp, 1),
  ])
  func holdsAnswers(_ packet: MQTTPacket) throws {
    var bench = Bench()
    try bench.take(packet)
    #expect(bench.passed == [])
    #expect(bench.held.byteCount == (try packet.encoded().count))
    #expect(bench.held.pass() == (try packet.encoded()))
    #expect(bench.held.byteCount == 0)
  }

  @Test(arguments: [publish, pingresp, answer(.pubrel, 1)])
  func letsThroughWhatIsNoAnswer(_ packet: MQTTPacket) throws {
    var bench = Bench()
    try bench.take(packet)
    #expect(bench.passed == (try packet.encoded()))
    #expect(bench.held.byteCount == 0)
  }

  @Test func letsNothingThroughBeforeTheConnack() throws {
    var bench = Bench()
    try bench.take(Self.connack, Self.publish, Self.suback(1, 0), Self.pingresp)
    #expect(bench.passed == [])
    #expect(try bench.held.grant(nil) == nil)
    #expect(bench.held.acknowledge() == nil)
    let expected = try [Self.connack, Self.publish, Self.pingresp].flatMap { try $0.encoded() }
    #expect(bench.held.accept() == expected)
    #expect(bench.held.accept() == nil)
    #expect(try bench.held.grant(nil) == Self.suback(1, 0).encoded())
    #expect(bench.held.byteCount == 0)
  }

  @Test func keepsTheOrderOfEachKind() throws {
    var bench = Bench()
    try bench.take(
      Self.answer(.puback, 1), Self.suback(2, 1), Self.unsuback(3), Self.suback(4, 1),
      Self.answer(.puback, 5))
    #expect(try bench.held.grant(nil) == Self.suback(2, 1).encoded())
    #expect(try bench.held.acknowledge() == Self.answer(.puback, 1).encoded())
    #expect(try bench.held.acknowledge() == Self.unsuback(3).encoded())
    #expect(try bench.held.grant(nil) == Self.suback(4, 1).encoded())
    #expect(try bench.held.acknowledge() == Self.answer(.puback, 5).encoded())
    #expect(bench.held.acknowledge() == nil)
    #expect(try bench.held.grant(nil) == nil)
  }

  @Test(arguments: [MQTTVersion.v3_1_1, .v5_0]) func grantsWhatItIsTold(_ version: MQTTVersion)
    throws
  {
    func suback(_ codes: [UInt8]) -> MQTTPacket {
      MQTTPacket(.suback(packetID: 7, codes: codes, []), version: version)
    }
    var bench = Bench()
    try bench.take(suback([1, 1, 1]))
    #expect(throws: DataClientError.self) { try bench.held.grant([.atLeastOnce]) }
    #expect(
      try bench.held.grant([nil, .atMostOnce, .exactlyOnce]) == suback([0x80, 0, 2]).encoded())
  }

  @Test func letsPubcompFollowItsPubrec() throws {
    var bench = Bench()
    try bench.take(Self.answer(.pubrec, 1), Self.answer(.pubrec, 2))
    #expect(try bench.held.acknowledge() == Self.answer(.pubrec, 1).encoded())
    try bench.take(Self.answer(.pubcomp, 2))
    #expect(bench.passed == [])
    try bench.take(Self.answer(.pubcomp, 1))
    #expect(bench.passed == (try Self.answer(.pubcomp, 1).encoded()))
  }

  @Test func waitsForNoPubcompBehindARefusal() throws {
    let refusal = MQTTPacket(
      .acknowledgement(.pubrec, packetID: 1, .init(0x87)), version: .v5_0)
    var bench = Bench()
    try bench.take(refusal)
    #expect(try bench.held.acknowledge() == refusal.encoded())
    try bench.take(Self.answer(.pubcomp, 1))
    #expect(bench.passed == [])
  }

  @Test func letsAcknowledgementsThroughAtTheEnd() throws {
    var bench = Bench()
    try bench.take(Self.suback(1, 0), Self.answer(.puback, 2), Self.answer(.pubrec, 3))
    let expected = try Self.answer(.puback, 2).encoded() + Self.answer(.pubrec, 3).encoded()
    #expect(bench.held.sayGoodbye() == expected)
    try bench.take(Self.answer(.pubcomp, 3), Self.unsuback(4))
    #expect(bench.passed == (try Self.answer(.pubcomp, 3).encoded()))
    var unaccepted = Bench()
    try unaccepted.take(Self.connack)
    #expect(unaccepted.held.sayGoodbye() == [])
    #expect(unaccepted.held.connackCode == 0)
  }

  @Test func changesItsMind() throws {
    var bench = Bench()
    #expect(bench.held.pass() == [])
    try bench.take(Self.connack)
    #expect(bench.passed == (try Self.connack.encoded()))
    bench.held.hold()
    try bench.take(Self.suback(1, 0))
    #expect(try bench.held.grant(nil) == Self.suback(1, 0).encoded())
  }
}
