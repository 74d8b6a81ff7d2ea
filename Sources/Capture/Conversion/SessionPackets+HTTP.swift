import RepriseCore
internal import Wire

// Messages of HTTP as the bytes that say what they said.
extension SessionPackets {
  mutating func send(_ part: HTTPPart, _ context: EventContext) {
    guard let message = part.message else { return }
    let isChunked = message.head.list("Transfer-Encoding").contains { $0.lowercased() == "chunked" }
    let head = message.framedHead(isChunked: isChunked)
    let isFramed = isChunked && message.missing == 0
    if isChunked || head != message.head { losses.bodies += 1 }
    var bytes = head.bytes
    // One chunk, whatever they were (RFC 9112 section 7.1).
    if isFramed, !message.body.isEmpty {
      bytes += Array("\(String(message.body.count, radix: 16))\r\n".utf8) + message.body + [13, 10]
    } else {
      bytes += message.body
    }
    if isFramed { bytes += Array("0\r\n\r\n".utf8) }
    send(bytes.span.bytes, missing: message.missing, context)
  }
}

extension HTTPMessage {
  /// The head without the content coding that was undone, and with the length that the body has here: one that was
  /// unpacked, or in which something is hidden, is no longer as long as its sender said, and whoever reads on by that
  /// length reads the next message in the wrong place.
  fileprivate func framedHead(isChunked: Bool) -> HTTPHead {
    // A response to HEAD and 304 tell the length of a body that is not sent (RFC 9110 section 8.6).
    let own = (length > 0 || isDecoded) && !isChunked ? String(length) : nil
    let drops = isDecoded && !codings.isEmpty
    var changed = drops
    let fields = head.fields.compactMap { field -> HTTPHead.Field? in
      switch field.name.lowercased() {
      case "content-encoding" where drops: return nil
      case "content-length":
        guard let own, Set(head.list("Content-Length")) != [own] else { return field }
        changed = true
        return HTTPHead.Field(field.name, own)
      default: return field
      }
    }
    return changed ? HTTPHead(startLine: head.startLine, fields: fields) : head
  }
}
