import Wire

extension EventJSONWriter {
  /// Appends the fields of a frame, the type's name first.
  func append(_ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]) {
    let header = frame.header
    let start = buffer.count
    buffer.appendShort { text in
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
    }
  }

  private func appendClose(_ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]) {
    guard let code = frame.closeCode else { return }
    buffer.append(",\"closeCode\":")
    buffer.append(decimal: Int(code))
    buffer.append(",\"closeReason\":")
    buffer.append(quoted: frame.closeReason)
  }

  private func appendPayload(_ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]) {
    buffer.append(",\"payload\":")
    if showsSecrets || frame.mayBeShown {
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
    guard showsSecrets || !Self.isSecretHidden(in: buffer[fieldsStart...]) else { return }
    var bytes: [UInt8] = []
    frame.header.append(to: &bytes)
    WebSocketMask.append(frame.payload, key: frame.header.maskingKey ?? 0, to: &bytes)
    buffer.append(",\"bytes\":\"")
    buffer.append(base64: bytes.span.bytes)
    buffer.append("\"")
  }

  private func append(_ faults: [WebSocketFault], to buffer: inout [UInt8]) {
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
      append(request.method, as: "\",\"method\":", to: &buffer)
      let target = showsSecrets ? request.target : HandshakeSecrets.hidden(in: request.target)
      append(target, as: ",\"target\":", to: &buffer)
      append(request.httpVersion, as: ",\"http\":", to: &buffer)
      append(request.subprotocols.map(shown), as: ",\"subprotocols\":[", to: &buffer)
    case .response(let response):
      buffer.append("\",\"status\":")
      buffer.append(decimal: response.status)
      append(response.reason, as: ",\"reason\":", to: &buffer)
      append(response.httpVersion, as: ",\"http\":", to: &buffer)
      if let subprotocol = response.subprotocol {
        append(shown(subprotocol), as: ",\"subprotocol\":", to: &buffer)
      }
    }
    append(handshake.extensions.map(\.description), as: ",\"extensions\":[", to: &buffer)
    buffer.append(",\"headers\":[")
    for (index, field) in handshake.head.fields.enumerated() {
      let value = showsSecrets ? field.value : HandshakeSecrets.hidden(field)
      append(field.name, as: index > 0 ? ",[" : "[", to: &buffer)
      append(value, as: ",", to: &buffer)
      buffer.append("]")
    }
    buffer.append("]")
    append(handshake.faults, to: &buffer)
    guard !handshake.isGivenByFields else { return }
    guard showsSecrets || !Self.isSecretHidden(in: buffer[start...]) else { return }
    buffer.append(",\"bytes\":\"")
    buffer.append(base64: handshake.head.bytes.span.bytes)
    buffer.append("\"")
  }

  private func shown(_ subprotocol: String) -> String {
    showsSecrets ? subprotocol : HandshakeSecrets.hidden(subprotocol: subprotocol)
  }

  private func append(_ text: String, as key: StaticString, to buffer: inout [UInt8]) {
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
  private var startLine: String {
    switch self {
    case .request(let request): "\(request.method) \(request.target) \(request.httpVersion)"
    case .response(let response): "\(response.httpVersion) \(response.status) \(response.reason)"
    }
  }

  /// Whether the fields give the very bytes of the head.
  fileprivate var isGivenByFields: Bool {
    startLine == head.startLine && head.isGivenByFields
  }
}

extension WebSocketFrameView {
  /// Whether the payload may be shown to those who must not see secrets, other than as text in which
  /// secrets are hidden.
  var mayBeShown: Bool {
    switch cargo {
    case .unknown: true
    case .mqtt: !SecretKeys.stand(in: data)
    case .mqttConcealed: false
    }
  }
}
