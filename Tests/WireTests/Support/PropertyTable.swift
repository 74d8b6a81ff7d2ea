import Testing

/// Table 2-4 of MQTT 5.0 as it is printed, written down apart from the sources.
struct PropertyRow: Sendable, CustomTestStringConvertible {
  let identifier: UInt8
  let name: String
  let type: String
  let places: Set<String>

  init(_ identifier: UInt8, _ name: String, _ type: String, _ places: String) {
    self.identifier = identifier
    self.name = name
    self.type = type
    self.places = Set(places.split(separator: " ").map(String.init))
  }

  var testDescription: String { name }

  static let table: [PropertyRow] = [
    .init(0x01, "payloadFormatIndicator", "byte", "PUBLISH WILL"),
    .init(0x02, "messageExpiryInterval", "four", "PUBLISH WILL"),
    .init(0x03, "contentType", "text", "PUBLISH WILL"),
    .init(0x08, "responseTopic", "text", "PUBLISH WILL"),
    .init(0x09, "correlationData", "binary", "PUBLISH WILL"),
    .init(0x0B, "subscriptionIdentifier", "variable", "PUBLISH SUBSCRIBE"),
    .init(0x11, "sessionExpiryInterval", "four", "CONNECT CONNACK DISCONNECT"),
    .init(0x12, "assignedClientIdentifier", "text", "CONNACK"),
    .init(0x13, "serverKeepAlive", "two", "CONNACK"),
    .init(0x15, "authenticationMethod", "text", "CONNECT CONNACK AUTH"),
    .init(0x16, "authenticationData", "binary", "CONNECT CONNACK AUTH"),
    .init(0x17, "requestProblemInformation", "byte", "CONNECT"),
    .init(0x18, "willDelayInterval", "four", "WILL"),
    .init(0x19, "requestResponseInformation", "byte", "CONNECT"),
    .init(0x1A, "responseInformation", "text", "CONNACK"),
    .init(0x1C, "serverReference", "text", "CONNACK DISCONNECT"),
    .init(
      0x1F, "reasonString", "text",
      "CONNACK PUBACK PUBREC PUBREL PUBCOMP SUBACK UNSUBACK DISCONNECT AUTH"),
    .init(0x21, "receiveMaximum", "two", "CONNECT CONNACK"),
    .init(0x22, "topicAliasMaximum", "two", "CONNECT CONNACK"),
    .init(0x23, "topicAlias", "two", "PUBLISH"),
    .init(0x24, "maximumQoS", "byte", "CONNACK"),
    .init(0x25, "retainAvailable", "byte", "CONNACK"),
    .init(
      0x26, "userProperty", "pair",
      "CONNECT CONNACK PUBLISH WILL PUBACK PUBREC PUBREL PUBCOMP SUBSCRIBE SUBACK UNSUBSCRIBE "
        + "UNSUBACK DISCONNECT AUTH"),
    .init(0x27, "maximumPacketSize", "four", "CONNECT CONNACK"),
    .init(0x28, "wildcardSubscriptionAvailable", "byte", "CONNACK"),
    .init(0x29, "subscriptionIdentifierAvailable", "byte", "CONNACK"),
    .init(0x2A, "sharedSubscriptionAvailable", "byte", "CONNACK"),
  ]

  /// Every place with the bytes of a faultless packet around the properties.
  static let packets: [String: (first: UInt8, before: String, after: String)] = [
    "CONNECT": (0x10, "0004 4D515454 05 02 003C", "0001 63"),
    "WILL": (0x10, "0004 4D515454 05 06 003C 00 0001 63", "0001 74 0000"),
    "CONNACK": (0x20, "00 00", ""),
    "PUBLISH": (0x30, "0001 74", "78"),
    "PUBACK": (0x40, "0001 00", ""),
    "PUBREC": (0x50, "0001 00", ""),
    "PUBREL": (0x62, "0001 00", ""),
    "PUBCOMP": (0x70, "0001 00", ""),
    "SUBSCRIBE": (0x82, "0001", "0001 66 00"),
    "SUBACK": (0x90, "0001", "00"),
    "UNSUBSCRIBE": (0xA2, "0001", "0001 66"),
    "UNSUBACK": (0xB0, "0001", "00"),
    "DISCONNECT": (0xE0, "00", ""),
    "AUTH": (0xF0, "18", ""),
  ]

  /// A packet of a place with properties of less than 128 bytes.
  static func packet(_ place: String, _ properties: [UInt8]) -> (bytes: [UInt8], offset: Int) {
    let (first, before, after) = packets[place] ?? (0, "", "")
    let body = hex(before) + [UInt8(properties.count)] + properties + hex(after)
    return ([first, UInt8(body.count)] + body, 2 + hex(before).count + 1)
  }

  /// The property with a value that every place allows.
  var bytes: [UInt8] { [identifier] + value(1) }

  /// The value's bytes; for text, one letter.
  func value(_ number: UInt8) -> [UInt8] {
    switch type {
    case "byte", "variable": [number]
    case "two": [0, number]
    case "four": [0, 0, 0, number]
    case "text", "binary": [0, 1, 0x78]
    default: hex("0001 6B 0001 76")
    }
  }
}
