/// The masking of payloads (RFC 6455 section 5.3): byte `i` is XORed with byte `i` mod 4 of the key.
///
/// Masking twice gives the first bytes back.
public enum WebSocketMask {
  /// Appends a payload with its mask applied, eight bytes at a time.
  /// - Parameters:
  ///   - payload: The payload from its first byte on.
  ///   - key: The masking key, its first byte the highest.
  ///   - bytes: Where to append.
  public static func append(_ payload: RawSpan, key: UInt32, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes.append(copying: payload)
    guard key != 0 else { return }
    // In memory the key's first byte comes first, whatever the order of the machine's words.
    let word = UInt64(key.bigEndian) << 32 | UInt64(key.bigEndian)
    bytes.withUnsafeMutableBytes { buffer in
      var offset = start
      while offset &+ 8 <= buffer.count {
        let masked = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ word
        buffer.storeBytes(of: masked, toByteOffset: offset, as: UInt64.self)
        offset &+= 8
      }
      // Eight is a multiple of the key's length, so that the rest begins with its first byte.
      var rest = key
      while offset < buffer.count {
        rest = rest << 8 | rest >> 24
        buffer[offset] ^= UInt8(truncatingIfNeeded: rest)
        offset &+= 1
      }
    }
  }
}

extension [UInt8] {
  /// Appends borrowed bytes.
  mutating func append(copying bytes: RawSpan) {
    bytes.withUnsafeBytes { append(contentsOf: $0) }
  }
}
