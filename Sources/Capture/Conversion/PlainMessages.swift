internal import RepriseCore
internal import Wire

/// The messages of a WebSocket that a recording tells uncompressed from their first fragment on, as that had a secret: the
/// others of them have their bytes there, which nothing inflates behind it.
struct PlainMessages {
  private var senders: Set<Peer> = []

  /// Takes the next frame.
  /// - Parameters:
  ///   - frame: The frame.
  ///   - sender: Its sender.
  /// - Returns: What is to be written in its place; nil where that is the frame itself.
  mutating func take(
    _ frame: borrowing WebSocketFrameView, from sender: Peer
  ) -> WebSocketFrame? {
    switch frame.opcode {
    case .text, .binary:
      // RSV1 says that a message is compressed (RFC 7692 section 7.2.3.1).
      if frame.header.isFinal || frame.header.reservedBits & 0b100 != 0 {
        senders.remove(sender)
      } else {
        senders.insert(sender)
      }
      return nil
    case .continuation where senders.contains(sender):
      guard frame.missing == 0, case .inflated = frame.compression else { return nil }
      return WebSocketFrame(
        .continuation, [UInt8](copying: frame.data), isFinal: frame.header.isFinal,
        maskingKey: frame.header.maskingKey)
    default: return nil
    }
  }
}
