/// Why a packet can't be encoded.
public enum MQTTEncodingError: Error, Sendable, Hashable {
  /// A string or binary field is longer than the 65,535 bytes that its length can say.
  case fieldTooLong(MQTTField, bytes: Int)
  /// The packet is larger than the 268,435,455 bytes that the Remaining Length can say.
  case packetTooLarge(bytes: Int)
  /// A property has a value of another kind than its identifier asks for.
  case wrongPropertyValue(MQTTPropertyID)
}

extension MQTTPacket {
  /// Encodes the packet.
  ///
  /// Rules that a receiver would judge, such as a QoS of 3, are not checked: what is asked for is
  /// written, so that tests can provoke.
  /// - Returns: The bytes of the whole packet.
  /// - Throws: ``MQTTEncodingError`` for what the format can't express.
  public func encoded() throws(MQTTEncodingError) -> [UInt8] {
    var body = PacketWriter()
    let firstByte = try write(into: &body)
    guard body.bytes.count <= VariableByteInteger.maximum else {
      throw .packetTooLarge(bytes: body.bytes.count)
    }
    var result: [UInt8] = [firstByte]
    result.reserveCapacity(body.bytes.count + 5)
    VariableByteInteger.append(body.bytes.count, to: &result, size: lengthSize)
    result += body.bytes
    return result
  }

  /// Writes what follows the fixed header and returns the first byte.
  private func write(into body: inout PacketWriter) throws(MQTTEncodingError) -> UInt8 {
    let has = version.rules.hasProperties
    let dupFlag: UInt8 = dup ? 0b1000 : 0
    switch content {
    case .connect(let connect):
      try body.write(connect, version: version)
      return first(.connect)
    case .connack(let connack):
      body.bytes.append(connack.sessionPresent ? 1 : 0)
      body.bytes.append(connack.code)
      if has { try body.write(connack.properties) }
      return first(.connack)
    case .publish(let publish):
      try body.write(publish.topic, .topic)
      if publish.qos & 0b11 != 0 { body.write(publish.packetID) }
      if has { try body.write(publish.properties) }
      body.bytes += publish.payload
      return first(.publish, dupFlag | (publish.qos & 0b11) << 1 | (publish.retain ? 1 : 0))
    case .acknowledgement(let type, let packetID, let reason):
      body.write(packetID)
      if has { try body.write(reason) }
      return first(type, type == .pubrel ? 0b0010 | dupFlag : 0)
    case .subscribe(let packetID, let subscriptions, let properties):
      body.write(packetID)
      if has { try body.write(properties) }
      for subscription in subscriptions {
        try body.write(subscription.filter, .filter)
        body.bytes.append(subscription.options)
      }
      return first(.subscribe, 0b0010 | dupFlag)
    case .unsubscribe(let packetID, let filters, let properties):
      body.write(packetID)
      if has { try body.write(properties) }
      for filter in filters { try body.write(filter, .filter) }
      return first(.unsubscribe, 0b0010 | dupFlag)
    case .suback(let packetID, let codes, let properties):
      body.write(packetID)
      if has { try body.write(properties) }
      body.bytes += codes
      return first(.suback)
    case .unsuback(let packetID, let codes, let properties):
      body.write(packetID)
      if has { try body.write(properties) }
      if version.rules.unsubackHasReasonCodes { body.bytes += codes }
      return first(.unsuback)
    case .pingreq: return first(.pingreq)
    case .pingresp: return first(.pingresp)
    case .disconnect(let reason):
      if has { try body.write(reason) }
      return first(.disconnect)
    case .auth(let reason):
      if has { try body.write(reason) }
      return first(.auth)
    }
  }

  private func first(_ type: MQTTPacketType, _ flags: UInt8 = 0) -> UInt8 {
    type.rawValue << 4 | flags
  }
}

/// Bytes in the making, with the encodings of MQTT 5.0 section 1.5.
private struct PacketWriter {
  var bytes: [UInt8] = []

  mutating func write(_ value: UInt16) {
    bytes.append(UInt8(value >> 8))
    bytes.append(UInt8(value & 0xFF))
  }

  mutating func write(_ text: String, _ field: MQTTField) throws(MQTTEncodingError) {
    try write(Array(text.utf8), field)
  }

  mutating func write(_ data: [UInt8], _ field: MQTTField) throws(MQTTEncodingError) {
    guard let count = UInt16(exactly: data.count) else {
      throw .fieldTooLong(field, bytes: data.count)
    }
    write(count)
    bytes += data
  }

  mutating func write(_ reason: MQTTPacket.Reason) throws(MQTTEncodingError) {
    guard let code = reason.code else { return }
    bytes.append(code)
    if let properties = reason.properties { try write(properties) }
  }

  mutating func write(
    _ connect: MQTTPacket.Connect, version: MQTTVersion
  ) throws(MQTTEncodingError) {
    try write(version.protocolName, .protocolName)
    bytes.append(version.rawValue | (connect.isBridge ? 0x80 : 0))
    var flags: UInt8 = connect.cleanStart ? 0b10 : 0
    if let will = connect.will {
      flags |= 0b100 | (will.qos & 0b11) << 3 | (will.retain ? 0b10_0000 : 0)
    }
    if connect.username != nil { flags |= 0b1000_0000 }
    if connect.password != nil { flags |= 0b100_0000 }
    bytes.append(flags)
    write(connect.keepAlive)
    if version.rules.hasProperties { try write(connect.properties) }
    try write(connect.clientID, .clientID)
    if let will = connect.will {
      if version.rules.hasProperties { try write(will.properties) }
      try write(will.topic, .willTopic)
      try write(will.payload, .willPayload)
    }
    if let username = connect.username { try write(username, .username) }
    if let password = connect.password { try write(password, .password) }
  }

  mutating func write(_ properties: [MQTTProperty]) throws(MQTTEncodingError) {
    var inner = PacketWriter()
    for property in properties { try inner.write(property) }
    guard inner.bytes.count <= VariableByteInteger.maximum else {
      throw .fieldTooLong(.properties, bytes: inner.bytes.count)
    }
    VariableByteInteger.append(inner.bytes.count, to: &bytes)
    bytes += inner.bytes
  }

  mutating func write(_ property: MQTTProperty) throws(MQTTEncodingError) {
    bytes.append(property.id.rawValue)
    switch (property.id.kind, property.value) {
    case (.byte, .integer(let value)) where (0...0xFF).contains(value):
      bytes.append(UInt8(value))
    case (.twoByteInteger, .integer(let value)) where (0...0xFFFF).contains(value):
      write(UInt16(value))
    case (.fourByteInteger, .integer(let value)) where (0...0xFFFF_FFFF).contains(value):
      write(UInt16(value >> 16))
      write(UInt16(value & 0xFFFF))
    case (.variableByteInteger, .integer(let value))
    where (0...VariableByteInteger.maximum).contains(value):
      VariableByteInteger.append(value, to: &bytes)
    case (.string, .string(let text)): try write(text, .properties)
    case (.binary, .binary(let data)): try write(data, .properties)
    case (.stringPair, .pair(let name, let value)):
      try write(name, .properties)
      try write(value, .properties)
    default: throw .wrongPropertyValue(property.id)
    }
  }
}
