import Wire

/// Writes events as the lines of JSON that `inspect` prints and recordings hold.
///
/// The fields of a packet are enough to encode it again. Where they are not (the packet has faults,
/// bytes are missing, or it uses an encoding that the fields don't show) the line has `bytes` too:
/// the packet's captured bytes in base64.
public struct EventJSONWriter: Sendable {
  /// Whether passwords, tokens and signatures are written; `"***"` stands for them if not.
  public var showsSecrets: Bool
  /// The value of the key `file`; nil leaves it out, as recordings do.
  public var file: String? {
    didSet { opening = Self.opening(file) }
  }
  /// What every line begins with, up to the number of the frame.
  private var opening: [UInt8]

  /// Creates a writer.
  public init(showsSecrets: Bool = false, file: String? = nil) {
    self.showsSecrets = showsSecrets
    self.file = file
    opening = Self.opening(file)
  }

  private static func opening(_ file: String?) -> [UInt8] {
    var bytes: [UInt8] = []
    if let file {
      bytes.append("{\"file\":")
      bytes.append(quoted: file)
      bytes.append(",\"frame\":")
    } else {
      bytes.append("{\"frame\":")
    }
    return bytes
  }

  /// Appends one event as a JSON object, without a line end.
  /// - Parameters:
  ///   - event: The event.
  ///   - buffer: Where to append UTF-8.
  public func append(_ event: borrowing EventView, to buffer: inout [UInt8]) {
    appendContext(event.context, to: &buffer)
    switch event.body {
    case .mqtt(let packet):
      appendPacket(packet, as: event.context.wire.version, to: &buffer)
    case .webSocket(let frame): append(frame, to: &buffer)
    case .handshake(let handshake): append(handshake, to: &buffer)
    case .opened(let opening): append(opening, to: &buffer)
    case .closed(let closing):
      buffer.append("CLOSE\",\"how\":\"")
      buffer.append(contentsOf: closing.how.rawValue.utf8)
      buffer.append("\"")
      append(firstFrame: closing.firstFrame, closing.firstTime, to: &buffer)
      if !closing.isAnswered { buffer.append(",\"answered\":false") }
      if let reason = closing.reason {
        buffer.append(",\"reason\":")
        buffer.append(quoted: reason)
      }
    case .gap(let gap):
      buffer.append("GAP\",\"bytes\":")
      buffer.append(decimal: gap.bytes)
      buffer.append(",\"reason\":\"")
      buffer.append(contentsOf: gap.reason.rawValue.utf8)
      buffer.append("\"")
    case .malformed(let malformation):
      buffer.append("MALFORMED\",\"error\":{\"code\":")
      buffer.append(quoted: malformation.code)
      buffer.append(",\"offset\":")
      buffer.append(decimal: malformation.offset)
      buffer.append(",\"message\":")
      buffer.append(quoted: malformation.message)
      buffer.append("}")
    }
    buffer.append(UInt8(ascii: "}"))
  }

  /// Appends what all events have, up to and with `"type":"`.
  private func appendContext(_ context: EventContext, to buffer: inout [UInt8]) {
    buffer.append(contentsOf: opening)
    buffer.appendShort { text in
      text.append(decimal: context.frame)
      text.append(",\"time\":\"")
      context.time.append(to: &text)
      text.append("\",\"connection\":")
      text.append(decimal: context.connection)
      switch context.sender {
      case .client: text.append(",\"from\":\"client\",\"protocol\":\"")
      case .server: text.append(",\"from\":\"server\",\"protocol\":\"")
      }
      text.append(context.wire.name)
      if case .mqttInferred(let version) = context.wire {
        text.append("\",\"inferred\":\"")
        text.append(WireProtocol.mqtt(version).name)
      }
      switch context.over {
      case .webSocket: text.append("\",\"over\":\"websocket")
      case nil: break
      }
      if context.isOrderUncertain { text.append("\",\"order\":\"uncertain") }
      text.append("\",\"type\":\"")
    }
  }

  private func append(_ opening: ConnectionOpening, to buffer: inout [UInt8]) {
    buffer.append("OPEN\",\"client\":")
    buffer.append(quoted: opening.client)
    buffer.append(",\"server\":")
    buffer.append(quoted: opening.server)
    buffer.append(",\"fromStart\":")
    buffer.append(opening.isFromStart)
    append(firstFrame: opening.firstFrame, opening.firstTime, to: &buffer)
    if !opening.hasPings { buffer.append(",\"pings\":false") }
    guard let evidence = opening.evidence else { return }
    buffer.append(",\"evidence\":")
    buffer.append(quoted: evidence)
  }

  private func append(firstFrame: Int, _ time: Timestamp, to buffer: inout [UInt8]) {
    buffer.append(",\"firstFrame\":")
    buffer.append(decimal: firstFrame)
    buffer.append(",\"firstTime\":\"")
    time.append(to: &buffer)
    buffer.append("\"")
  }
}
