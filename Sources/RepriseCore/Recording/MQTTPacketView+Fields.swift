import Wire

extension MQTTPacketView {
  /// Tells whether encoding the fields of a line of JSON again gives the packet's very bytes.
  ///
  /// They don't when the packet breaks a rule or lacks bytes, and where the standards leave a choice
  /// of encoding that no field shows: the size of a length, the order of properties, bits that
  /// MQTT 3.1 ignores.
  /// - Parameter version: The version that the line names; a CONNECT may name another.
  /// - Returns: Whether the bytes may be left out.
  func isGivenByFields(as version: MQTTVersion?) -> Bool {
    guard faults.isEmpty, missing == 0, header.isShortest else { return false }
    // Nearly all packets end here.
    if type == .publish { return !hasProperties || properties.areInOrder }
    guard hasRegularFlags, acknowledgeFlags <= 1, properties.areInOrder else { return false }
    guard let connect else { return true }
    return connect.protocolLevel == version?.rawValue && connect.flags & 1 == 0
      && connect.willProperties.areInOrder
  }

  /// Whether the flags of the fixed header are the required ones, or those with DUP set.
  private var hasRegularFlags: Bool {
    guard let required = type.requiredFlags else { return true }
    return header.flags == required || (required != 0 && header.flags == required | 0b1000)
  }
}

extension MQTTPropertiesView {
  /// Whether the properties stand in the order of their identifiers, in which fields are encoded.
  fileprivate var areInOrder: Bool {
    var rest = self
    var last: UInt8 = 0
    while let property = rest.next() {
      if property.id.rawValue < last { return false }
      last = property.id.rawValue
    }
    return true
  }
}
