internal import Wire

// What a packet has where it breaks a rule: findings show that, and not the rule again.
extension MQTTFault {
  /// The value that breaks the rule, and where it stands in the packet.
  ///
  /// Of a password or a will's message no byte is shown.
  func value(in packet: borrowing MQTTPacketView) -> String {
    let firstByte = packet.header.firstByte
    let place = "at byte \(offset)"
    switch code {
    case .reservedType: return "type \(firstByte >> 4) (first byte \(firstByte.hexadecimal))"
    case .reservedFlags: return "flags \(firstByte.bits(4)) (first byte \(firstByte.hexadecimal))"
    case .dupAtQoS0: return "DUP 1 and QoS 0 (first byte \(firstByte.hexadecimal))"
    case .invalidQoS where field == .fixedHeader:
      return "QoS bits 11 (first byte \(firstByte.hexadecimal))"
    case .zeroPacketID: return "identifier 0, bytes 00 00 \(place)"
    case .invalidUTF8:
      return "bytes \(packet.hex(from: offset, count: 4)) \(place), \(field.rawValue)"
    case .nullCharacter: return "byte 00 \(place), \(field.rawValue)"
    case .emptyTopic, .emptyClientID: return "a length of 0 \(place), \(field.rawValue)"
    case .wildcardInTopic, .misplacedMultiLevelWildcard, .misplacedSingleLevelWildcard:
      let text = packet.text(around: offset, in: field).map { "\"\($0)\", " } ?? ""
      return "\(text)\(packet.character(at: offset)) \(place), \(field.rawValue)"
    case .emptyList: return "the end of the packet \(place), \(field.rawValue)"
    case .fieldCut: return cut(packet)
    case .noPropertyLength: return "the end of the packet \(place), \(field.rawValue)"
    case .emptyShareName, .badShareName:
      let text = packet.text(around: offset, in: field).map { "\"\($0)\", " } ?? ""
      return "\(text)byte \(offset), \(field.rawValue)"
    case .trailingBytes:
      return "\(packet.header.packetSize - offset) more bytes from byte \(offset) on"
    case .sessionPresentOnRefusal:
      return "Session Present 1 with code \((packet.reasonCode ?? 0).hexadecimal)"
    default:
      return "\(packet.hex(from: offset, count: 1, prefix: "0x")) \(place), \(field.rawValue)"
    }
  }

  /// What is left of a field that the packet's end cuts.
  private func cut(_ packet: borrowing MQTTPacketView) -> String {
    let rest = packet.header.packetSize - offset
    guard rest >= 2, field != .packetID, field != .subscriptionOptions,
      packet.bytes.byteCount >= offset + 2, offset >= 0
    else { return "the end of the packet at byte \(packet.header.packetSize), \(field.rawValue)" }
    let high = packet.bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    let low = packet.bytes.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self)
    let length = Int(high) << 8 | Int(low)
    return
      "a length of \(length) at byte \(offset) and \(rest - 2) bytes behind it, \(field.rawValue)"
  }
}

extension MQTTPacketView {
  /// Some bytes in hexadecimal, as far as they were captured.
  func hex(from offset: Int, count: Int, prefix: String = "") -> String {
    let end = min(bytes.byteCount, offset + count)
    guard offset >= 0, offset < end else { return "none" }
    return (offset..<end).map {
      prefix + bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self).digits
    }.joined(separator: " ")
  }

  /// A byte as the character that it is, or in hexadecimal where it can't be shown.
  fileprivate func character(at offset: Int) -> String {
    guard offset >= 0, offset < bytes.byteCount else { return "a byte" }
    let byte = bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    return (0x21...0x7E).contains(byte) ? "'\(Character(UnicodeScalar(byte)))'" : byte.hexadecimal
  }

  /// The topic or filter that has a byte; nil of a field that is not listed here.
  fileprivate func text(around offset: Int, in field: MQTTField) -> String? {
    switch field {
    case .topic: return shortened(topic)
    case .filter:
      var filters = filters
      while let filter = filters.next() {
        if offset <= filter.offset + filter.text.byteCount { return shortened(filter.text) }
      }
      return nil
    default: return nil
    }
  }

  private func shortened(_ text: RawSpan) -> String {
    let whole = String(copying: text)
    return whole.count > 80 ? whole.prefix(80) + "…" : whole
  }
}
