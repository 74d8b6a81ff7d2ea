import Wire

/// Writes events as lines for people at a terminal.
///
/// A line has the time, the frame, the connection, the direction, the type and the fields that
/// matter; `!` marks what breaks a rule or is missing. Nothing from the capture reaches the terminal
/// as a control character.
public struct EventTextWriter: Sendable {
  /// Whether types and faults are coloured.
  public let usesColor: Bool
  /// What is not shown; `***` stands for it.
  public let redaction: RedactionRules
  /// The most characters of a payload that a line shows, unless more or fewer are wanted.
  public static let defaultPayloadLimit = 60

  /// The most characters of a payload that a line shows.
  let payloadLimit: Int
  private var file: String?
  private var day: Int64?
  /// Bytes in the making, kept so that a line needs no memory of its own.
  var scratch: [UInt8] = []

  /// Creates a writer that shows all secrets, or none.
  /// - Parameters:
  ///   - usesColor: Whether types and faults are coloured.
  ///   - showsSecrets: Whether passwords, tokens and signatures are shown.
  ///   - payloadLimit: The most characters of a payload that a line shows, up to 65,536.
  public init(
    usesColor: Bool = false, showsSecrets: Bool = false, payloadLimit: Int = defaultPayloadLimit
  ) {
    self.init(
      usesColor: usesColor, hiding: RedactionRules(hidesSecrets: !showsSecrets),
      payloadLimit: payloadLimit)
  }

  /// Creates a writer.
  /// - Parameters:
  ///   - usesColor: Whether types and faults are coloured.
  ///   - redaction: What is not shown.
  ///   - payloadLimit: The most characters of a payload that a line shows, up to 65,536.
  public init(
    usesColor: Bool = false, hiding redaction: RedactionRules,
    payloadLimit: Int = defaultPayloadLimit
  ) {
    self.payloadLimit = min(max(1, payloadLimit), 65_536)
    self.usesColor = usesColor
    self.redaction = redaction
  }

  /// Lets the next event stand under a header with the file's name.
  /// - Parameter name: The file.
  public mutating func beginFile(_ name: String) {
    file = name
    day = nil
  }

  /// Appends one event as a line without its end, after a header where file or date change.
  /// - Parameters:
  ///   - event: The event.
  ///   - buffer: Where to append UTF-8.
  public mutating func append(_ event: borrowing EventView, to buffer: inout [UInt8]) {
    let context = event.context
    appendHeader(context.time, to: &buffer)
    appendPlace(context, to: &buffer)
    appendBody(event, to: &buffer)
  }

  /// Appends what a line has from the type on: what happened, without where and when.
  /// - Parameters:
  ///   - event: The event.
  ///   - buffer: Where to append UTF-8.
  package mutating func appendBody(_ event: borrowing EventView, to buffer: inout [UInt8]) {
    let context = event.context
    switch event.body {
    case .opened(let opening):
      append(type: "OPEN", .quiet, to: &buffer)
      append(opening, context, to: &buffer)
    case .closed(let closing):
      append(type: "CLOSE", .quiet, to: &buffer)
      buffer.append(contentsOf: closing.how.rawValue.utf8)
      if let reason = closing.reason {
        buffer.append("  ")
        buffer.appendShown(redaction.shown(reason))
      }
    case .attempted(let attempt):
      append(type: "ATTEMPT", .quiet, to: &buffer)
      append(attempt, context, to: &buffer)
    case .gap(let gap):
      append(type: "GAP", .fault, to: &buffer)
      begin(.fault, to: &buffer)
      buffer.append("! ")
      append(gap, to: &buffer)
      end(to: &buffer)
    case .malformed(let malformation):
      append(type: "MALFORMED", .fault, to: &buffer)
      begin(.fault, to: &buffer)
      buffer.append("! ")
      buffer.appendShown(redaction.shown(malformation.message))
      buffer.append(" (byte ")
      buffer.append(decimal: malformation.offset)
      buffer.append(" of the stream)")
      end(to: &buffer)
    case .mqtt(let packet):
      append(type: packet.type.name, Style(packet.type), to: &buffer)
      appendFields(packet, to: &buffer)
      append(packet.faults, more: packet.moreFaults, missing: packet.missing, to: &buffer)
    case .webSocket(let frame):
      append(type: frame.opcode.name, Style(frame.opcode), to: &buffer)
      appendFields(frame, to: &buffer)
      append(frame.faults, missing: frame.missing, to: &buffer)
    case .handshake(let handshake):
      append(type: handshake.name, handshake.isRefusal ? .fault : .request, to: &buffer)
      appendFields(handshake, to: &buffer)
      append(handshake.faults, missing: 0, to: &buffer)
    case .tls(let part):
      append(type: part.name, Style(part), to: &buffer)
      appendFields(part, to: &buffer)
    case .http(let part):
      append(type: part.name, Style(part), to: &buffer)
      appendFields(part, to: &buffer)
      append(part.message?.head.faults ?? [], missing: part.message?.missing ?? 0, to: &buffer)
    }
    while buffer.last == UInt8(ascii: " ") { buffer.removeLast() }
    guard context.isOrderUncertain else { return }
    begin(.quiet, to: &buffer)
    buffer.append("  (order uncertain)")
    end(to: &buffer)
  }

