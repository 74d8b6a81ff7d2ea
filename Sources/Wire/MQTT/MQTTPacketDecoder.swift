/// Finds the fields of one packet and notes what they break.
///
/// It never stops at a fault that leaves the next field findable.
struct MQTTPacketDecoder: ~Escapable {
  var cursor: ByteCursor
  let header: MQTTFixedHeader
  /// The version whose rules apply; a CONNECT sets it.
  var version: MQTTVersion
  var layout = MQTTPacketLayout()
  /// Whether all bytes of the packet are there; where not, a field that is cut is no fault.
  let isComplete: Bool

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, header: MQTTFixedHeader, version: MQTTVersion) {
    cursor = ByteCursor(bytes, from: header.size, to: header.packetSize)
    self.header = header
    self.version = version
    isComplete = bytes.byteCount >= header.packetSize
  }

  mutating func decode() {
    let type = header.type
    if type != .connect { checkHeader(type) }
    switch type {
    case .publish: decodePublish()
    case .connect:
      _ = decodeConnect()
      return expectEnd()
    case .connack: decodeConnack()
    case .puback, .pubrec, .pubrel, .pubcomp: decodeAcknowledgement(type)
    case .subscribe, .unsubscribe: decodeRequest(type)
    case .suback, .unsuback: decodeAnswer(type)
    case .pingreq, .pingresp: expectEnd()
    case .disconnect: decodeReason(type)
    case .auth:
      guard version.rules.hasAuth else { return }
      decodeReason(type)
    case .reserved: layout.rest = cursor.readRest()
    }
  }

  // MARK: Notes

  mutating func note(
    _ code: MQTTFault.Code, _ field: MQTTField, at offset: Int? = nil,
    of property: MQTTPropertyID? = nil
  ) {
    let fault = MQTTFault(code, in: field, at: offset ?? cursor.offset, of: property)
    guard layout.faults.count >= MQTTPacketLayout.mostFaults else {
      return layout.faults.append(fault)
    }
    // Of each kind the first is there, however late it comes, because rules ask for kinds.
    let isKnown = layout.faults.contains {
      $0.code == code && $0.field == field && $0.property == property
    }
    if isKnown { layout.moreFaults += 1 } else { layout.faults.append(fault) }
  }

  /// Notes that a field is cut, unless it is the capture that cut it.
  mutating func noteCut(_ field: MQTTField) {
    if isComplete { note(.fieldCut, field) }
    cursor.skip(cursor.remaining)
  }

  mutating func expectEnd() {
    if !cursor.isAtEnd { note(.trailingBytes, .payload) }
  }

  mutating func checkHeader(_ type: MQTTPacketType) {
    let rules = version.rules
    if type == .reserved || (type == .auth && !rules.hasAuth) {
      note(.reservedType, .fixedHeader, at: 0)
    } else if rules.fixesHeaderFlags, let flags = type.requiredFlags, header.flags != flags {
      note(.reservedFlags, .fixedHeader, at: 0)
    }
    if rules.requiresShortestLength, !header.isShortest {
      note(.lengthNotShortest, .remainingLength, at: 1)
    }
  }

  // MARK: Fields

  /// Reads a string and checks its text.
  mutating func readText(_ field: MQTTField, isTopic: Bool = false) -> ByteRange? {
    guard let range = cursor.readPrefixed() else {
      noteCut(field)
      return nil
    }
    check(range, field, isTopic: isTopic)
    return range
  }

  @inline(__always)
  mutating func check(
    _ range: ByteRange, _ field: MQTTField, isTopic: Bool, of property: MQTTPropertyID? = nil
  ) {
    let scan = TextScan(cursor.bytes.part(range))
    if scan.invalidUTF8 == nil, scan.null == nil, scan.wildcard == nil { return }
    let start = Int(range.start)
    if let offset = scan.invalidUTF8 {
      note(.invalidUTF8, field, at: start + offset, of: property)
    }
    if let offset = scan.null { note(.nullCharacter, field, at: start + offset, of: property) }
    if isTopic, let offset = scan.wildcard {
      note(.wildcardInTopic, field, at: start + offset, of: property)
    }
  }

  mutating func readPacketID() -> Bool {
    guard let id = cursor.readUInt16() else {
      noteCut(.packetID)
      return false
    }
    layout.packetID = id
    if id == 0 { note(.zeroPacketID, .packetID, at: cursor.offset - 2) }
    return true
  }

  // MARK: Packets

  mutating func decodePublish() {
    let qos = header.firstByte >> 1 & 0b11
    if qos == 3 { note(.invalidQoS, .fixedHeader, at: 0) }
    if qos == 0, header.firstByte & 0b1000 != 0 { note(.dupAtQoS0, .fixedHeader, at: 0) }
    guard let topic = readText(.topic, isTopic: true) else { return }
    layout.topic = topic
    if qos > 0, !readPacketID() { return }
    if version.rules.hasProperties {
      guard readProperties(.publish) else { return }
    }
    if topic.count == 0 { checkEmptyTopic() }
    layout.rest = cursor.readRest()
  }

  /// An empty topic is a fault, except with a Topic Alias (5.0 section 3.3.2.1), which may stand behind a
  /// property that can't be read.
  private mutating func checkEmptyTopic() {
    let set = layout.propertySet
    if version.rules.allowsEmptyTopic, set.contains(.topicAlias) || !set.isWhole { return }
    note(.emptyTopic, .topic, at: header.size)
  }

  mutating func decodeConnack() {
    guard let flags = cursor.readByte() else { return noteCut(.acknowledgeFlags) }
    layout.acknowledgeFlags = flags
    let reserved: UInt8 = version.rules.hasSessionPresent ? 0xFE : 0
    if flags & reserved != 0 {
      note(.reservedConnackFlags, .acknowledgeFlags, at: cursor.offset - 1)
    }
    guard let code = cursor.readByte() else { return noteCut(.reasonCode) }
    layout.reasonCode = code
    if !MQTTReasonCode.isDefined(code, for: .connack, in: version) {
      note(.unknownReasonCode, .reasonCode, at: cursor.offset - 1)
    }
    if version.rules.hasSessionPresent, code != 0, flags & 1 != 0 {
      note(.sessionPresentOnRefusal, .acknowledgeFlags, at: cursor.offset - 2)
    }
    if version.rules.hasProperties {
      guard readProperties(.connack) else { return }
    }
    expectEnd()
  }

  mutating func decodeAcknowledgement(_ type: MQTTPacketType) {
    guard readPacketID() else { return }
    guard version.rules.hasProperties else { return expectEnd() }
    decodeReason(type)
  }

  /// Reads a reason code and properties, each of which 5.0 lets be left out at the end.
  mutating func decodeReason(_ type: MQTTPacketType) {
    guard version.rules.hasProperties else { return expectEnd() }
    guard let code = cursor.readByte() else {
      layout.impliesSuccess = isComplete
      return
    }
    layout.reasonCode = code
    if !MQTTReasonCode.isDefined(code, for: type, in: version) {
      note(.unknownReasonCode, .reasonCode, at: cursor.offset - 1)
    }
    guard !cursor.isAtEnd else { return }
    guard readProperties(.init(type)) else { return }
    expectEnd()
  }

  mutating func decodeRequest(_ type: MQTTPacketType) {
    guard readPacketID() else { return }
    if version.rules.hasProperties {
      guard readProperties(.init(type)) else { return }
    }
    let start = cursor.offset
    if cursor.isAtEnd {
      if isComplete { note(.emptyList, .filter) }
    } else {
      while !cursor.isAtEnd, readFilter(withOptions: type == .subscribe) {}
    }
    layout.rest = ByteRange(start..<cursor.end)
  }

  mutating func decodeAnswer(_ type: MQTTPacketType) {
    guard readPacketID() else { return }
    if version.rules.hasProperties {
      guard readProperties(.init(type)) else { return }
    }
    guard type == .suback || version.rules.unsubackHasReasonCodes else { return expectEnd() }
    if cursor.isAtEnd, isComplete { note(.emptyList, .reasonCode) }
    let start = cursor.offset
    while let code = cursor.readByte() {
      if !MQTTReasonCode.isDefined(code, for: type, in: version) {
        note(.unknownReasonCode, .reasonCode, at: cursor.offset - 1)
      }
    }
    layout.rest = ByteRange(start..<cursor.end)
  }
}
