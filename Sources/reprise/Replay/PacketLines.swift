import Driver
import RepriseCore

/// Writes what both ends of a replayed session say, a line a packet, and how it ended.
struct PacketLines {
  private var lines: LineBuffer<OutputFile>
  private var text: EventTextWriter
  private let json: EventJSONWriter?
  private let file: String
  private let redaction: RedactionRules
  private let usesColor: Bool
  /// How many packets were written.
  private var count = 0

  /// Creates a writer.
  /// - Parameters:
  ///   - output: Where the lines go.
  ///   - file: The file of the session.
  ///   - arguments: Where `--format`, `--show-secrets` and `--redact` stand.
  ///   - console: How colours are used.
  /// - Throws: ``UsageError``.
  init(
    _ output: OutputFile, of file: String, _ arguments: Arguments, _ console: Console
  ) throws(UsageError) {
    redaction = try RedactionRules(arguments, hidesSecrets: !arguments.has(.showSecrets))
    usesColor = console.usesColor(on: output)
    // Each line is to be seen when it happens.
    lines = LineBuffer(output, threshold: 0)
    text = EventTextWriter(usesColor: usesColor, hiding: redaction)
    text.beginFile(file)
    let isJSON = arguments.value(SessionOptions.format) == "jsonl"
    json = isJSON ? EventJSONWriter(hiding: redaction, file: file) : nil
    self.file = file
  }

  /// Writes a packet.
  /// - Throws: ``OutputError``.
  mutating func write(_ event: Event) throws {
    count += 1
    event.withView { view in
      if let json {
        json.appendLines(view, to: &lines.bytes)
      } else {
        text.append(view, to: &lines.bytes)
      }
    }
    try lines.endLine()
  }

  /// Writes where the other end left the session.
  /// - Throws: ``OutputError``.
  mutating func write(_ divergence: ReplayDivergence) throws {
    if json != nil {
      let writer = ObservationJSON(file: file, redaction: redaction)
      let place = divergence.place.map { writer.place($0.time, $0) } ?? []
      writer.append(place + writer.fields(of: divergence), to: &lines.bytes)
    } else {
      lines.bytes += shown("\(divergence)", "\u{1B}[31m")
    }
    try lines.endLine()
  }

  /// Writes that all of the session has happened.
  /// - Parameter connections: How many connections were replayed.
  /// - Throws: ``OutputError``.
  mutating func writeEnd(_ connections: Int) throws {
    if json != nil {
      let members = [
        JSONMember("file", .string(file)), JSONMember("type", "end"),
        JSONMember("connections", .number("\(connections)")),
        JSONMember("packets", .number("\(count)")),
      ]
      JSONValue.object(members).append(to: &lines.bytes)
    } else {
      let what = connections == 1 ? "1 connection" : "\(connections) connections"
      lines.bytes += shown("# the session ends: \(what), \(count) packets", "\u{1B}[2m")
    }
    try lines.endLine()
  }

  /// Lines as a terminal may have them.
  private func shown(_ text: String, _ color: String) -> [UInt8] {
    var result: [UInt8] = []
    for (index, line) in text.split(separator: "\n").enumerated() {
      if index > 0 { result.append(UInt8(ascii: "\n")) }
      if usesColor { result += color.utf8 }
      let bytes = Array(line.utf8)
      TerminalText.append(bytes.span.bytes, to: &result)
      if usesColor { result += "\u{1B}[0m".utf8 }
    }
    return result
  }
}
