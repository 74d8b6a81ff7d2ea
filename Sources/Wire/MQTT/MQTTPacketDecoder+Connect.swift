extension MQTTPacketDecoder {
  /// Reads a CONNECT; the level that it names is the version of the rest.
  mutating func decodeConnect() -> MQTTConnectLayout {
    var connect = MQTTConnectLayout()
    let isHeaderWhole = readConnectHeader(&connect)
    checkHeader(.connect)
    if isHeaderWhole { readConnectPayload(&connect) }
    return connect
  }

  private mutating func readConnectHeader(_ connect: inout MQTTConnectLayout) -> Bool {
    guard let name = readText(.protocolName) else { return false }
    connect.protocolName = name
    guard let level = cursor.readByte() else { return cut(.protocolLevel) }
    connect.protocolLevel = level
    checkProtocol(name, level: level)
    guard let flags = cursor.readByte() else { return cut(.connectFlags) }
    connect.flags = flags
    checkConnectFlags(flags, at: cursor.offset - 1)
    guard let keepAlive = cursor.readUInt16() else { return cut(.keepAlive) }
    connect.keepAlive = keepAlive
    return true
  }

  private mutating func cut(_ field: MQTTField) -> Bool {
    noteCut(field)
    return false
  }

  private mutating func checkProtocol(_ name: ByteRange, level: UInt8) {
    let bytes = cursor.bytes.part(name)
    let isMQTT = bytes.equals("MQTT")
    let isMQIsdp = bytes.equals("MQIsdp")
    // Bit 7 of the level marks the bridges of mosquitto; the version stands in the other bits.
    let known = MQTTVersion(rawValue: level & 0x7F)
    if let known { version = known }
    if !isMQTT, !isMQIsdp {
      note(.unknownProtocolName, .protocolName, at: Int(name.start))
    } else if known == nil || (known == .v3_1) != isMQIsdp {
      note(.unknownProtocolLevel, .protocolLevel, at: cursor.offset - 1)
    }
  }

  private mutating func checkConnectFlags(_ flags: UInt8, at offset: Int) {
    let hasWill = flags & 0b100 != 0
    let willQoS = flags >> 3 & 0b11
    if flags & 1 != 0, version != .v3_1 { note(.reservedConnectFlag, .connectFlags, at: offset) }
    if willQoS == 3 { note(.invalidQoS, .connectFlags, at: offset) }
    if !hasWill, willQoS != 0 { note(.willQoSWithoutWill, .connectFlags, at: offset) }
    if !hasWill, flags & 0b10_0000 != 0 { note(.willRetainWithoutWill, .connectFlags, at: offset) }
    if version.rules.passwordNeedsUserName, flags & 0b1100_0000 == 0b0100_0000 {
      note(.passwordWithoutUserName, .connectFlags, at: offset)
    }
  }

  /// Reads the payload in its fixed order (MQTT 3.1.1 section 3.1.3).
  private mutating func readConnectPayload(_ connect: inout MQTTConnectLayout) {
    if version.rules.hasProperties {
      guard readProperties(.connect) else { return }
    }
    guard let clientID = readText(.clientID) else { return }
    connect.clientID = clientID
    checkClientID(clientID, cleanStart: connect.flags & 0b10 != 0)
    if connect.flags & 0b100 != 0, !readWill(&connect) { return }
    if connect.flags & 0b1000_0000 != 0 {
      guard let username = readText(.username) else { return }
      connect.username = username
    }
    if connect.flags & 0b100_0000 != 0 {
      guard let password = cursor.readPrefixed() else { return noteCut(.password) }
      connect.password = password
    }
  }

  private mutating func checkClientID(_ range: ByteRange, cleanStart: Bool) {
    if range.count == 0 {
      // MQTT 3.1 section 3.1 asks for 1 to 23 characters, whatever the session.
      if version == .v3_1 || (version.rules.emptyClientIDNeedsCleanStart && !cleanStart) {
        note(.emptyClientID, .clientID, at: Int(range.start) - 2)
      }
    } else if version == .v3_1, range.count > 23 {
      note(.longClientID, .clientID, at: Int(range.start))
    }
  }

  private mutating func readWill(_ connect: inout MQTTConnectLayout) -> Bool {
    if version.rules.hasProperties {
      guard let properties = findProperties(.will, .willProperties) else { return false }
      connect.willProperties = properties.range
      connect.willPropertySet = properties.set
    }
    guard let topic = readText(.willTopic, isTopic: true) else { return false }
    connect.willTopic = topic
    if topic.count == 0 { note(.emptyTopic, .willTopic, at: Int(topic.start) - 2) }
    guard let payload = cursor.readPrefixed() else { return cut(.willPayload) }
    connect.willPayload = payload
    return true
  }
}

extension RawSpan {
  /// Tells whether the bytes are those of some ASCII text.
  public func equals(_ text: StaticString) -> Bool {
    guard byteCount == text.utf8CodeUnitCount else { return false }
    return withUnsafeBytes { bytes in
      text.withUTF8Buffer { bytes.elementsEqual($0) }
    }
  }

  /// Tells whether the bytes are those of another span.
  package func equals(_ other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    var offset = 0
    while byteCount - offset >= 8 {
      guard
        unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
          == other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      else { return false }
      offset += 8
    }
    while offset < byteCount {
      guard byte(at: offset) == other.byte(at: offset) else { return false }
      offset += 1
    }
    return true
  }

  /// Whether they begin with an ASCII character.
  @inline(__always)
  package func begins(with character: Unicode.Scalar) -> Bool {
    byteCount > 0 && byte(at: 0) == UInt8(ascii: character)
  }
}
