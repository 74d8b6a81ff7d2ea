import RepriseCore
import Statistics
import Wire

/// Writes events as one page of HTML that shows them, with all that it takes inside of it.
///
/// The page has two blocks of JSON, of which nothing can leave its block, whatever a packet brings: the events, and what
/// is to be said of all of them. An event is an array:
///
/// 0. its number in the session, from 1;
/// 1. its fields, as `inspect --format jsonl` has them, without `file`;
/// 2. its line for people, from the type on;
/// 3. what is known of its connection: an object (`file`, `client`, `username`, `hosts`, `ports`) where it is new, or
///    the number of such an object, from 0;
/// 4. 1 where it has a fault, else 0;
/// 5. its captured bytes in base 64, or 0;
/// 6. where there is any: `cut`, the bytes that are left out; `topic`, that of an alias; `asks` or `answers`, what tells
///    a request over WebSocket from others of its connection; `findings`, their numbers.
struct SessionPage {
  /// The most bytes of a packet.
  private static let mostBytes = 1 << 14
  /// The most bytes of all events: a browser takes no longer text.
  private static let mostTotal = 256 << 20

  private var lines: LineBuffer<OutputFile>
  private let json: EventJSONWriter
  private var text: EventTextWriter
  private let redaction: RedactionRules
  private let requestKeys: RequestKeys
  private var names: ConnectionNames
  /// The number of what is known of an open connection of the current file.
  private var contexts: [Int: Int] = [:]
  private var contextCount = 0
  private var file = ""
  private var fileIndex = -1
  /// The files, with the first moment of each.
  private var files: [(name: String, start: Timestamp?)] = []
  private var written = 0
  private var bytes = 0
  private var number = 0

  /// Creates a page.
  /// - Parameters:
  ///   - output: Where it goes.
  ///   - redaction: What is not told.
  ///   - payloadLimit: The most characters of a payload that a line has.
  ///   - requestKeys: How requests over WebSocket are told.
  ///   - memory: The most bytes that the names of open connections take.
  init(
    _ output: OutputFile, hiding redaction: RedactionRules, payloadLimit: Int,
    _ requestKeys: RequestKeys, memory: Int
  ) {
    self.requestKeys = requestKeys
    lines = LineBuffer(output)
    json = EventJSONWriter(hiding: redaction)
    text = EventTextWriter(hiding: redaction, payloadLimit: payloadLimit)
    self.redaction = redaction
    names = ConnectionNames(limit: memory)
  }

  /// How many events are in it.
  var count: Int { written }
  /// Of how many connections it may not know who the client is, for lack of memory.
  var forgottenConnections: Int { names.forgotten }
  /// Whether it has no room for another event.
  var isFull: Bool { bytes > Self.mostTotal }

  /// Writes what stands in front of the events.
  mutating func begin() {
    append(PageFiles.opening)
    append("<script type=\"application/json\" id=\"events-data\">[\n")
  }

  /// Takes a file.
  mutating func beginFile(_ name: String) {
    file = name
    fileIndex += 1
    files.append((name, nil))
    contexts.removeAll(keepingCapacity: true)
    names.removeAll()
  }

  /// Takes the next event of the session.
  /// - Parameters:
  ///   - event: The event.
  ///   - isWanted: Whether the page has it.
  ///   - findings: Those that there may be of it.
  /// - Throws: ``OutputError``.
  mutating func take(
    _ event: borrowing EventView, isWanted: Bool, _ findings: PageFindings
  ) throws {
    number += 1
    if files[fileIndex].start == nil { files[fileIndex].start = event.context.time }
    let connection = event.context.connection
    if names.learn(event) { contexts[connection] = nil }
    if isWanted { try write(event, findings) }
    if names.forget(after: event) { contexts[connection] = nil }
  }

