extension MQTTPacketDecoder {
  // MARK: Filters

  /// Reads one filter; false when it is cut and nothing can follow.
  mutating func readFilter(withOptions: Bool) -> Bool {
    guard let range = readText(.filter) else { return false }
    if range.count == 0 {
      note(.emptyTopic, .filter, at: Int(range.start) - 2)
    } else {
      checkFilter(range, isRequest: withOptions)
    }
    guard withOptions else { return true }
    guard let options = cursor.readByte() else {
      noteCut(.subscriptionOptions)
      return false
    }
    checkOptions(options, of: range, at: cursor.offset - 1)
    return true
  }

  private mutating func checkFilter(_ range: ByteRange, isRequest: Bool) {
    let text = cursor.bytes.part(range)
    let start = Int(range.start)
    guard version.rules.hasSharedSubscriptions else { return checkWildcards(text, at: start) }
    switch MQTTTopicFilter.share(of: text) {
    case .none: checkWildcards(text, at: start)
    // The filter inside has its own form (5.0 section 4.8.2).
    case .filter(let offset):
      checkWildcards(text.extracting(offset..<text.byteCount), at: start + offset)
    // An UNSUBSCRIBE compares it with others, and finds none.
    case .emptyName(let offset) where isRequest: note(.emptyShareName, .filter, at: start + offset)
    case .badName(let offset) where isRequest: note(.badShareName, .filter, at: start + offset)
    case .emptyName, .badName: break
    }
  }

  private mutating func checkWildcards(_ filter: RawSpan, at start: Int) {
    let misplaced = MQTTTopicFilter.misplacedWildcards(in: filter)
    if let offset = misplaced.multiLevel {
      note(.misplacedMultiLevelWildcard, .filter, at: start + offset)
    }
    if let offset = misplaced.singleLevel {
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
    if options & 0b100 != 0,
      case .filter = MQTTTopicFilter.share(of: cursor.bytes.part(filter))
    {
      note(.noLocalOnShared, .subscriptionOptions, at: offset)
    }
  }

  // MARK: Properties

  /// Reads the properties of the packet itself; false when nothing behind them can be found any more.
  mutating func readProperties(_ place: MQTTPropertyID.Places) -> Bool {
    guard let properties = findProperties(place, .properties) else { return false }
    layout.properties = properties.range
    layout.propertySet = properties.set
    return true
  }

  /// Reads a Property Length and the properties that it covers.
  /// - Returns: Where the properties stand and which they are; nil when nothing behind them can be found any
  ///   more.
  mutating func findProperties(
    _ place: MQTTPropertyID.Places, _ field: MQTTField
  ) -> (range: ByteRange, set: MQTTPropertySet)? {
    let start = cursor.offset
    guard !cursor.isAtEnd else {
      if isComplete { note(.noPropertyLength, field) }
      return nil
    }
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
    let set = length > 0 ? checkProperties(range, place, field) : MQTTPropertySet(isWhole: true)
    cursor.skip(length)
    return (range, set)
  }

  private mutating func checkProperties(
    _ range: ByteRange, _ place: MQTTPropertyID.Places, _ field: MQTTField
  ) -> MQTTPropertySet {
    let bounds = range.bounds
    var properties = ByteCursor(cursor.bytes, from: bounds.lowerBound, to: bounds.upperBound)
    var seen = MQTTPropertySet()
    while !properties.isAtEnd {
      let offset = properties.offset
      var unread = properties
      guard let property = MQTTPropertyView(&properties) else {
        let id = MQTTPropertyView.readIdentifier(&unread)
        note(id == nil ? .unknownProperty : .propertyCut, field, at: offset, of: id?.id)
        return seen
      }
      let id = property.id
      if !id.places.contains(place) { note(.propertyNotAllowed, field, at: offset, of: id) }
      if seen.contains(id), !id.mayRepeat(in: place) {
        note(.repeatedProperty, field, at: offset, of: id)
      }
      seen.insert(id)
      let isLong =
        property.identifierSize > 1
        || id.kind == .variableByteInteger
          && properties.offset - offset - 1 != VariableByteInteger.size(of: property.integer)
      if isLong { note(.lengthNotShortest, field, at: offset, of: id) }
      check(property, field)
    }
    seen.isWhole = true
    return seen
  }

  private mutating func check(_ property: MQTTPropertyView, _ field: MQTTField) {
    let id = property.id
    switch id.kind {
    case .byte, .twoByteInteger, .fourByteInteger, .variableByteInteger:
      if !id.allows(property.integer) {
        note(.invalidPropertyValue, field, at: property.offset, of: id)
      }
    case .string:
      check(property.first, field, isTopic: id == .responseTopic, of: id)
    case .stringPair:
      check(property.first, field, isTopic: false, of: id)
      check(property.second, field, isTopic: false, of: id)
    case .binary: break
    }
  }
}
