import Wire

extension HTTPPart {
  /// Reads a step of an exchange; nil when the type is none.
  init?(_ fields: RecordingFields, type: String) throws(RecordingError) {
    let numbers = 1...RecordingFields.maximumInteger
    switch type {
    case "REQUEST":
      let message = try HTTPMessage(fields, isRequest: true)
      self = .request(exchange: try fields.integer("exchange", in: numbers), message)
    case "RESPONSE":
      let message = try HTTPMessage(fields, isRequest: false)
      self = .response(exchange: try fields.integer("exchange", in: numbers), message)
    case "UNANSWERED":
      guard let cause = ActionFailure.Cause(rawValue: try fields.string("cause")) else {
        throw fields.wrong("cause", "is no cause that this program knows")
      }
      self = .unanswered(
        exchange: try fields.integer("exchange", in: numbers), cause,
        reason: try fields.optionalString("reason") ?? "")
    default: return nil
    }
  }
}

extension HTTPMessage {
  fileprivate init(_ fields: RecordingFields, isRequest: Bool) throws(RecordingError) {
    let captured = try fields.capturedHead()
    let head = if let captured { captured } else { try fields.writtenHead(isRequest: isRequest) }
    let message = HTTPMessage(
      head, body: fields.value("payload") == nil ? [] : try fields.data("payload"),
      missing: fields.value("missing") == nil ? 0 : try fields.integer("missing"),
      isDecoded: try fields.flag("decoded"))
    guard let message, (message.status == nil) == isRequest else {
      throw fields.wrong("type", "does not go with the first line that the other keys give")
    }
    self = message
  }
}

extension RecordingFields {
  fileprivate func writtenHead(isRequest: Bool) throws(RecordingError) -> HTTPHead {
    let version = try optionalString("http") ?? "HTTP/1.1"
    let line =
      isRequest
      ? "\(try string("method")) \(try string("target")) \(version)"
      : "\(version) \(try integer("status", in: 100...999)) \(try optionalString("reason") ?? "")"
    return HTTPHead(startLine: line, fields: try headers())
  }
}
