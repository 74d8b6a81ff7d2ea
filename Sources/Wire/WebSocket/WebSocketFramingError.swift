/// Why a stream of bytes can't be cut into frames any further.
public struct WebSocketFramingError: Error, Sendable, Hashable {
  /// What is wrong.
  public let code: Code
  /// Where the frame starts that can't be cut, in bytes from the start of the stream.
  public let offset: Int

  /// Creates an error.
  public init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }

  /// The ways in which cutting fails.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The payload length has its highest bit set (RFC 6455 section 5.2), or the frame ends behind
    /// every stream.
    case impossibleLength = "impossible-frame-length"
    /// Bytes that are no frame, where one should begin.
    case notWebSocket = "not-websocket"

    /// One sentence for a reader.
    public var message: String {
      switch self {
      case .impossibleLength: "the frame's length is more than a frame can have"
      case .notWebSocket: "no frame starts here"
      }
    }
  }
}
