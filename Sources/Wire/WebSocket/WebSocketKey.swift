/// The key of a request and the value that accepts it (RFC 6455 sections 4.1 and 4.2.2).
public enum WebSocketKey {
  /// What the RFC appends to every key.
  private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// Computes the `Sec-WebSocket-Accept` that answers a key.
  /// - Parameter key: The value of `Sec-WebSocket-Key`, as it was sent.
  /// - Returns: The base64 of the SHA-1 of key and identifier; empty if the system has no SHA-1.
  public static func accept(for key: String) -> String {
    let text = Array((key + identifier).utf8)
    return WebSocketDigest.sha1(text).map(WebSocketDigest.base64) ?? ""
  }

  /// Makes the key of 16 bytes, which should be random (section 4.1).
  public static func encoded(_ bytes: [UInt8]) -> String { WebSocketDigest.base64(bytes) }

  /// Tells whether a key is the base64 of 16 bytes.
  static func isValid(_ key: String) -> Bool {
    let text = Array(key.utf8)
    guard text.count == 24, text.suffix(2) == [0x3D, 0x3D] else { return false }
    return text.dropLast(2).allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
  }
}
