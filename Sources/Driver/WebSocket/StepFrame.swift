import RepriseCore
import Wire

extension CaseFields {
  /// The frame that a step sends, which may be wrong in any way.
  /// - Parameter key: The masking key where the step says nothing of it; nil where frames are not masked.
  /// - Returns: The frame.
  /// - Throws: ``DriverError`` that names the step and what is wrong.
  func frame(maskedBy key: UInt32?) throws(DriverError) -> WebSocketFrame {
    let opcode = try opcode(orElse: nil)
    let body = opcode == .close ? try closeBody() : nil
    let payload = try payload() ?? body ?? []
    let bits = try integer("rsv", in: 0...7) ?? 0
    var header = WebSocketFrameHeader(
      opcode, isFinal: try flag("fin") ?? true, reservedBits: UInt8(truncatingIfNeeded: bits),
      payloadLength: UInt64(payload.count), maskingKey: try mask(orElse: key))
    if let length = try integer("length", in: 0...1 << 53) {
      header.payloadLength = UInt64(length)
      header.lengthForm = .init(shortestFor: header.payloadLength)
    }
    if let form = try lengthForm() { header.lengthForm = form }
    return WebSocketFrame(header, payload: payload)
  }

  private func mask(orElse key: UInt32?) throws(DriverError) -> UInt32? {
    if let given = self["maskingKey"] {
      guard let text = given.text, text.utf8.count == 8, !text.hasPrefix("+"),
        let key = UInt32(text, radix: 16)
      else { throw error("maskingKey", "is none of eight hexadecimal digits") }
      return key
    }
    guard let isMasked = try flag("masked") else { return key }
    // Any key will do for a server, which must not have one.
    return isMasked ? key ?? 0x1234_5678 : nil
  }

  private func lengthForm() throws(DriverError) -> WebSocketFrameHeader.LengthForm? {
    guard let bits = self["lengthForm"] else { return nil }
    switch bits.integer {
    case 7: return .short
    case 16: return .medium
    case 64: return .long
    default: throw error("lengthForm", "is none of 7, 16 and 64")
    }
  }

  /// The frames of the message that a step sends.
  /// - Parameters:
  ///   - key: Makes a masking key for each; nil where frames are not masked.
  ///   - deflate: Compresses the message; nil where that was not agreed on.
  /// - Returns: The frames.
  /// - Throws: ``DriverError`` that names the step and what is wrong.
  func messageFrames(
    maskedBy key: () -> UInt32?, _ deflate: ([UInt8]) -> [UInt8]?
  ) throws(DriverError) -> [WebSocketFrame] {
    let opcode = try opcode(orElse: .text)
    guard !opcode.isControl, opcode != .continuation else {
      throw error("type", "is neither TEXT nor BINARY")
    }
    let plain = try payload() ?? Array("message".utf8)
    let compressed = try flag("compress") ?? true ? deflate(plain) : nil
    let bytes = compressed ?? plain
    let most = try integer("fragment", in: 1...1 << 24) ?? max(1, bytes.count)
    var starts = Array(stride(from: 0, to: bytes.count, by: most))
    if starts.isEmpty { starts = [0] }
    return starts.map { start in
      let end = min(bytes.count, start + most)
      return WebSocketFrame(
        start == 0 ? opcode : .continuation, Array(bytes[start..<end]),
        isFinal: end == bytes.count,
        reservedBits: start == 0 && compressed != nil ? 0b100 : 0, maskingKey: key())
    }
  }
}
