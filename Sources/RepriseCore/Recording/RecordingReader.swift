import Wire

/// Reads the lines of a recording, one by one, into events.
///
/// The first line is the header; ``read(line:number:)`` checks it and returns nil for it. Lines that `inspect` printed
/// have none, and are read without. What feeds the lines is not this type's business: ``RecordingStream`` cuts them
/// out of bytes.
public struct RecordingReader: Sendable {
  /// The recording's header; nil until its line was read.
  public private(set) var header: RecordingHeader?
  /// What happened in front of the last event: gaps where a selection left events out, and the ends of connections
  /// of a file that is over.
  public private(set) var earlier: [Event] = []
  /// What the lines say of how much of a session they are.
  private var parts = RecordingParts()
  /// The keys of the last event's line.
  private var members: [JSONMember] = []
  /// The requests for WebSocket that are not answered yet, by connection.
  private var requests: [Int: WebSocketRequest] = [:]

  /// The fragmented messages for WebSocket that are not over, by connection and sender.
  private var fragments: [FragmentedMessage: FragmentSecrets] = [:]

  /// More requests without an answer, and messages without an end, than a session has that nobody made up.
  private static let maximumRequests = 65_536

  private struct FragmentedMessage: Hashable, Sendable {
    let connection: Int
    let sender: Peer
  }

  /// The keys of the last event's line that this program does not know, to be written back.
  public var unknown: [JSONMember] { members.filter { !Self.knownKeys.contains($0.key) } }

  /// How many events a selection left out in front of others, as far as was read.
  public var leftOutCount: Int { parts.leftOutCount }

  /// Creates a reader.
  public init() {}

  /// Takes the end of the recording.
  /// - Returns: Gaps of connections of a selection, behind whose last line events may have been left out.
  public mutating func finish() -> [Event] { parts.finish() }

  /// Reads one line.
  /// - Parameters:
  ///   - line: The line's bytes, with or without its line end.
  ///   - number: Its number in the file, from 1, which becomes the event's frame.
  /// - Returns: The event; nil for the header and for an empty line.
  /// - Throws: ``RecordingError`` with the place in the line.
  public mutating func read(
    line: RawSpan, number: Int
  ) throws(RecordingError) -> Event? {
    let value: JSONValue
    if Self.isBlank(line) { return nil }
    do {
      value = try JSONParser.parse(line)
    } catch {
      throw syntaxError(error, line: number)
    }
    guard case .object(let members) = value else {
      throw RecordingError(
        header == nil ? .notRecording : .wrongValue, "the line is not a JSON object",
        line: number, remedy: "name a recording that reprise made, or a capture")
    }
    let fields = RecordingFields(members, line: number)
    if header == nil {
      guard fields.isEvent else {
        header = try RecordingHeader(fields)
        return nil
      }
      header = RecordingHeader(created: nil, source: RecordingHeader.Source(kind: "inspect"))
    }
    self.members = members
    var event = try Event(fields)
    earlier = try parts.take(&event, fields)
    if case .handshake(let handshake) = event.body {
      event.body = .handshake(besideItsRequest(handshake, on: event.context.connection))
    }
    if case .webSocket(var frame) = event.body, frame.cargo == .unknown {
      if conceals(frame, event.context) { frame.cargo = .concealed }
      event.body = .webSocket(frame)
    }
    return event
  }

  /// Whether a frame goes on inside a secret, which by itself it does not show.
  private mutating func conceals(_ frame: WebSocketFrame, _ context: EventContext) -> Bool {
    guard !frame.header.opcode.isControl else { return false }
    let message = FragmentedMessage(connection: context.connection, sender: context.sender)
    // Most messages are one frame.
    if frame.header.isFinal, frame.header.opcode != .continuation {
      fragments[message] = nil
      return false
    }
    var secrets = fragments[message] ?? FragmentSecrets()
    let conceals = frame.withView(from: nil) { secrets.conceals($0) }
    let isOver = frame.header.isFinal
    let hasRoom = fragments[message] != nil || fragments.count < Self.maximumRequests
    fragments[message] = isOver || !hasRoom ? nil : secrets
    return conceals
  }

  /// Judges an answer by the request that it answers, as a capture is: what a line says of its own
  /// faults may be older than its fields.
  private mutating func besideItsRequest(
    _ handshake: WebSocketHandshake, on connection: Int
  ) -> WebSocketHandshake {
    switch handshake {
    case .request(let request):
      if requests.count < Self.maximumRequests { requests[connection] = request }
      return handshake
    case .response(let response):
      guard let request = requests[connection] else { return handshake }
      // An interim response is followed by the one that counts (RFC 9110 section 15.2).
      let isInterim = (100..<200).contains(response.status) && !response.accepts
      if !isInterim { requests[connection] = nil }
      return .response(WebSocketResponse(response.head, to: request))
    }
  }

  private func syntaxError(_ error: JSONSyntaxError, line: Int) -> RecordingError {
    RecordingError(
      header == nil ? .notRecording : .notJSON, error.message, line: line,
      column: error.offset + 1,
      remedy: header == nil
        ? "name a recording that reprise made, or a capture" : "correct the line or record again")
  }

  private static func isBlank(_ line: RawSpan) -> Bool {
    for offset in 0..<line.byteCount {
      switch line.byte(at: offset) {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      default: return false
      }
    }
    return true
  }

  /// Every key that an event's line can have.
  package static let knownKeys: Set<String> = [
    "file", "frame", "time", "connection", "from", "protocol", "inferred", "over", "order", "type",
    "length", "clientID", "cleanStart", "keepAlive", "bridge", "will", "username", "password",
    "properties", "sessionPresent", "returnCode", "reasonCodes", "packetID", "qos", "retain",
    "dup", "topic", "payload", "filters", "errors", "moreErrors", "missing", "bytes", "client",
    "server",
    "fromStart", "firstFrame", "firstTime", "evidence", "pings", "how", "reason", "answered",
    "late", "merged", "clientSilence", "clientRest", "serverRest",
    "error",
    "opcode", "fin", "masked", "maskingKey", "rsv", "compressed", "notInflated", "carries",
    "concealed", "closeCode", "closeReason", "method", "target", "http", "status", "headers",
    "subprotocol", "subprotocols", "extensions", "leftOut", "exchange", "decoded", "cause",
    "version", "cipherSuite", "serverName", "offers", "chosen", "obstacle", "remedy", "level",
    "code", "name", "meaning",
  ]
}

extension RecordingFields {
  /// Whether a first line is an event's, as `inspect` prints it, and no header.
  fileprivate var isEvent: Bool {
    value("reprise") == nil
      && ["time", "connection", "from", "protocol", "type"].allSatisfy { value($0) != nil }
  }
}
