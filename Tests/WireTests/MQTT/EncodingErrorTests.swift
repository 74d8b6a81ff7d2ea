import Testing
import Wire

/// What the format can't express is an error of the encoder, never a wrong packet.
@Suite struct EncodingErrorTests {
  private static let longest = String(repeating: "x", count: 65_535)
  private static let tooLong = longest + "x"
  private static let tooLongData = Array(tooLong.utf8)

  static let tooLongFields: [(MQTTField, MQTTPacket.Content)] = [
    (.clientID, .connect(.init(clientID: tooLong))),
    (.willTopic, .connect(.init(clientID: "", will: .init(topic: tooLong, payload: [])))),
    (.willPayload, .connect(.init(clientID: "", will: .init(topic: "t", payload: tooLongData)))),
    (.username, .connect(.init(clientID: "", username: tooLong))),
    (.password, .connect(.init(clientID: "", password: tooLongData))),
    (.topic, .publish(.init(topic: tooLong, payload: []))),
    (.filter, .subscribe(packetID: 1, [.init(tooLong, options: 0)], [])),
    (.filter, .unsubscribe(packetID: 1, ["a", tooLong], [])),
    (.properties, .disconnect(.init(0, properties: [.init(.reasonString, .string(tooLong))]))),
    (.properties, .auth(.init(0, properties: [.init(.authenticationData, .binary(tooLongData))]))),
    (.properties, .connack(.init(properties: [.init(.userProperty, .pair("", tooLong))]))),
    (.properties, .connack(.init(properties: [.init(.userProperty, .pair(tooLong, ""))]))),
  ]

  @Test(arguments: tooLongFields.indices) func namesTheFieldThatIsTooLong(_ index: Int) {
    let (field, content) = Self.tooLongFields[index]
    #expect(throws: MQTTEncodingError.fieldTooLong(field, bytes: 65_536)) {
      try MQTTPacket(content, version: .v5_0).encoded()
    }
  }

  @Test func writesTheLongestField() throws {
    let packet = MQTTPacket(.publish(.init(topic: Self.longest, payload: [])), version: .v3_1_1)
    let bytes = try packet.encoded()
    #expect(Array(bytes.prefix(6)) == hex("30 81 80 04 FF FF"))
    #expect(Decoded(bytes, .v3_1_1)?.packet?.content == packet.content)
  }

  @Test func refusesAPacketThatTheLengthCanNotSay() {
    let payload = [UInt8](repeating: 0, count: VariableByteInteger.maximum)
    #expect(throws: MQTTEncodingError.packetTooLarge(bytes: VariableByteInteger.maximum + 3)) {
      try MQTTPacket(.publish(.init(topic: "t", payload: payload)), version: .v3_1_1).encoded()
    }
  }

  /// Every property with a value of every other kind, and with numbers just outside its own.
  @Test(arguments: MQTTPropertyID.allCases) func refusesAWrongValue(_ id: MQTTPropertyID) {
    let wrong: [MQTTProperty.Value] =
      switch id.kind {
      case .byte: [.integer(256), .integer(-1), .string(""), .binary([]), .pair("", "")]
      case .twoByteInteger: [.integer(65_536), .integer(-1), .string("")]
      case .fourByteInteger: [.integer(1 << 32), .integer(-1), .binary([0, 0, 0, 0])]
      case .variableByteInteger: [.integer(268_435_456), .integer(-1), .integer(.max)]
      case .string: [.integer(1), .binary([0x61]), .pair("", "")]
      case .binary: [.integer(1), .string("a"), .pair("", "")]
      case .stringPair: [.integer(1), .string("a"), .binary([])]
      }
    for value in wrong {
      #expect(throws: MQTTEncodingError.wrongPropertyValue(id)) {
        try MQTTPacket(.connack(.init(properties: [.init(id, value)])), version: .v5_0).encoded()
      }
    }
  }

  @Test func leavesOutWhatAVersionDoesNotHave() throws {
    let properties = [MQTTProperty(.userProperty, .pair("a", "b"))]
    let contents: [(MQTTPacket.Content, String)] = [
      (.connack(.init(properties: properties)), "20 02 00 00"),
      (.unsuback(packetID: 1, codes: [0], properties), "B0 02 0001"),
      (.acknowledgement(.puback, packetID: 1, .init(0x10, properties: properties)), "40 02 0001"),
      (.disconnect(.init(0)), "E0 00"),
    ]
    for (content, text) in contents {
      #expect(try MQTTPacket(content, version: .v3_1_1).encoded() == hex(text))
    }
  }
}
