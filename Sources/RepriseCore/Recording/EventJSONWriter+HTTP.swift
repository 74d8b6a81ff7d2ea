import Wire

extension EventJSONWriter {
  /// Appends the fields of a step of an exchange, the type's name first.
  func append(_ part: HTTPPart, to buffer: inout [UInt8]) {
    let start = buffer.count
    buffer.append(part.name)
    if let message = part.message {
      buffer.append("\",\"length\":")
      buffer.append(decimal: message.length)
      buffer.append(",\"exchange\":")
      buffer.append(decimal: part.exchange)
      append(message, fieldsStart: start, to: &buffer)
    }
    guard case .unanswered(let exchange, let cause, let reason) = part else { return }
    buffer.append("\",\"exchange\":")
    buffer.append(decimal: exchange)
    append(cause.rawValue, as: ",\"cause\":", to: &buffer)
    append(redaction.shown(reason), as: ",\"reason\":", to: &buffer)
  }

  private func append(_ message: HTTPMessage, fieldsStart: Int, to buffer: inout [UInt8]) {
    switch message.start {
    case .request(let method, let target):
      append(redaction.shown(method), as: ",\"method\":", to: &buffer)
      append(redaction.shown(url: target), as: ",\"target\":", to: &buffer)
    case .response(let status, let reason):
      buffer.append(",\"status\":")
      buffer.append(decimal: status)
      append(redaction.shown(reason), as: ",\"reason\":", to: &buffer)
    }
    append(redaction.shown(message.httpVersion), as: ",\"http\":", to: &buffer)
    appendHeaders(of: message.head, to: &buffer)
    append(message.head.faults, to: &buffer)
    appendBytes(
      of: message.head, unless: message.startLine, fieldsStart: fieldsStart, to: &buffer)
    if message.isDecoded { buffer.append(",\"decoded\":true") }
    buffer.append(",\"payload\":")
    if redaction.mayShow(bodyOf: message) {
      append(data: message.body.span.bytes, to: &buffer)
    } else {
      buffer.append("\"***\"")
    }
    guard message.missing > 0 else { return }
    buffer.append(",\"missing\":")
    buffer.append(decimal: message.missing)
  }
}

extension RedactionRules {
  /// Whether the body of a message may be shown, if with secrets hidden in it: nobody knows what a coded one says.
  func mayShow(bodyOf message: HTTPMessage) -> Bool { names.isEmpty || !message.isCoded }
}
