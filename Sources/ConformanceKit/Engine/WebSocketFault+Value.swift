internal import RepriseCore
internal import Wire

// What a frame or a head has where it breaks a rule: findings show that, and not the rule again.
extension WebSocketFault {
  /// The value that breaks the rule in a frame, and where it stands.
  func value(in frame: borrowing WebSocketFrameView) -> String {
    let header = frame.header
    let first = "first byte \(header.firstByte.hexadecimal)"
    switch code {
    case .reservedOpcode: return "opcode \(header.opcode.rawValue) (\(first))"
    case .reservedBits: return "reserved bits \(header.reservedBits.bits(3)) (\(first))"
    case .fragmentedControl: return "FIN 0 (\(first))"
    case .unmaskedFromClient:
      return "mask bit 0 in a frame with \(header.payloadLength) bytes of payload"
    case .maskedFromServer:
      let key = header.maskingKey ?? 0
      return "mask bit 1, key 0x\(key.digits)"
    case .lengthNotShortest: return "\(header.payloadLength) in \(header.lengthForm.rawValue) bytes"
    case .lengthTooLarge: return "0x\(String(header.payloadLength, radix: 16, uppercase: true))"
    case .longControl: return "\(header.payloadLength) bytes of payload"
    case .halfCloseCode: return "byte \(frame.hex(from: offset, count: 1)) and no other"
    case .invalidCloseCode: return "\(frame.closeCode ?? 0)"
    case .invalidText where frame.compression == .inflated:
      return "text that was inflated from \(frame.payload.byteCount) bytes"
    case .invalidText, .invalidReason:
      let size = header.size + frame.payload.byteCount
      guard offset < size else { return "the end of the frame at byte \(size)" }
      return "bytes \(frame.hex(from: offset, count: 4)) at byte \(offset) of the frame"
    default: return "\(frame.opcode.name) (\(first))"
    }
  }

  /// The value that breaks the rule in the head of a request or response.
  func value(in handshake: WebSocketHandshake) -> String {
    let head = handshake.head
    guard let name = field.headerName else { return startLine(head) }
    let values = head.fields(named: name).map(\.value)
    guard code != .repeatedHeader else { return "\(values.count) lines of \(name)" }
    guard let value = values.first else { return "0 lines of \(name)" }
    switch field {
    case .subprotocol: return "\(name): \(Self.names(values))"
    case .key: return "\(name): \"\(value)\" (\(value.utf8.count) characters)"
    case .host: return "\(name): \"\(Self.withoutUser(value))\""
    default: return "\(name): \"\(values.joined(separator: ", "))\""
    }
  }

  /// What the first line has; an address in it may hold secrets, so that it is not shown.
  private func startLine(_ head: HTTPHead) -> String {
    guard field == .startLine else { return "a line at byte \(offset) of the head" }
    let words = head.startLine.split(separator: " ", omittingEmptySubsequences: false)
    let shown = words.enumerated().map { $0 == 1 ? "…" : $1.prefix(16) }
    return "\"\(shown.prefix(4).joined(separator: " "))\" (byte \(offset))"
  }

  /// The names of subprotocols; what may be a token is not shown.
  static func names(_ values: [String]) -> String {
    let names = values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    return names.prefix(16).map { name in
      let name = RedactionRules().shown(subprotocol: String(name.drop { $0 == " " }))
      let shown = name.utf8.count > 24 ? "\(name.prefix(8))…" : String(name)
      return "\"\(shown)\""
    }.joined(separator: ", ")
  }

  /// A host without the user in front of it.
  static func withoutUser(_ host: String) -> String {
    guard let at = host.lastIndex(of: "@") else { return host }
    return "…" + host[at...]
  }
}

extension WebSocketFrameView {
  /// Some bytes of the payload without its mask, in hexadecimal; offsets count from the frame's first.
  func hex(from offset: Int, count: Int) -> String {
    let start = offset - header.size
    let end = min(payload.byteCount, start + count)
    guard start >= 0, start < end else { return "none" }
    return (start..<end).map {
      payload.unsafeLoad(fromByteOffset: $0, as: UInt8.self).digits
    }.joined(separator: " ")
  }
}
