/// Puts the fragments of one sender's messages together (RFC 6455 section 5.4).
///
/// Control frames between fragments are not part of a message, and pass.
public struct WebSocketAssembler: Sendable {
  /// The most bytes of a message that are kept.
  public let limit: Int
  private var opcode: WebSocketOpcode?
  private var bytes: [UInt8] = []
  private var isComplete = true

  /// Creates an assembler.
  /// - Parameter limit: The most bytes of a message that are kept, 16 MiB if not stated.
  public init(limit: Int = 16 << 20) { self.limit = max(0, limit) }

  /// A message.
  public struct Message: Sendable, Hashable {
    /// Whether it is text; binary if not.
    public var isText: Bool
    /// What it says, inflated.
    public var data: [UInt8]
    /// Whether all of it is there: nothing was lost, left compressed, or over the limit.
    public var isComplete: Bool

    /// Creates a message.
    public init(isText: Bool, data: [UInt8], isComplete: Bool = true) {
      self.isText = isText
      self.data = data
      self.isComplete = isComplete
    }
  }

  /// Takes the sender's next frame.
  /// - Parameter frame: The frame, as `WebSocketReceiver` hands it out.
  /// - Returns: The message that the frame completes, if it completes one.
  public mutating func take(_ frame: borrowing WebSocketFrameView) -> Message? {
    guard frame.opcode.isDefined, !frame.opcode.isControl else { return nil }
    if frame.opcode != .continuation {
      opcode = frame.opcode
      bytes = []
      isComplete = true
    }
    guard let opcode else { return nil }
    var isRead = true
    if case .kept = frame.compression { isRead = false }
    let count = isRead ? min(frame.data.byteCount, limit - bytes.count) : 0
    bytes.append(copying: frame.data.extracting(first: count))
    if !isRead || frame.missing > 0 || count < frame.data.byteCount { isComplete = false }
    guard frame.header.isFinal else { return nil }
    defer {
      self.opcode = nil
      bytes = []
    }
    return Message(isText: opcode == .text, data: bytes, isComplete: isComplete)
  }
}
