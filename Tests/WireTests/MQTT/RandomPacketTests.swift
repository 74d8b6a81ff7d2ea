import Testing
import Wire

/// Whatever a packet says and however it is encoded, it comes back byte for byte.
@Suite struct RandomPacketTests {
  @Test(arguments: MQTTVersion.allCases, [UInt64](100..<110))
  func comesBackByteForByte(_ version: MQTTVersion, _ seed: UInt64) throws {
    var maker = RandomPacket(seed: seed << 8 | UInt64(version.rawValue))
    for index in 0..<300 {
      let packet = maker.packet(version)
      let bytes = try packet.encoded()
      let place = Comment(rawValue: "\(version), seed \(seed), packet \(index)")
      let decoded = try #require(Decoded(bytes, version), place)
      #expect(decoded.faults == [], place)
      #expect(decoded.missing == 0 && decoded.version == version, place)
      #expect(decoded.encoded == bytes, place)
      #expect(decoded.packet?.content == packet.content, place)
      #expect(decoded.packet?.dup == packet.dup, place)
    }
  }

  @Test func theMakerMakesEveryTypeAndEveryProperty() throws {
    var maker = RandomPacket(seed: 7)
    var types: Set<MQTTPacketType> = []
    var properties: Set<MQTTPropertyID> = []
    for _ in 0..<600 {
      let bytes = try maker.packet(.v5_0).encoded()
      types.insert(MQTTPacketType(firstByte: bytes[0]))
      let header = try #require(MQTTFixedHeader(of: bytes))
      let view = MQTTPacketView(bytes.span.bytes, header: header, version: .v5_0)
      var found = view.properties
      while let property = found.next() { properties.insert(property.id) }
      guard let connect = view.connect else { continue }
      var will = connect.willProperties
      while let property = will.next() { properties.insert(property.id) }
    }
    #expect(types.count == 15)
    #expect(properties.count == 27)
  }
}
