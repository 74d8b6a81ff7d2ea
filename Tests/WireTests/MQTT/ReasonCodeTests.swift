import Testing
import Wire

/// The codes of the packets, by the tables of the standards.
@Suite struct ReasonCodeTests {
  /// Table 2-6 of MQTT 5.0 as it is printed: a code and the packets that use it.
  static let table: [UInt8: String] = [
    0x00: "CONNACK PUBACK PUBREC PUBREL PUBCOMP UNSUBACK AUTH SUBACK DISCONNECT",
    0x01: "SUBACK", 0x02: "SUBACK", 0x04: "DISCONNECT", 0x10: "PUBACK PUBREC",
    0x11: "UNSUBACK", 0x18: "AUTH", 0x19: "AUTH",
    0x80: "CONNACK PUBACK PUBREC SUBACK UNSUBACK DISCONNECT",
    0x81: "CONNACK DISCONNECT", 0x82: "CONNACK DISCONNECT",
    0x83: "CONNACK PUBACK PUBREC SUBACK UNSUBACK DISCONNECT",
    0x84: "CONNACK", 0x85: "CONNACK", 0x86: "CONNACK",
    0x87: "CONNACK PUBACK PUBREC SUBACK UNSUBACK DISCONNECT",
    0x88: "CONNACK", 0x89: "CONNACK DISCONNECT", 0x8A: "CONNACK", 0x8B: "DISCONNECT",
    0x8C: "CONNACK DISCONNECT", 0x8D: "DISCONNECT", 0x8E: "DISCONNECT",
    0x8F: "SUBACK UNSUBACK DISCONNECT", 0x90: "CONNACK PUBACK PUBREC DISCONNECT",
    0x91: "PUBACK PUBREC SUBACK UNSUBACK", 0x92: "PUBREL PUBCOMP", 0x93: "DISCONNECT",
    0x94: "DISCONNECT", 0x95: "CONNACK DISCONNECT", 0x96: "DISCONNECT",
    0x97: "CONNACK PUBACK PUBREC SUBACK DISCONNECT", 0x98: "DISCONNECT",
    0x99: "CONNACK PUBACK PUBREC DISCONNECT", 0x9A: "CONNACK DISCONNECT",
    0x9B: "CONNACK DISCONNECT", 0x9C: "CONNACK DISCONNECT", 0x9D: "CONNACK DISCONNECT",
    0x9E: "SUBACK DISCONNECT", 0x9F: "CONNACK DISCONNECT", 0xA0: "DISCONNECT",
    0xA1: "SUBACK DISCONNECT", 0xA2: "SUBACK DISCONNECT",
  ]

  static let carriers: [MQTTPacketType] = [
    .connack, .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .disconnect, .auth,
  ]

  @Test(arguments: carriers) func areTheOnesOfTheTable(_ type: MQTTPacketType) {
    for code in UInt8.min ... .max {
      let packets = Self.table[code]?.split(separator: " ").map(String.init) ?? []
      #expect(
        MQTTReasonCode.isDefined(code, for: type, in: .v5_0)
          == packets.contains(type.name.description), "\(code)")
    }
  }

  /// Tables 3.1 and section 3.9.3 of MQTT 3.1.1; 3.1 has no failure in SUBACK.
  @Test func areFewBeforeVersion5() {
    for code in UInt8.min ... .max {
      for version in [MQTTVersion.v3_1, .v3_1_1] {
        #expect(MQTTReasonCode.isDefined(code, for: .connack, in: version) == (code <= 5))
        let isFailure = code == 0x80 && version == .v3_1_1
        #expect(
          MQTTReasonCode.isDefined(code, for: .suback, in: version) == (code <= 2 || isFailure))
      }
    }
  }

  @Test(arguments: carriers) func areJudgedInPackets(_ type: MQTTPacketType) throws {
    let name = type.name.description
    for code in UInt8.min ... .max {
      let before = PropertyRow.packets[name]?.first ?? 0
      let body: [UInt8] =
        switch type {
        case .connack: [0, code, 0]
        case .suback, .unsuback: [0, 1, 0, code]
        case .disconnect, .auth: [code]
        default: [0, 1, code]
        }
      let decoded = try #require(Decoded([before, UInt8(body.count)] + body, .v5_0))
      let packets = Self.table[code]?.split(separator: " ").map(String.init) ?? []
      let isDefined = packets.contains(name)
      #expect(decoded.faults.map(\.code) == (isDefined ? [] : [.unknownReasonCode]), "\(code)")
    }
  }
}
