import Wire

extension EventTextWriter {
  /// The most characters of a text that a line shows, other than of a payload.
  private static let preview = 60

  /// Appends the start of a payload: as text in quotes if it is text, else in hexadecimal.
  mutating func append(payload: RawSpan, to buffer: inout [UInt8]) {
    guard payload.byteCount > 0 else { return }
    let start = payload.extracting(first: textPrefix(of: payload))
    guard UTF8Text.isWellFormed(start), !start.contains(where: Self.isBinary) else {
      guard showsSecrets || !SecretValues.stand(in: payload) else { return buffer.append("***") }
      return appendHexadecimal(payload, to: &buffer)
    }
    scratch.removeAll(keepingCapacity: true)
    if showsSecrets {
      scratch.append(start)
    } else {
      // Secrets are hidden in what JSON would show; its escapes of quotes are of no use here.
      scratch.append(escapedHidingSecrets: start)
      Self.unescape(&scratch)
    }
    buffer.append("\"")
    TerminalText.append(scratch.span.bytes, to: &buffer, limit: payloadLimit)
    let isCut = start.byteCount < payload.byteCount
    if isCut, scratch.count <= payloadLimit { buffer.append("…") }
    buffer.append("\"")
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

  /// Takes the escapes of a JSON string back, in place: nothing gets longer by it.
  private static func unescape(_ text: inout [UInt8]) {
    var count = 0
    var index = 0
    while index < text.count {
      var byte = text[index]
      index += 1
      if byte == UInt8(ascii: "\\"), index < text.count {
        byte = unescaped(text[index...])
        // Only control characters are written by their numbers, of four digits.
        index += text[index] == UInt8(ascii: "u") ? 5 : 1
      }
      text[count] = byte
      count += 1
    }
    text.removeLast(text.count - count)
  }

  /// The byte that the text behind a backslash stands for.
  private static func unescaped(_ escape: ArraySlice<UInt8>) -> UInt8 {
    switch escape.first {
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "u"):
      escape.dropFirst(3).prefix(2).reduce(0) { $0 << 4 | (Hexadecimal.value(of: $1) ?? 0) }
    default: escape.first ?? 0
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
      if property.id == .authenticationData, !showsSecrets {
        buffer.append("***")
      } else {
        append(payload: property.bytes(in: bytes), to: &buffer)
      }
    case .stringPair:
      let name = property.bytes(in: bytes)
      append(quoted: name, to: &buffer)
      buffer.append("=")
      if !showsSecrets, name.withUnsafeBytes({ SecretKeys.contain($0) }) {
        buffer.append("***")
      } else {
        append(quoted: property.secondBytes(in: bytes), to: &buffer)
      }
    }
  }

  private func append(quoted text: RawSpan, to buffer: inout [UInt8]) {
    buffer.append("\"")
    TerminalText.append(text, to: &buffer, limit: Self.preview)
    buffer.append("\"")
  }
}
