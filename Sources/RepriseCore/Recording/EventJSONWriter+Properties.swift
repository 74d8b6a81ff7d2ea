import Wire

extension EventJSONWriter {
  /// Appends an object of properties in the order of their identifiers, if there are any.
  func append(
    _ properties: consuming MQTTPropertiesView, of packet: borrowing MQTTPacketView,
    name: StaticString, to buffer: inout [UInt8]
  ) {
    var inWireOrder = copy properties
    var seen: UInt64 = 0
    while let property = inWireOrder.next() { seen |= 1 << UInt64(property.id.rawValue) }
    guard seen != 0 else { return }
    buffer.append(name)
    var isFirst = true
    while seen != 0 {
      let lowest = UInt8(truncatingIfNeeded: seen.trailingZeroBitCount)
      seen &= seen - 1
      guard let id = MQTTPropertyID(rawValue: lowest) else { continue }
      append(id, from: properties, of: packet, isFirst: &isFirst, to: &buffer)
    }
    buffer.append("}")
  }

  private func append(
    _ id: MQTTPropertyID, from properties: borrowing MQTTPropertiesView,
    of packet: borrowing MQTTPacketView, isFirst: inout Bool, to buffer: inout [UInt8]
  ) {
    var rest = copy properties
    var count = 0
    while let property = rest.next() {
      if property.id == id { count += 1 }
    }
    buffer.append(isFirst ? "\"" : ",\"" as StaticString)
    isFirst = false
    buffer.append(id.name)
    buffer.append("\":")
    let isList = id == .userProperty || count > 1
    if isList { buffer.append("[") }
    rest = copy properties
    var index = 0
    while let property = rest.next() {
      guard property.id == id else { continue }
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      index += 1
      append(property, in: packet.bytes, to: &buffer)
    }
    if isList { buffer.append("]") }
  }

  private func append(_ property: MQTTPropertyView, in bytes: RawSpan, to buffer: inout [UInt8]) {
    switch property.id.kind {
    case .byte, .twoByteInteger, .fourByteInteger, .variableByteInteger:
      buffer.append(decimal: property.integer)
    case .string: buffer.append(quoted: property.bytes(in: bytes), hiding: redaction)
    case .binary:
      if property.id == .authenticationData {
        appendSecret(property.bytes(in: bytes), to: &buffer)
      } else if property.id == .correlationData, redaction.hidesCorrelationData {
        buffer.append("\"***\"")
      } else {
        append(data: property.bytes(in: bytes), to: &buffer)
      }
    case .stringPair:
      let name = property.bytes(in: bytes)
      buffer.append("[")
      buffer.append(quoted: name)
      buffer.append(",")
      if name.withUnsafeBytes({ redaction.names.contain($0) }) {
        buffer.append("\"***\"")
      } else {
        buffer.append(quoted: property.secondBytes(in: bytes), hiding: redaction)
      }
      buffer.append("]")
    }
  }
}
