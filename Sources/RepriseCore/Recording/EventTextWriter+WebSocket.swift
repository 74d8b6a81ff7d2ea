import Wire

extension EventTextWriter {
  /// Appends the fields of a frame that matter to a reader.
  mutating func appendFields(_ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]) {
    if !frame.opcode.isDefined {
      buffer.append("opcode ")
      buffer.append(decimal: Int(frame.opcode.rawValue))
      buffer.append("  ")
    }
    if !frame.header.isFinal { buffer.append("to be continued  ") }
    buffer.append(contentsOf: String(frame.header.payloadLength).utf8)
    buffer.append(" B  ")
    appendCompression(frame, to: &buffer)
    if let code = frame.closeCode {
      buffer.append("code ")
      buffer.append(decimal: Int(code))
      buffer.append("  ")
      appendShown(frame.closeReason, to: &buffer)
    } else if frame.cargo == .unknown || frame.cargo == .concealed {
      if redaction.mayShow(frame) {
        appendShown(frame.data, to: &buffer)
      } else {
        buffer.append("***  ")
      }
    } else {
      // The packets have lines of their own.
      buffer.append("mqtt  ")
    }
  }

  mutating func appendShown(_ payload: RawSpan, to buffer: inout [UInt8]) {
    guard !payload.isEmpty else { return }
    append(payload: payload, to: &buffer)
    buffer.append("  ")
  }

  private func appendCompression(
    _ frame: borrowing WebSocketFrameView, to buffer: inout [UInt8]
  ) {
    switch frame.compression {
    case .none: break
    case .inflated:
      buffer.append("inflated ")
      buffer.append(decimal: frame.data.byteCount)
      buffer.append(" B  ")
    case .kept(let reason):
      buffer.append("compressed, ")
      buffer.append(reason.shown)
      buffer.append("  ")
    }
  }

  /// Appends the fields of a request or response that matter to a reader.
  func appendFields(_ handshake: WebSocketHandshake, to buffer: inout [UInt8]) {
    switch handshake {
    case .request(let request):
      append(redaction.shown(request.method), to: &buffer)
      append(redaction.shown(url: request.target), to: &buffer)
      if let host = request.head.fields(named: "Host").first {
        append(redaction.shown(authority: host.value), as: "host ", to: &buffer)
      }
      append(
        request.subprotocols.map(redaction.shown(subprotocol:)), as: "subprotocols ", to: &buffer)
    case .response(let response):
      append(String(response.status), to: &buffer)
      if !response.accepts { append(redaction.shown(response.reason), to: &buffer) }
      append(
        (response.subprotocol.map { [redaction.shown(subprotocol: $0)] } ?? []), as: "subprotocol ",
        to: &buffer)
    }
    append(
      handshake.extensions.map { redaction.shown($0.description) }, as: "extensions ", to: &buffer)
  }

  private func append(_ texts: [String], as name: StaticString, to buffer: inout [UInt8]) {
    guard !texts.isEmpty else { return }
    append(texts.joined(separator: ", "), as: name, to: &buffer)
  }

  func append(_ text: String, as name: StaticString = "", to buffer: inout [UInt8]) {
    buffer.append(name)
    let bytes = Array(text.utf8)
    TerminalText.append(bytes.span.bytes, to: &buffer, limit: 250)
    buffer.append("  ")
  }
}

extension WebSocketCompression.Reason {
  /// The reason for people.
  fileprivate var shown: StaticString {
    switch self {
    case .contextLost: "not inflated: it refers to bytes that are not in the capture"
    case .damaged: "not inflated: its bytes are damaged"
    case .tooLarge: "not inflated: the message is too large"
    case .tooMuch: "not inflated: few bytes become too many"
    }
  }
}

extension WebSocketHandshake {
  /// Whether the server does not switch.
  var isRefusal: Bool {
    if case .response(let response) = self { !response.accepts } else { false }
  }
}
