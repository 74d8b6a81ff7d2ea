import Wire

extension EventTextWriter {
  /// Appends the fields of a step of an exchange that matter to a reader.
  mutating func appendFields(_ part: HTTPPart, to buffer: inout [UInt8]) {
    if case .unanswered(_, let cause, let reason) = part {
      append(cause.rawValue, to: &buffer)
      append(redaction.shown(reason), to: &buffer)
    }
    if let message = part.message {
      switch message.start {
      case .request(let method, let target):
        append(redaction.shown(method), to: &buffer)
        append(redaction.shown(url: target), to: &buffer)
        if let host = message.head.fields(named: "Host").first {
          append(redaction.shown(authority: host.value), as: "host ", to: &buffer)
        }
      case .response(let status, let reason):
        append(reason.isEmpty ? "\(status)" : "\(status) \(redaction.shown(reason))", to: &buffer)
      }
    }
    buffer.append("exchange ")
    buffer.append(decimal: part.exchange)
    buffer.append("  ")
    guard let message = part.message, message.length > 0 else { return }
    buffer.append(decimal: message.length)
    buffer.append(" B  ")
    if redaction.mayShow(bodyOf: message) {
      append(payload: message.body.span.bytes, to: &buffer)
      buffer.append("  ")
    } else {
      buffer.append("***  ")
    }
  }
}
