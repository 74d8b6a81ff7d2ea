import Wire

extension EventJSONWriter {
  /// Appends the fields of a frame, the type's name first.
  func append(_ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]) {
    let header = frame.header
    let start = buffer.count
    buffer.appendShort(atMost: 512) { text in
      text.append(header.opcode.name)
      text.append("\",\"length\":")
      text.append(decimal: header.payloadLength)
      if !header.opcode.isDefined {
        text.append(",\"opcode\":")
        text.append(decimal: Int(header.opcode.rawValue))
      }
      text.append(header.isFinal ? ",\"fin\":true" : ",\"fin\":false")
      text.append(header.isMasked ? ",\"masked\":true" : ",\"masked\":false")
      if let key = header.maskingKey {
        text.append(",\"maskingKey\":\"")
        text.append(hexadecimal: key)
        text.append("\"")
      }
      if header.reservedBits != 0 {
        text.append(",\"rsv\":")
        text.append(decimal: Int(header.reservedBits))
      }
    }
    appendCompression(frame.compression, to: &buffer)
    appendCargo(frame.cargo, to: &buffer)
    appendClose(frame, to: &buffer)
    appendPayload(frame, to: &buffer)
    append(frame.faults, to: &buffer)
    if frame.missing > 0 {
      buffer.append(",\"missing\":")
      buffer.append(decimal: frame.missing)
    }
    appendBytes(of: frame, fieldsStart: start, to: &buffer)
  }

  private func appendCompression(
    _ compression: WebSocketCompression, to buffer: inout [UInt8]
  ) {
    switch compression {
    case .none: break
    case .inflated: buffer.append(",\"compressed\":true")
    case .kept(let reason):
      buffer.append(",\"compressed\":true,\"notInflated\":\"")
      buffer.append(contentsOf: reason.rawValue.utf8)
      buffer.append("\"")
    }
  }

  private func appendCargo(_ cargo: WebSocketCargo, to buffer: inout [UInt8]) {
    switch cargo {
    case .unknown: break
    case .mqtt: buffer.append(",\"carries\":\"mqtt\"")
    case .mqttConcealed: buffer.append(",\"carries\":\"mqtt\",\"concealed\":true")
    case .concealed: buffer.append(",\"concealed\":true")
    }
  }

  private func appendClose(_ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]) {
    guard let code = frame.closeCode else { return }
    buffer.append(",\"closeCode\":")
    buffer.append(decimal: Int(code))
    buffer.append(",\"closeReason\":")
    buffer.append(quoted: frame.closeReason, hiding: redaction)
  }

  private func appendPayload(_ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]) {
    buffer.append(",\"payload\":")
    if redaction.mayShow(frame) {
      append(data: frame.data, to: &buffer)
    } else {
      buffer.append("\"***\"")
    }
  }

  /// Appends the frame's bytes where the fields don't give them: the payload is shown inflated, bytes
  /// are missing, or the length is not in its shortest form.
  private func appendBytes(
    of frame: borrowing WebSocketFrameView, fieldsStart: Int, to buffer: inout [UInt8]
  ) {
    let isGiven = frame.compression != .inflated && frame.missing == 0 && frame.header.isShortest
    guard !isGiven else { return }
    guard redaction.hidesNothing || !Self.isSecretHidden(in: buffer[fieldsStart...]) else { return }
    var bytes: [UInt8] = []
    frame.header.append(to: &bytes)
    WebSocketMask.append(frame.payload, key: frame.header.maskingKey ?? 0, to: &bytes)
    buffer.append(",\"bytes\":\"")
    buffer.append(base64: bytes.span.bytes)
    buffer.append("\"")
  }

  func append(_ faults: [WebSocketFault], to buffer: inout [UInt8]) {
    guard !faults.isEmpty else { return }
    buffer.append(",\"errors\":[")
    for (index, fault) in faults.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append("{\"code\":\"")
      buffer.append(contentsOf: fault.code.rawValue.utf8)
      buffer.append("\",\"field\":\"")
      buffer.append(contentsOf: fault.field.rawValue.utf8)
      buffer.append("\",\"offset\":")
      buffer.append(decimal: fault.offset)
      buffer.append(",\"message\":")
      buffer.append(quoted: fault.code.message)
      buffer.append("}")
    }
    buffer.append("]")
  }

  // MARK: Handshakes

  /// Appends the fields of a request or response, the type's name first.
  func append(_ handshake: WebSocketHandshake, to buffer: inout [UInt8]) {
    let start = buffer.count
    buffer.append(handshake.name)
    switch handshake {
    case .request(let request):
      append(redaction.shown(request.method), as: "\",\"method\":", to: &buffer)
      append(redaction.shown(url: request.target), as: ",\"target\":", to: &buffer)
      append(request.httpVersion, as: ",\"http\":", to: &buffer)
      append(
        request.subprotocols.map(redaction.shown(subprotocol:)), as: ",\"subprotocols\":[",
        to: &buffer)
    case .response(let response):
      buffer.append("\",\"status\":")
      buffer.append(decimal: response.status)
      append(redaction.shown(response.reason), as: ",\"reason\":", to: &buffer)
      append(redaction.shown(response.httpVersion), as: ",\"http\":", to: &buffer)
      if let subprotocol = response.subprotocol {
        append(redaction.shown(subprotocol: subprotocol), as: ",\"subprotocol\":", to: &buffer)
      }
    }
    append(
      handshake.extensions.map { redaction.shown($0.description) }, as: ",\"extensions\":[",
      to: &buffer)
    appendHeaders(of: handshake.head, to: &buffer)
    append(handshake.faults, to: &buffer)
    appendBytes(of: handshake.head, unless: handshake.startLine, fieldsStart: start, to: &buffer)
  }

  /// Appends the header lines of a message.
  func appendHeaders(of head: HTTPHead, to buffer: inout [UInt8]) {
    buffer.append(",\"headers\":[")
    for (index, field) in head.fields.enumerated() {
      append(field.name, as: index > 0 ? ",[" : "[", to: &buffer)
      append(redaction.shown(field), as: ",", to: &buffer)
      buffer.append("]")
    }
    buffer.append("]")
  }

  /// Appends the bytes of a head that a first line and the header lines don't give, unless they could tell a secret.
  func appendBytes(
    of head: HTTPHead, unless startLine: String, fieldsStart: Int, to buffer: inout [UInt8]
  ) {
    guard startLine != head.startLine || !head.isGivenByFields else { return }
    let bytes = head.bytes.span.bytes
    guard
      redaction.hidesNothing
        || (!Self.isSecretHidden(in: buffer[fieldsStart...]) && !redaction.mayStand(in: bytes))
    else { return }
    buffer.append(",\"bytes\":\"")
    buffer.append(base64: bytes)
    buffer.append("\"")
  }

  func append(_ text: String, as key: StaticString, to buffer: inout [UInt8]) {
    buffer.append(key)
    buffer.append(quoted: text)
  }

  /// Appends an array of texts; leaves an empty one out.
  private func append(_ texts: [String], as key: StaticString, to buffer: inout [UInt8]) {
    guard !texts.isEmpty else { return }
    buffer.append(key)
    for (index, text) in texts.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: ",")) }
      buffer.append(quoted: text)
    }
    buffer.append("]")
  }
}

extension WebSocketHandshake {
  /// The extensions that are offered or accepted.
  var extensions: [WebSocketExtension] {
    switch self {
    case .request(let request): request.extensions
    case .response(let response): response.extensions
    }
  }

  /// The first line that the fields of a line of JSON give.
  fileprivate var startLine: String {
    switch self {
    case .request(let request): "\(request.method) \(request.target) \(request.httpVersion)"
    case .response(let response): "\(response.httpVersion) \(response.status) \(response.reason)"
    }
  }
}

extension RedactionRules {
  /// Whether the payload of a frame may be shown, if with secrets hidden in it.
  func mayShow(_ frame: borrowing WebSocketFrameView) -> Bool {
    guard !hidesNothing else { return true }
    // What it inflates to is not known.
    if case .kept = frame.compression { return !hidesSecrets }
    // Behind the code, which is no text, a reason is looked at by itself.
    if frame.closeCode != nil, findSecret(in: frame.closeReason) { return false }
    // Only the names of the table are followed from frame to frame.
    if frame.opcode == .continuation, !keys.isEmpty { return false }
    return switch frame.cargo {
    case .unknown: true
    case .mqtt: !mayStand(in: frame.data)
    case .mqttConcealed, .concealed: false
    }
  }
}
