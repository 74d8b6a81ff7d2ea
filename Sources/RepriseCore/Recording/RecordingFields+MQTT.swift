import Wire

extension RecordingFields {
  private static let propertyIDs: [String: MQTTPropertyID] = Dictionary(
    uniqueKeysWithValues: MQTTPropertyID.allCases.map { (String(describing: $0.name), $0) })

  /// The return code of 3.1 and 3.1.1, or the one reason code of 5.0.
  func reasonCode() throws(RecordingError) -> UInt8? {
    if value("reasonCodes") != nil { return try bytes("reasonCodes").first }
    return value("returnCode") == nil ? nil : try byte("returnCode")
  }

  /// The code and properties at the end of an acknowledgement, DISCONNECT or AUTH.
  ///
  /// 5.0 lets either be left out, and the fields mean the same then; `length` tells which form it
  /// was. A line without `length` takes the shortest form that says what its fields say.
  /// - Parameters:
  ///   - version: The version; before 5.0 there is neither.
  ///   - size: The bytes of the variable header in front of the code.
  /// - Returns: Code and properties, as far as they stood in the packet.
  /// - Throws: ``RecordingError`` for a value that is none.
  func reason(version: MQTTVersion, above size: Int) throws(RecordingError) -> MQTTPacket.Reason {
    guard version.rules.hasProperties else { return .init() }
    let code = try reasonCode()
    let properties = try properties()
    let length = value("length") == nil ? nil : try integer("length")
    if !properties.isEmpty || (length ?? 0) > size + 1 {
      return .init(code ?? 0, properties: properties)
    }
    if let length { return .init(length > size ? code ?? 0 : nil) }
    return .init(code == 0 ? nil : code)
  }

  /// The filters of a SUBSCRIBE or UNSUBSCRIBE.
  func subscriptions() throws(RecordingError) -> [MQTTPacket.Subscription] {
    var result: [MQTTPacket.Subscription] = []
    for value in try array("filters") {
      guard case .object(let members) = value else {
        throw wrong("filters", "holds something that is no object")
      }
      // Errors inside point at the list: an element's own place is not kept.
      let start = column(of: "filters") - 1
      let filter = RecordingFields(members, line: line, offset: start)
      result.append(.init(try filter.string("filter"), options: try filter.subscriptionOptions()))
    }
    return result
  }

  private func subscriptionOptions() throws(RecordingError) -> UInt8 {
    var options = value("qos") == nil ? 0 : try integer("qos", in: 0...3)
    if try flag("noLocal") { options |= 0b100 }
    if try flag("retainAsPublished") { options |= 0b1000 }
    if value("retainHandling") != nil {
      options |= try integer("retainHandling", in: 0...3) << 4
    }
    return UInt8(truncatingIfNeeded: options)
  }

  /// The properties of 5.0, in the order of their keys.
  func properties() throws(RecordingError) -> [MQTTProperty] {
    guard let object = try optionalObject("properties") else { return [] }
    var result: [MQTTProperty] = []
    for member in object.members {
      guard let id = Self.propertyIDs[member.key] else {
        throw object.wrong(member.key, "is no property of MQTT 5.0")
      }
      try object.appendProperty(id, member, to: &result)
    }
    return result
  }

  private func appendProperty(
    _ id: MQTTPropertyID, _ member: JSONMember, to result: inout [MQTTProperty]
  ) throws(RecordingError) {
    switch (id.kind, member.value) {
    case (.stringPair, .array(let pairs)):
      for pair in pairs {
        guard case .array(let texts) = pair, texts.count == 2, let name = texts.first?.text,
          let value = texts.last?.text
        else { throw wrong(member.key, "is no array of [name, value] pairs") }
        result.append(MQTTProperty(id, .pair(name, value)))
      }
    case (.variableByteInteger, .array(let numbers)):
      for number in numbers {
        guard let integer = number.integer else { throw wrong(member.key, "holds no number") }
        result.append(MQTTProperty(id, .integer(integer)))
      }
    case (.binary, let value):
      guard let data = Self.data(value) else {
        throw wrong(member.key, "is neither {\"utf8\":…} nor {\"base64\":…}")
      }
      result.append(MQTTProperty(id, .binary(data)))
    case (.string, .string(let text)): result.append(MQTTProperty(id, .string(text)))
    case (.byte, let value), (.twoByteInteger, let value), (.fourByteInteger, let value),
      (.variableByteInteger, let value):
      guard let integer = value.integer ?? value.flagValue else {
        throw wrong(member.key, "is \(value.kindName), not a whole number")
      }
      result.append(MQTTProperty(id, .integer(integer)))
    case (.string, let value), (.stringPair, let value):
      throw wrong(member.key, "can't be \(value.kindName)")
    }
  }
}

extension JSONValue {
  /// A flag of one byte, which may be written as true or false.
  fileprivate var flagValue: Int? {
    guard case .bool(let value) = self else { return nil }
    return value ? 1 : 0
  }
}
