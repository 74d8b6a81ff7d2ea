import Wire

// The bytes of a packet beside its fields, for who looks at both.
extension EventJSONWriter {
  /// Appends the captured bytes of an event in base 64: those of a packet, of a frame with its payload unmasked, or of
  /// the head of a handshake.
  /// - Parameters:
  ///   - event: The event.
  ///   - fields: The event's line of JSON, as this writer wrote it.
  ///   - buffer: Where to append.
  /// - Returns: Whether there are such bytes, and they tell nothing that the fields hide; else nothing was appended.
  package func appendBytes(
    of event: borrowing EventView, beside fields: ArraySlice<UInt8>, to buffer: inout [UInt8]
  ) -> Bool {
    switch event.body {
    case .mqtt(let packet):
      guard mayTell(packet, beside: fields) else { return false }
      buffer.append(base64: packet.bytes)
    case .webSocket(let frame):
      guard redaction.hidesNothing || !Self.isSecretHidden(in: fields) else { return false }
      var bytes: [UInt8] = []
      frame.header.append(to: &bytes)
      bytes.append(frame.payload)
      buffer.append(base64: bytes.span.bytes)
    case .handshake(let handshake):
      let bytes = handshake.head.bytes.span.bytes
      guard
        redaction.hidesNothing
          || (!Self.isSecretHidden(in: fields) && !redaction.mayStand(in: bytes))
      else { return false }
      buffer.append(base64: bytes)
    case .opened, .closed, .attempted, .gap, .malformed, .http, .tls: return false
    }
    return true
  }
}
