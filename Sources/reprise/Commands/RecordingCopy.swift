import RepriseCore

/// Writes a recording of what another file has: a recording stays what it is, with its header and with what is in it that
/// this program does not know.
///
/// The file begins with the first event, so that an input that can't be read leaves none behind.
struct RecordingCopy: EventConsumer {
  private let output: OutputFile
  private var header: RecordingHeader
  private let redaction: RedactionRules
  private let flushesEveryLine: Bool
  private var writer: RecordingWriter<OutputFile>?
  /// The keys that nobody knows, by the line that they stand in; a selection may take a line later than it comes.
  private var unknown: [Int: [JSONMember]] = [:]
  /// More lines than a selection makes wait are not remembered.
  private static let mostUnknown = 65_536
  /// How many keys were left out because they may hold what is hidden.
  private var unknownLeftOut = 0

  /// Prepares a copy.
  /// - Parameters:
  ///   - input: The file, as it was typed; what a capture is called in the header.
  ///   - output: Where the recording goes.
  ///   - redaction: What is hidden.
  ///   - flushesEveryLine: Whether each event is written at once.
  init(
    of input: String, to output: OutputFile, hiding redaction: RedactionRules,
    flushesEveryLine: Bool = false
  ) {
    self.output = output
    self.redaction = redaction
    self.flushesEveryLine = flushesEveryLine
    header = RecordingHeader(
      created: ConvertCommand.now, source: .capture(ConvertCommand.baseName(input)),
      redacted: redaction.ruleNames)
  }

  /// What a user should know of the copy.
  var notes: [String] {
    guard unknownLeftOut > 0 else { return [] }
    return ["\(unknownLeftOut) keys of lines are not known and left out, as they may hold anything"]
  }

  mutating func begin(_ header: RecordingHeader) { self.header = header.copied(hiding: redaction) }

  mutating func note(unknown members: [JSONMember], line: Int) {
    guard redaction.hidesNothing else { return unknownLeftOut += members.count }
    if unknown.count < Self.mostUnknown { unknown[line] = members }
  }

  mutating func consume(_ event: borrowing EventView) throws {
    try prepare(event)
    try writer?.consume(event)
  }

  /// Writes an event of a selection.
  mutating func consume(_ event: borrowing EventView, leftOut: LeftOut) throws {
    try prepare(event)
    try writer?.consume(event, leftOut: leftOut)
  }

  private mutating func prepare(_ event: borrowing EventView) throws {
    try begin()
    guard !unknown.isEmpty, let members = unknown.removeValue(forKey: event.context.frame) else {
      return
    }
    writer?.keep(unknown: members)
  }

  /// Writes what is left.
  /// - Parameter isWhole: Whether a file without events is a recording without events, too.
  /// - Throws: ``OutputError``.
  mutating func finish(isWhole: Bool) throws {
    if isWhole { try begin() }
    try writer?.finish()
  }

  private mutating func begin() throws {
    guard writer == nil else { return }
    writer = try RecordingWriter(
      output, header: header, hiding: redaction, flushesEveryLine: flushesEveryLine)
  }
}