  private func append(_ gap: Gap, to buffer: inout [UInt8]) {
    guard gap.reason != .leftOut else { return buffer.append("left out by a selection") }
    guard gap.reason != .altered else {
      return buffer.append("from here on a proxy altered what was sent")
    }
    buffer.append(decimal: gap.bytes)
    guard gap.reason != .foreign else { return buffer.append(" bytes that are no MQTT") }
    buffer.append(gap.bytes == 1 ? " byte missing (" : " bytes missing (")
    buffer.append(contentsOf: gap.reason.rawValue.utf8)
    buffer.append(")")
  }

  // MARK: The start of a line

  private mutating func appendHeader(_ time: Timestamp, to buffer: inout [UInt8]) {
    let nanosecondsOfDay = time.nanosecondsOfDay
    let (midnight, _) = time.nanoseconds.subtractingReportingOverflow(nanosecondsOfDay)
    guard day != midnight else { return }
    day = midnight
    begin(.quiet, to: &buffer)
    buffer.append("# ")
    if let file {
      buffer.appendShown(file)
      buffer.append(", ")
    }
    file = nil
    let start = buffer.count
    time.append(to: &buffer)
    // Of 2026-11-21T07:39:01.123456Z the date alone.
    buffer.removeLast(max(0, buffer.count - start - 10))
    buffer.append(" (UTC)")
    end(to: &buffer)
    buffer.append("\n")
  }

  private func appendPlace(_ context: EventContext, to buffer: inout [UInt8]) {
    let start = buffer.count
    context.time.append(to: &buffer)
    buffer.removeSubrange(start..<min(start + 11, buffer.count))
    if buffer.last == UInt8(ascii: "Z") { buffer.removeLast() }
    buffer.append(decimal: context.frame, width: 7)
    buffer.append("  #")
    buffer.append(decimalLeft: context.connection, width: 4)
    buffer.append(context.sender == .client ? "→ " : "← ")
  }

  private func append(type: StaticString, _ style: Style, to buffer: inout [UInt8]) {
    begin(style, to: &buffer)
    buffer.append(type)
    end(to: &buffer)
    // At least one space: the longest name fills its column.
    let width = max(12, type.utf8CodeUnitCount + 1)
    for _ in type.utf8CodeUnitCount..<width { buffer.append(UInt8(ascii: " ")) }
  }

  // MARK: Events that are no packets

  private func append(
    _ opening: ConnectionOpening, _ context: EventContext, to buffer: inout [UInt8]
  ) {
    buffer.appendShown(redaction.shown(url: opening.client))
    buffer.append(" → ")
    buffer.appendShown(redaction.shown(url: opening.server))
    buffer.append("  ")
    buffer.append(context.wire.name)
    if !opening.isFromStart { buffer.append("  begun before the capture") }
    guard let evidence = opening.evidence else { return }
    buffer.append("  (")
    if case .mqttInferred(let version) = context.wire {
      buffer.append(WireProtocol.mqtt(version).name)
      buffer.append("? ")
    }
    buffer.appendShown(evidence)
    buffer.append(")")
  }

  private mutating func append(
    _ attempt: ConnectionAttempt, _ context: EventContext, to buffer: inout [UInt8]
  ) {
    buffer.appendShown(redaction.shown(url: attempt.server))
    buffer.append("  ")
    if attempt.connect == nil {
      buffer.append(context.wire.name)
      buffer.append("  ")
    }
    attempt.withConnect(as: context.wire.version) { appendConnect($0, to: &buffer) }
    buffer.append(contentsOf: attempt.how.rawValue.utf8)
    guard let reason = attempt.reason else { return }
    buffer.append("  ")
    buffer.appendShown(redaction.shown(reason))
  }

