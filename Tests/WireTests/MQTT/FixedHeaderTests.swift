import Testing
import Wire

/// MQTT 5.0 section 2.1 and MQTT 3.1.1 section 2.2.
@Suite struct FixedHeaderTests {
  @Test(arguments: [
    ("C0 00", 0xC0, 2, 0), ("30 7F", 0x30, 2, 127), ("30 80 01", 0x30, 3, 128),
    ("3D FF FF FF 7F", 0x3D, 5, 268_435_455), ("E0 80 80 80 00", 0xE0, 5, 0),
  ]) func readsHeader(_ text: String, _ first: UInt8, _ size: Int, _ length: Int) {
    let header = MQTTFixedHeader(firstByte: first, size: size, remainingLength: length)
    #expect(hex(text).header() == .header(header))
    #expect((hex("AA") + hex(text)).header(at: 1) == .header(header))
    #expect(header.packetSize == size + length)
    #expect(header.flags == first & 0x0F)
  }

  @Test(arguments: ["", "30", "30 80", "30 80 80", "30 80 80 80"])
  func asksForMore(_ text: String) {
    #expect(hex(text).header() == .needMore)
  }

  @Test func refusesFifthLengthByte() {
    #expect(hex("30 80 80 80 80 01").header() == .malformedLength)
  }

  @Test(arguments: [-1, 2, 3, Int.max]) func readsNothingOutsideTheSpan(_ offset: Int) {
    #expect(hex("C0 00").header(at: offset) == .needMore)
  }

  @Test(arguments: [
    ("30 00", true), ("30 80 00", false), ("30 7F", true), ("30 FF 00", false),
    ("30 80 80 01", true), ("30 FF FF 00", false),
  ]) func knowsTheShortestLength(_ text: String, _ isShortest: Bool) throws {
    let header = try #require(MQTTFixedHeader(of: hex(text)))
    #expect(header.isShortest == isShortest)
  }

  @Test func namesEveryType() {
    let names = [
      "RESERVED", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP",
      "SUBSCRIBE", "SUBACK", "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH",
    ]
    for (value, name) in names.enumerated() {
      let type = MQTTPacketType(firstByte: UInt8(value << 4 | 0x0A))
      #expect(type.name.description == name && Int(type.rawValue) == value)
    }
  }

  /// MQTT 5.0 table 2-2: every flag value of every type but PUBLISH, in every version.
  @Test(arguments: MQTTVersion.allCases) func knowsTheRequiredFlags(_ version: MQTTVersion) throws {
    for type in UInt8(1)...15 where type != 3 {
      let required: UInt8 = [6, 8, 10].contains(type) ? 2 : 0
      for flags in UInt8(0)...15 {
        let decoded = try #require(Decoded([type << 4 | flags, 2, 0, 1], version))
        // A CONNECT cut after its first bytes is judged by the version that the caller states.
        let isFault = decoded.faults.contains { $0.code == .reservedFlags }
        let isReserved = type == 15 && version != .v5_0
        #expect(isFault == (version != .v3_1 && flags != required && !isReserved))
      }
    }
  }
}
