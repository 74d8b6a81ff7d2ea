import Testing
import Wire

/// MQTT 5.0 section 2.2.2 and the sections of the packets.
@Suite struct PropertyTests {
  private static func faults(_ place: String, _ properties: [UInt8]) throws -> [MQTTFault] {
    try #require(Decoded(PropertyRow.packet(place, properties).bytes, .v5_0)).faults
  }

  private static func field(_ place: String) -> MQTTField {
    place == "WILL" ? .willProperties : .properties
  }

  @Test func areTheOnesOfTheTable() {
    #expect(
      Set(MQTTPropertyID.allCases.map(\.rawValue)) == Set(PropertyRow.table.map(\.identifier)))
    #expect(PropertyRow.table.count == 27)
  }

  @Test(arguments: PropertyRow.table) func stateNameAndType(_ row: PropertyRow) throws {
    let id = try #require(MQTTPropertyID(rawValue: row.identifier))
    let kinds: [String: MQTTPropertyID.Kind] = [
      "byte": .byte, "two": .twoByteInteger, "four": .fourByteInteger,
      "variable": .variableByteInteger, "text": .string, "binary": .binary, "pair": .stringPair,
    ]
    #expect(id.name.description == row.name)
    #expect(id.kind == kinds[row.type])
  }

  @Test(arguments: PropertyRow.table) func standOnlyWhereTheTableAllows(_ row: PropertyRow) throws {
    for place in PropertyRow.packets.keys {
      let expected =
        row.places.contains(place)
        ? []
        : [
          MQTTFault(
            .propertyNotAllowed, in: Self.field(place),
            at: PropertyRow.packet(place, row.bytes).offset,
            of: MQTTPropertyID(rawValue: row.identifier))
        ]
      #expect(try Self.faults(place, row.bytes) == expected, "\(place)")
    }
  }

  @Test(arguments: PropertyRow.table) func repeatOnlyWhereTheyMay(_ row: PropertyRow) throws {
    for place in row.places {
      let mayRepeat =
        row.name == "userProperty" || (row.name == "subscriptionIdentifier" && place == "PUBLISH")
      let offset = PropertyRow.packet(place, row.bytes).offset + row.bytes.count
      let expected =
        mayRepeat
        ? []
        : [
          MQTTFault(
            .repeatedProperty, in: Self.field(place), at: offset,
            of: MQTTPropertyID(rawValue: row.identifier))
        ]
      #expect(try Self.faults(place, row.bytes + row.bytes) == expected, "\(place)")
    }
  }

  /// Bytes are 0 or 1 wherever 5.0 has them; some integers must not be 0.
  @Test(arguments: PropertyRow.table) func allowTheValuesOfTheStandard(_ row: PropertyRow) throws {
    let notZero: Set<String> = [
      "subscriptionIdentifier", "receiveMaximum", "topicAlias", "maximumPacketSize",
    ]
    guard ["byte", "two", "four", "variable"].contains(row.type) else { return }
    for place in row.places {
      for value: UInt8 in [0, 1, 2, 127] {
        let isForbidden =
          (row.type == "byte" && value > 1) || (value == 0 && notZero.contains(row.name))
        let faults = try Self.faults(place, [row.identifier] + row.value(value))
        #expect(faults.map(\.code) == (isForbidden ? [.invalidPropertyValue] : []), "\(value)")
      }
    }
  }

  @Test func holdNoWildcardInAResponseTopic() throws {
    let faults = try Self.faults("PUBLISH", hex("08 0003 612F2B"))
    #expect(faults == [MQTTFault(.wildcardInTopic, in: .properties, at: 11, of: .responseTopic)])
    // Other texts may.
    #expect(try Self.faults("PUBLISH", hex("03 0003 612F2B")).isEmpty)
  }

  /// MQTT-1.5.5-1 holds for a Variable Byte Integer that is a value, too.
  @Test(arguments: [("0B 81 00", true), ("0B 80 01", false), ("0B FF 80 00", true)])
  func encodeTheSubscriptionIdentifierShortest(_ text: String, _ isFault: Bool) throws {
    let faults = try Self.faults("PUBLISH", hex(text))
    let fault = MQTTFault(
      .lengthNotShortest, in: .properties, at: 6, of: .subscriptionIdentifier)
    #expect(faults == (isFault ? [fault] : []))
  }

  @Test(arguments: PropertyRow.table) func areFoundCutAtEveryByte(_ row: PropertyRow) throws {
    let place = try #require(row.places.first)
    for count in 1..<row.bytes.count {
      let cut = Array(row.bytes.prefix(count))
      let offset = PropertyRow.packet(place, cut).offset
      let fault = MQTTFault(
        .propertyCut, in: Self.field(place), at: offset,
        of: MQTTPropertyID(rawValue: row.identifier))
      #expect(try Self.faults(place, cut) == [fault])
    }
  }

  @Test func readTheirLengthInAnyEncoding() throws {
    let long = try #require(Decoded(hex("30 05 0001 74 80 00"), .v5_0))
    #expect(long.faults == [MQTTFault(.lengthNotShortest, in: .properties, at: 5)])
    let endless = try #require(Decoded(hex("30 07 0001 74 80 80 80 80"), .v5_0))
    #expect(endless.faults == [MQTTFault(.fieldCut, in: .properties, at: 5)])
    let past = try #require(Decoded(hex("30 05 0001 74 02 26"), .v5_0))
    #expect(past.faults.map(\.code) == [.fieldCut])
  }

  @Test func comeOutAsTheyStand() throws {
    let properties = PropertyRow.table.filter { $0.places.contains("CONNACK") }.flatMap(\.bytes)
    let packet = try #require(Decoded(PropertyRow.packet("CONNACK", properties).bytes, .v5_0))
      .packet
    guard case .connack(let connack) = packet?.content else {
      Issue.record("no CONNACK")
      return
    }
    let expected = PropertyRow.table.filter { $0.places.contains("CONNACK") }.map(\.identifier)
    #expect(connack.properties.map(\.id.rawValue) == expected)
    #expect(connack.properties.contains(.init(.userProperty, .pair("k", "v"))))
    #expect(connack.properties.contains(.init(.authenticationData, .binary([0x78]))))
    #expect(connack.properties.contains(.init(.maximumPacketSize, .integer(1))))
  }
}