  // MARK: Faults

  private func append<Fault: ShownFault>(
    _ faults: [Fault], more: Int = 0, missing: Int, to buffer: inout [UInt8]
  ) {
    guard !faults.isEmpty || missing > 0 else { return }
    begin(.fault, to: &buffer)
    for fault in faults.prefix(8) {
      buffer.append("! ")
      buffer.append(contentsOf: fault.shownMessage.utf8)
      buffer.append(" (")
      buffer.append(contentsOf: fault.shownField.utf8)
      buffer.append(", byte ")
      buffer.append(decimal: fault.offset)
      buffer.append(")  ")
    }
    if faults.count > 8 {
      buffer.append("! and ")
      buffer.append(decimal: faults.count - 8 + more)
      buffer.append(" more faults  ")
    }
    if missing > 0 {
      buffer.append("! ")
      buffer.append(decimal: missing)
      buffer.append(missing == 1 ? " byte missing" : " bytes missing")
    }
    while buffer.last == UInt8(ascii: " ") { buffer.removeLast() }
    end(to: &buffer)
  }

  // MARK: Colours

  /// How a part of a line looks.
  enum Style {
    case request, answer, message, quiet, fault

    init(_ type: MQTTPacketType) {
      switch type {
      case .publish: self = .message
      case .connect, .subscribe, .unsubscribe, .disconnect, .auth: self = .request
      case .connack, .suback, .unsuback: self = .answer
      case .puback, .pubrec, .pubrel, .pubcomp, .pingreq, .pingresp: self = .quiet
      case .reserved: self = .fault
      }
    }

    init(_ opcode: WebSocketOpcode) {
      switch opcode {
      case .text, .binary, .continuation: self = .message
      case .ping, .pong: self = .quiet
      case .close: self = .request
      default: self = .fault
      }
    }

    init(_ part: TLSPart) {
      switch part {
      case .handshake(let hellos): self = hellos.obstacle == nil ? .quiet : .fault
      case .alert(let alert): self = alert.isFatal ? .fault : .quiet
      }
    }

    init(_ part: HTTPPart) {
      switch part {
      case .request: self = .request
      case .response(_, let message): self = message.status ?? 0 >= 400 ? .fault : .answer
      case .unanswered: self = .fault
      }
    }

    var code: StaticString {
      switch self {
      case .request: "\u{1B}[36m"
      case .answer: "\u{1B}[34m"
      case .message: "\u{1B}[32m"
      case .quiet: "\u{1B}[2m"
      case .fault: "\u{1B}[31m"
      }
    }
  }

  func begin(_ style: Style, to buffer: inout [UInt8]) {
    if usesColor { buffer.append(style.code) }
  }

  func end(to buffer: inout [UInt8]) {
    if usesColor { buffer.append("\u{1B}[0m") }
  }
}

/// What a line shows of a fault.
private protocol ShownFault {
  var shownMessage: String { get }
  var shownField: String { get }
  var offset: Int { get }
}

extension MQTTFault: ShownFault {
  fileprivate var shownMessage: String { code.message }
  fileprivate var shownField: String { field.rawValue }
}

extension WebSocketFault: ShownFault {
  fileprivate var shownMessage: String { code.message }
  fileprivate var shownField: String { field.rawValue }
}

extension [UInt8] {
  /// Appends text of ours or of the capture, safe to show.
  mutating func appendShown(_ text: String) {
    let bytes = Array(text.utf8)
    TerminalText.append(bytes.span.bytes, to: &self)
  }

  /// Appends a number with spaces in front of it.
  mutating func append(decimal value: Int, width: Int) {
    let start = count
    append(decimal: value)
    let missing = width - (count - start)
    if missing > 0 {
      insert(contentsOf: repeatElement(UInt8(ascii: " "), count: missing), at: start)
    }
  }

  /// Appends a number with spaces behind it, at least one.
  mutating func append(decimalLeft value: Int, width: Int) {
    let start = count
    append(decimal: value)
    repeat { append(UInt8(ascii: " ")) } while count - start < width
  }
}
