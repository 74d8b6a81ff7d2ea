package import Wire

/// What a server says as the properties of its CONNACK.
extension ServerProperties {
  /// Reads the properties of a CONNACK; others are left out.
  package init(_ properties: some Sequence<MQTTProperty>) {
    for property in properties { take(property) }
  }

  /// Reads the properties of a CONNACK in its bytes.
  init(_ properties: MQTTPropertiesView, in bytes: RawSpan) {
    var rest = properties
    while let property = rest.next() { take(property.copied(from: bytes)) }
  }

  private mutating func take(_ property: MQTTProperty) {
    switch property.value {
    case .integer(let value): take(value, property.id)
    case .string(let text): take(text, property.id)
    case .pair(let name, let value):
      userProperties.append(MessageProperties.UserProperty(name, value))
    case .binary: return
    }
  }

  private mutating func take(_ value: Int, _ id: MQTTPropertyID) {
    switch id {
    case .sessionExpiryInterval: sessionExpiryInterval = UInt32(clamping: value)
    case .serverKeepAlive: keepAlive = UInt16(clamping: value)
    case .receiveMaximum: receiveMaximum = UInt16(clamping: value)
    case .maximumPacketSize: maximumPacketSize = UInt32(clamping: value)
    case .maximumQoS: maximumQoS = QoS(rawValue: UInt8(clamping: value))
    case .retainAvailable: isRetainAvailable = value != 0
    case .wildcardSubscriptionAvailable: isWildcardAvailable = value != 0
    case .sharedSubscriptionAvailable: isSharedAvailable = value != 0
    default: return
    }
  }

  private mutating func take(_ text: String, _ id: MQTTPropertyID) {
    switch id {
    case .assignedClientIdentifier: assignedClientID = text
    case .responseInformation: responseInformation = text
    case .reasonString: reasonString = text
    default: return
    }
  }

  /// The properties as a CONNACK has them, in the order of section 3.2.2.3.
  package var ofPackets: [MQTTProperty] {
    let numbers: [(MQTTPropertyID, Int?)] = [
      (.sessionExpiryInterval, sessionExpiryInterval.map(Int.init)),
      (.receiveMaximum, receiveMaximum.map(Int.init)),
      (.maximumQoS, maximumQoS.map { Int($0.rawValue) }),
      (.retainAvailable, isRetainAvailable.map { $0 ? 1 : 0 }),
      (.maximumPacketSize, maximumPacketSize.map(Int.init)),
    ]
    let rights: [(MQTTPropertyID, Int?)] = [
      (.wildcardSubscriptionAvailable, isWildcardAvailable.map { $0 ? 1 : 0 }),
      (.sharedSubscriptionAvailable, isSharedAvailable.map { $0 ? 1 : 0 }),
      (.serverKeepAlive, keepAlive.map(Int.init)),
    ]
    return Self.list(numbers) + Self.list(.assignedClientIdentifier, assignedClientID)
      + Self.list(.reasonString, reasonString)
      + userProperties.map { MQTTProperty(.userProperty, .pair($0.name, $0.value)) }
      + Self.list(rights) + Self.list(.responseInformation, responseInformation)
  }

  private static func list(_ numbers: [(MQTTPropertyID, Int?)]) -> [MQTTProperty] {
    numbers.compactMap { id, value in value.map { MQTTProperty(id, .integer($0)) } }
  }

  private static func list(_ id: MQTTPropertyID, _ text: String?) -> [MQTTProperty] {
    text.map { [MQTTProperty(id, .string($0))] } ?? []
  }
}
