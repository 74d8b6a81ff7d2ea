import Wire

extension EventTextWriter {
  /// The most characters of a text that a line shows, other than of a payload.
  private static let preview = 60

  /// Appends the start of a payload: as text in quotes if it is text, else in hexadecimal.
  mutating func append(payload: RawSpan, to buffer: inout [UInt8]) {
    guard payload.byteCount > 0 else { return }
    let start = payload.extracting(first: textPrefix(of: payload))
    guard UTF8Text.isWellFormed(start), !start.contains(where: Self.isBinary) else {
      guard !redaction.findSecret(in: payload) else { return buffer.append("***") }
      return appendHexadecimal(payload, to: &buffer)
    }
    scratch.removeAll(keepingCapacity: true)
    start.withUnsafeBytes { bytes in
      redaction.hide(in: bytes) { scratch.append(contentsOf: $0) }
    }
    buffer.append("\"")
    TerminalText.append(scratch.span.bytes, to: &buffer, limit: payloadLimit)
    let isCut = start.byteCount < payload.byteCount
    if isCut, scratch.count <= payloadLimit { buffer.append("…") }
    buffer.append("\"")
  }

  /// Appends the start of a message's payload, unless its topic hides it.
  mutating func append(payload: RawSpan, on topic: RawSpan, to buffer: inout [UInt8]) {
    if payload.isEmpty || !redaction.hidesPayload(on: topic) {
      append(payload: payload, to: &buffer)
    } else {
      buffer.append("***")
    }
  }

  /// The length of a start of the payload that is enough to show and cuts no character.
  private func textPrefix(of payload: RawSpan) -> Int {
    var count = min(payload.byteCount, 4 * payloadLimit)
    guard count < payload.byteCount else { return count }
    while count > 0, payload.byte(at: count) & 0xC0 == 0x80 { count -= 1 }
    return count
  }

  /// Bytes that text does not have, though UTF-8 allows them.
  private static func isBinary(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x0A, 0x0D, 0x1B: false
    default: byte < 0x20
    }
  }

  private func appendHexadecimal(_ payload: RawSpan, to buffer: inout [UInt8]) {
    let count = min(payload.byteCount, Self.preview / 2)
    buffer.append("0x")
    for offset in 0..<count {
      let byte = payload.byte(at: offset)
      buffer.append(JSONEscape.hexDigit(byte >> 4))
      buffer.append(JSONEscape.hexDigit(byte & 0xF))
    }
    if count < payload.byteCount { buffer.append("…") }
  }

  // MARK: Properties

  /// Appends the properties of a packet or a will, in braces.
  mutating func append(
    _ properties: consuming MQTTPropertiesView, of packet: borrowing MQTTPacketView,
    to buffer: inout [UInt8]
  ) {
    var isFirst = true
    while let property = properties.next() {
      buffer.append(isFirst ? "{" : ", " as StaticString)
      isFirst = false
      buffer.append(property.id.name)
      buffer.append(" ")
      append(property, in: packet.bytes, to: &buffer)
    }
    if !isFirst { buffer.append("}  ") }
  }

  private mutating func append(
    _ property: MQTTPropertyView, in bytes: RawSpan, to buffer: inout [UInt8]
  ) {
    switch property.id.kind {
    case .byte, .twoByteInteger, .fourByteInteger, .variableByteInteger:
      buffer.append(decimal: property.integer)
    case .string: append(quoted: property.bytes(in: bytes), to: &buffer)
    case .binary:
      if property.id == .authenticationData
        ? redaction.hidesSecrets : property.id == .correlationData && redaction.hidesCorrelationData
      {
        buffer.append("***")
      } else {
        append(payload: property.bytes(in: bytes), to: &buffer)
      }
    case .stringPair:
      let name = property.bytes(in: bytes)
      append(quoted: name, to: &buffer)
      buffer.append("=")
      if name.withUnsafeBytes({ redaction.names.contain($0) }) {
        buffer.append("***")
      } else {
        append(quoted: property.secondBytes(in: bytes), to: &buffer)
      }
    }
  }

  private func append(quoted text: RawSpan, to buffer: inout [UInt8]) {
    buffer.append("\"")
    redaction.withShown(text) { TerminalText.append($0, to: &buffer, limit: Self.preview) }
    buffer.append("\"")
  }
}
