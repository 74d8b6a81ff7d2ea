extension MQTTPacketDecoder {
  // MARK: Filters

  /// Reads one filter; false when it is cut and nothing can follow.
  mutating func readFilter(withOptions: Bool) -> Bool {
    guard let range = readText(.filter) else { return false }
    if range.count == 0 {
      note(.emptyTopic, .filter, at: Int(range.start) - 2)
    } else {
      checkWildcards(range)
    }
    guard withOptions else { return true }
    guard let options = cursor.readByte() else {
      noteCut(.subscriptionOptions)
      return false
    }
    checkOptions(options, of: range, at: cursor.offset - 1)
    return true
  }

  private mutating func checkWildcards(_ range: ByteRange) {
    let text = cursor.bytes.part(range)
    let start = Int(range.start)
    switch MQTTTopicFilter.check(text) {
    case .valid: break
    case .misplacedMultiLevel(let offset):
      note(.misplacedMultiLevelWildcard, .filter, at: start + offset)
    case .misplacedSingleLevel(let offset):
      note(.misplacedSingleLevelWildcard, .filter, at: start + offset)
    }
  }

  private mutating func checkOptions(_ options: UInt8, of filter: ByteRange, at offset: Int) {
    let reserved: UInt8 = version.rules.hasProperties ? 0b1100_0000 : 0b1111_1100
    if options & reserved != 0 { note(.reservedOptionBits, .subscriptionOptions, at: offset) }
    if options & 0b11 == 3 { note(.invalidQoS, .subscriptionOptions, at: offset) }
    guard version.rules.hasProperties else { return }
    if options & 0b11_0000 == 0b11_0000 {
      note(.invalidRetainHandling, .subscriptionOptions, at: offset)
    }
    if options & 0b100 != 0, MQTTTopicFilter.isShared(cursor.bytes.part(filter)) {
      note(.noLocalOnShared, .subscriptionOptions, at: offset)
    }
  }

  // MARK: Properties

  /// Reads a property length and the properties that it covers.
  /// - Returns: Where the properties stand; nil when nothing behind them can be found any more.
  mutating func readProperties(
    _ place: MQTTPropertyID.Places, _ field: MQTTField
  ) -> ByteRange? {
    let start = cursor.offset
    guard case .value(let length, let size) = cursor.readVariableByteInteger() else {
      noteCut(field)
      return nil
    }
    if size != VariableByteInteger.size(of: length) { note(.lengthNotShortest, field, at: start) }
    guard length <= cursor.remaining else {
      noteCut(field)
      return nil
    }
    let range = ByteRange(cursor.offset..<cursor.offset + length)
    if length > 0 { checkProperties(range, place, field) }
    cursor.skip(length)
    return range
  }

  private mutating func checkProperties(
    _ range: ByteRange, _ place: MQTTPropertyID.Places, _ field: MQTTField
  ) {
    let bounds = range.bounds
    var properties = ByteCursor(cursor.bytes, from: bounds.lowerBound, to: bounds.upperBound)
    var seen: UInt64 = 0
    while !properties.isAtEnd {
      let offset = properties.offset
      guard let property = MQTTPropertyView(&properties) else {
        let known = MQTTPropertyID(rawValue: cursor.bytes.byte(at: offset)) != nil
        return note(known ? .fieldCut : .unknownProperty, field, at: offset)
      }
      let bit: UInt64 = 1 << UInt64(property.id.rawValue)
      if !property.id.places.contains(place) { note(.propertyNotAllowed, field, at: offset) }
      if seen & bit != 0, !property.id.mayRepeat(in: place) {
        note(.repeatedProperty, field, at: offset)
      }
      seen |= bit
      if property.id.kind == .variableByteInteger,
        properties.offset - offset - 1 != VariableByteInteger.size(of: property.integer)
      {
        note(.lengthNotShortest, field, at: offset)
      }
      check(property, field)
    }
  }

  private mutating func check(_ property: MQTTPropertyView, _ field: MQTTField) {
    switch property.id.kind {
    case .byte, .twoByteInteger, .fourByteInteger, .variableByteInteger:
      if !property.id.allows(property.integer) {
        note(.invalidPropertyValue, field, at: property.offset)
      }
    case .string:
      check(property.first, field, isTopic: property.id == .responseTopic)
    case .stringPair:
      check(property.first, field, isTopic: false)
      check(property.second, field, isTopic: false)
    case .binary: break
    }
  }
}
