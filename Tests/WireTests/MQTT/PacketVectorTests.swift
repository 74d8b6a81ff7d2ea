import Testing
import Wire

/// Packets of every type and version beside their bytes.
@Suite struct PacketVectorTests {
  @Test(arguments: PacketVector.all) func decodes(_ vector: PacketVector) throws {
    // The version stated does not matter for a CONNECT, which names its own.
    let isConnect = vector.bytes[0] >> 4 == 1
    let decoded = try #require(Decoded(vector.bytes, isConnect ? .v3_1_1 : vector.version))
    #expect(decoded.faults.isEmpty)
    #expect(decoded.packet == vector.packet)
    #expect(decoded.missing == 0)
  }

  @Test(arguments: PacketVector.all) func encodes(_ vector: PacketVector) throws {
    #expect(try vector.packet.encoded() == vector.bytes)
  }

  @Test func coverEveryTypeInEveryVersion() {
    for version in MQTTVersion.allCases {
      let types = Set(
        PacketVector.all.filter { $0.version == version }.map {
          MQTTPacketType(firstByte: $0.bytes[0])
        })
      let absent: Set<MQTTPacketType> = version == .v5_0 ? [.reserved] : [.reserved, .auth]
      #expect(types == Set(MQTTPacketType.allCases).subtracting(absent), "\(version)")
    }
  }

  /// What 5.0 lets be left out means success (sections 3.4.2.1, 3.14.2.1, 3.15.2.1).
  @Test(arguments: ["40 02 0001", "50 02 0001", "62 02 0001", "70 02 0001", "E0 00", "F0 00"])
  func takesAnAbsentReasonCodeForSuccess(_ text: String) throws {
    let bytes = hex(text)
    let header = try #require(MQTTFixedHeader(of: bytes))
    let view = MQTTPacketView(bytes.span.bytes, header: header, version: .v5_0)
    let explicit = view.explicitReasonCode
    let code = view.reasonCode
    #expect(explicit == nil && code == 0)
  }

  @Test func readsADisconnectOfLengthOne() throws {
    let bytes = hex("E0 01 8E")
    let header = try #require(MQTTFixedHeader(of: bytes))
    let view = MQTTPacketView(bytes.span.bytes, header: header, version: .v5_0)
    let code = view.reasonCode
    let hasProperties = view.hasProperties
    #expect(code == 0x8E && !hasProperties)
  }

  @Test func ordersFaultsByTheirPlaces() throws {
    // Empty topic, then a property of another packet, in a length that is not the shortest.
    let publish = try #require(Decoded(hex("30 86 00 0000 03 21 0001"), .v5_0))
    #expect(publish.faults.map(\.offset) == [1, 3, 6])
    // Flags, the connect flags, and the text of the identifier.
    let connect = try #require(Decoded(hex("11 0D 0004 4D515454 04 03 003C 0001 FF"), .v5_0))
    #expect(connect.faults.map(\.offset) == [0, 9, 14])
    let connack = try #require(Decoded(hex("20 02 01 09"), .v3_1_1))
    #expect(connack.faults.map(\.offset) == [2, 3])
  }
}
