import Wire

/// Writes events as the lines of JSON that `inspect` prints and recordings hold.
///
/// The fields of a packet are enough to encode it again. Where they are not (the packet has faults,
/// bytes are missing, or it uses an encoding that the fields don't show) the line has `bytes` too:
/// the packet's captured bytes in base64.
///
/// Of a packet or frame whose line could become longer than a recording's line can be, the start is written as that of
/// one of which the rest is `missing`; ``appendLines(_:to:)`` says so in a line of its own.
public struct EventJSONWriter: Sendable {
  /// What is not written; `"***"` stands for it.
  public let redaction: RedactionRules
  /// The value of the key `file`; nil leaves it out, as recordings do.
  public var file: String? {
    didSet { opening = Self.opening(file) }
  }
  /// What a selection left out in front of the next event; nil where nothing is selected.
  public var leftOut: LeftOut?
  /// The keys of another line that this program does not know, to stand behind those of the next event.
  public var unknown: [JSONMember] = []
  /// What every line begins with, up to the number of the frame.
  private var opening: [UInt8]

  /// Creates a writer that shows all secrets, or none.
  public init(showsSecrets: Bool = false, file: String? = nil) {
    self.init(hiding: RedactionRules(hidesSecrets: !showsSecrets), file: file)
  }

  /// Creates a writer.
  /// - Parameters:
  ///   - redaction: What is not written.
  ///   - file: The value of the key `file`.
  public init(hiding redaction: RedactionRules, file: String? = nil) {
    self.redaction = redaction
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

  /// Appends one event as a line of JSON, without its end; and a GAP as another line where the event is cut, for what
  /// is left out.
  /// - Parameters:
  ///   - event: The event.
  ///   - buffer: Where to append UTF-8.
  public func appendLines(_ event: borrowing EventView, to buffer: inout [UInt8]) {
    append(event, to: &buffer)
    let cut = Self.cut(of: event)
    guard cut > 0 else { return }
    buffer.append(UInt8(ascii: "\n"))
    var writer = self
    writer.unknown = []
    // What was left out was so in front of both.
    if leftOut != nil { writer.leftOut = LeftOut() }
    writer.append(EventView(event.context, .gap(Gap(bytes: cut, reason: .limit))), to: &buffer)
  }

  /// Appends one event as a JSON object, without a line end.
  /// - Parameters:
  ///   - event: The event.
  ///   - buffer: Where to append UTF-8.
  public func append(_ event: borrowing EventView, to buffer: inout [UInt8]) {
    appendContext(event.context, to: &buffer)
    switch event.body {
    case .mqtt(let packet):
      let version = event.context.wire.version
      guard packet.isCutInLines else {
        appendPacket(packet, as: version, to: &buffer)
        break
      }
      appendPacket(packet.startInLines, as: version, to: &buffer)
    case .webSocket(let frame):
      guard frame.isCutInLines else {
        append(frame, to: &buffer)
        break
      }
      append(frame.startInLines, to: &buffer)
    case .handshake(let handshake): append(handshake, to: &buffer)
    case .http(let part): append(part.start(of: Self.largestPacket), to: &buffer)
    case .tls(let part): append(part, to: &buffer)
    case .opened(let opening): append(opening, to: &buffer)
    case .closed(let closing):
      buffer.append("CLOSE\",\"how\":\"")
      buffer.append(contentsOf: closing.how.rawValue.utf8)
      buffer.append("\"")
      append(firstFrame: closing.firstFrame, closing.firstTime, to: &buffer)
      if !closing.isAnswered { buffer.append(",\"answered\":false") }
      if closing.isLate { buffer.append(",\"late\":true") }
      if closing.isOfMergedClocks { buffer.append(",\"merged\":true") }
      append(nanoseconds: closing.clientSilence, as: ",\"clientSilence\":", to: &buffer)
      append(nanoseconds: closing.clientRest, as: ",\"clientRest\":", to: &buffer)
      append(nanoseconds: closing.serverRest, as: ",\"serverRest\":", to: &buffer)
      if let reason = closing.reason {
        buffer.append(",\"reason\":")
        buffer.append(quoted: redaction.shown(reason))
      }
    case .attempted(let attempt): append(attempt, as: event.context.wire, to: &buffer)
    case .gap(let gap):
      buffer.append("GAP\",\"bytes\":")
      buffer.append(decimal: Self.exact(gap.bytes))
      buffer.append(",\"reason\":\"")
      buffer.append(contentsOf: gap.reason.rawValue.utf8)
      buffer.append("\"")
    case .malformed(let malformation):
      buffer.append("MALFORMED\",\"error\":{\"code\":")
      buffer.append(quoted: malformation.code)
      buffer.append(",\"offset\":")
      buffer.append(decimal: Self.exact(malformation.offset))
      buffer.append(",\"message\":")
      buffer.append(quoted: redaction.shown(malformation.message))
      buffer.append("}")
    }
    if let leftOut { append(leftOut, to: &buffer) }
    for member in unknown {
      buffer.append(",")
      buffer.append(quoted: member.key)
      buffer.append(":")
      member.value.append(to: &buffer)
    }
    buffer.append(UInt8(ascii: "}"))
  }

  private func append(_ leftOut: LeftOut, to buffer: inout [UInt8]) {
    buffer.append(",\"leftOut\":{\"client\":")
    buffer.append(decimal: leftOut.client)
    buffer.append(",\"server\":")
    buffer.append(decimal: leftOut.server)
    buffer.append("}")
  }

  /// A number that every reader of JSON takes exactly; a larger one becomes the largest of them, 2^53.
  private static func exact(_ number: Int) -> Int { min(number, RecordingFields.maximumInteger) }

  /// How many bytes there may be of what all events have, but for what every line begins with.
  private static let mostContext = 512

  /// Appends what all events have, up to and with `"type":"`.
  private func appendContext(_ context: EventContext, to buffer: inout [UInt8]) {
    buffer.appendShort(atMost: opening.count + Self.mostContext) { text in
      opening.withUnsafeBytes { text.append(copying: $0) }
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
    buffer.append(quoted: redaction.shown(url: opening.client))
    buffer.append(",\"server\":")
    buffer.append(quoted: redaction.shown(url: opening.server))
    buffer.append(",\"fromStart\":")
    buffer.append(opening.isFromStart)
    append(firstFrame: opening.firstFrame, opening.firstTime, to: &buffer)
    if !opening.hasPings { buffer.append(",\"pings\":false") }
    guard let evidence = opening.evidence else { return }
    buffer.append(",\"evidence\":")
    buffer.append(quoted: evidence)
  }

  private func append(
    _ attempt: ConnectionAttempt, as wire: WireProtocol, to buffer: inout [UInt8]
  ) {
    buffer.append("ATTEMPT\",\"server\":")
    buffer.append(quoted: redaction.shown(url: attempt.server))
    buffer.append(",\"how\":\"")
    buffer.append(contentsOf: attempt.how.rawValue.utf8)
    buffer.append("\",\"firstTime\":\"")
    attempt.firstTime.append(to: &buffer)
    buffer.append("\"")
    if let reason = attempt.reason {
      buffer.append(",\"reason\":")
      buffer.append(quoted: redaction.shown(reason))
    }
    if attempt.cause != .other {
      buffer.append(",\"cause\":\"")
      buffer.append(contentsOf: attempt.cause.rawValue.utf8)
      buffer.append("\"")
    }
    attempt.withConnect(as: wire.version) { packet in
      appendConnect(packet, to: &buffer)
      append(packet.properties, of: packet, name: ",\"properties\":{", to: &buffer)
    }
  }

  private func append(
    nanoseconds: Int64?, as key: StaticString, to buffer: inout [UInt8]
  ) {
    guard let nanoseconds else { return }
    buffer.append(key)
    buffer.append(decimal: Int(nanoseconds))
  }

  private func append(firstFrame: Int, _ time: Timestamp, to buffer: inout [UInt8]) {
    buffer.append(",\"firstFrame\":")
    buffer.append(decimal: firstFrame)
    buffer.append(",\"firstTime\":\"")
    time.append(to: &buffer)
    buffer.append("\"")
  }
}
