package import Wire

/// The properties of a message as those of its PUBLISH, or of the will in a CONNECT.
extension MessageProperties {
  /// Reads the properties of a packet; those that are no message's are left out.
  package init(_ properties: some Sequence<MQTTProperty>) {
    self.init()
    for property in properties { take(property) }
  }

  /// Reads the properties of a packet in its bytes.
  init(_ properties: MQTTPropertiesView, in bytes: RawSpan) {
    self.init()
    var rest = properties
    while let property = rest.next() { take(property.copied(from: bytes)) }
  }

  private mutating func take(_ property: MQTTProperty) {
    switch (property.id, property.value) {
    case (.payloadFormatIndicator, .integer(let value)): isText = value == 1
    case (.messageExpiryInterval, .integer(let value)): expiryInterval = UInt32(clamping: value)
    case (.contentType, .string(let text)): contentType = text
    case (.responseTopic, .string(let text)): responseTopic = text
    case (.correlationData, .binary(let bytes)): correlationData = bytes
    case (.userProperty, .pair(let name, let value)):
      userProperties.append(UserProperty(name, value))
    default: return
    }
  }

  /// The properties as a packet has them, in the order of section 3.3.2.3.
  package var ofPackets: [MQTTProperty] {
    guard !isEmpty else { return [] }
    var properties: [MQTTProperty] = []
    if isText { properties.append(MQTTProperty(.payloadFormatIndicator, .integer(1))) }
    if let expiryInterval {
      properties.append(MQTTProperty(.messageExpiryInterval, .integer(Int(expiryInterval))))
    }
    if let responseTopic { properties.append(MQTTProperty(.responseTopic, .string(responseTopic))) }
    if let correlationData {
      properties.append(MQTTProperty(.correlationData, .binary(correlationData)))
    }
    for user in userProperties {
      properties.append(MQTTProperty(.userProperty, .pair(user.name, user.value)))
    }
    if let contentType { properties.append(MQTTProperty(.contentType, .string(contentType))) }
    return properties
  }

  /// How many bytes the properties take in a packet, without their length.
  package var byteCount: Int {
    ofPackets.reduce(0) { count, property in
      switch property.value {
      case .integer: count + (property.id == .messageExpiryInterval ? 5 : 2)
      case .string(let text): count + 3 + text.utf8.count
      case .binary(let bytes): count + 3 + bytes.count
      case .pair(let name, let value): count + 5 + name.utf8.count + value.utf8.count
      }
    }
  }
}