  /// Writes what stands behind the events.
  /// - Parameter members: What is to be said of all of them, besides the files.
  /// - Throws: ``OutputError``.
  mutating func end(_ members: [(String, JSONValue)]) throws {
    names.removeAll()
    append("]</script>\n<script type=\"application/json\" id=\"session-data\">")
    let start = lines.bytes.count
    let named = files.map { file in
      JSONValue.object(
        [JSONMember("name", .string(file.name))]
          + (file.start.map { [JSONMember("start", .string($0.description))] } ?? []))
    }
    let own: [(String, JSONValue)] = [
      ("version", .string(Reprise.version)), ("files", .array(named)),
      ("shown", .number(String(written))), ("isFull", .bool(isFull)),
    ]
    let all = own + members + Self.tables
    JSONValue.object(all.map { JSONMember($0.0, $0.1) }).append(to: &lines.bytes)
    hideMarkup(from: start)
    append("</script>\n")
    append(PageFiles.closing)
    try lines.flush()
  }

  /// The names that the filter language has.
  private static var tables: [(String, JSONValue)] {
    let reasons = FilterReason.all.map { reason in
      let codes = reason.codes.sorted { $0.key.rawValue < $1.key.rawValue }
      return JSONMember(
        reason.name,
        .object(
          codes.map { type, codes in
            JSONMember("\(type.name)", .array(codes.map { .number(String($0)) }))
          }))
    }
    let types = FilterHelp.eventTypes.map { JSONValue.string($0) }
    return [("types", .array(types)), ("reasons", .object(reasons))]
  }

  private mutating func write(_ event: borrowing EventView, _ findings: PageFindings) throws {
    let before = lines.bytes.count
    append(written == 0 ? "[" : ",[")
    append("\(number),")
    let cut = event.cut(to: Self.mostBytes)
    let fields = lines.bytes.count
    json.append(event.start(of: Self.mostBytes), to: &lines.bytes)
    let fieldsEnd = lines.bytes.count
    append(",")
    var body: [UInt8] = []
    text.appendBody(event, to: &body)
    lines.bytes.append(quoted: String(decoding: body, as: UTF8.self))
    append(",")
    appendContext(event.context.connection)
    append(event.hasFault ? ",1," : ",0,")
    var captured: [UInt8] = []
    let line = lines.bytes[fields..<fieldsEnd]
    if json.appendBytes(of: event.start(of: Self.mostBytes), beside: line, to: &captured) {
      append("\"")
      lines.bytes += captured
      append("\"")
    } else {
      append("0")
    }
    var rest: [JSONMember] = []
    if cut > 0 { rest.append(JSONMember("cut", .number(String(cut)))) }
    if let topic = names.aliasedTopic(of: event, hiding: redaction) {
      rest.append(JSONMember("topic", .string(topic)))
    }
    if case .webSocket(let frame) = event.body,
      let request = RequestIdentity(frame, of: event.context.sender, requestKeys)
    {
      let key = request.isAnswer ? "answers" : "asks"
      rest.append(JSONMember(key, .string(String(request.id, radix: 36))))
    }
    let numbers = findings.numbers(of: event, in: file)
    if !numbers.isEmpty {
      rest.append(JSONMember("findings", .array(numbers.map { .number(String($0)) })))
    }
    if !rest.isEmpty {
      append(",")
      JSONValue.object(rest).append(to: &lines.bytes)
    }
    append("]")
    hideMarkup(from: before)
    bytes += lines.bytes.count - before
    written += 1
    try lines.endLine()
  }

  private mutating func appendContext(_ connection: Int) {
    if let index = contexts[connection] { return append("\(index)") }
    contexts[connection] = contextCount
    contextCount += 1
    let known =
      [("file", JSONValue.number(String(fileIndex)))]
      + names.json(of: connection, hiding: redaction)
    JSONValue.object(known.map { JSONMember($0.0, $0.1) }).append(to: &lines.bytes)
  }

  private mutating func append(_ text: String) { lines.bytes.append(contentsOf: text.utf8) }

  /// Writes every `<` from a place on as an escape of JSON, outside of whose strings there is none: no `</script>` and
  /// no `<!--` is left, which would end the block or begin a comment.
  private mutating func hideMarkup(from start: Int) {
    let sign = UInt8(ascii: "<")
    guard lines.bytes[start...].contains(sign) else { return }
    let text = lines.bytes[start...]
    var hidden: [UInt8] = []
    hidden.reserveCapacity(text.count + 64)
    for byte in text {
      if byte == sign { hidden += "\\u003c".utf8 } else { hidden.append(byte) }
    }
    lines.bytes.replaceSubrange(start..., with: hidden)
  }
}
