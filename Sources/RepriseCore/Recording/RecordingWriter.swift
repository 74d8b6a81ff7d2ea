/// Writes the events of a session as a recording.
///
/// Every line is complete enough that reading it gives the captured bytes back, see
/// ``EventJSONWriter``. Of a packet or frame of more than 16 MiB (of SUBSCRIBE, SUBACK, UNSUBSCRIBE and UNSUBACK, of
/// more than 512 KiB) the start is written, with a GAP behind it for the rest: a line is never longer than can be read.
public struct RecordingWriter<Sink: ByteSink>: EventConsumer {
  private var lines: LineBuffer<Sink>
  private var writer: EventJSONWriter

  /// Creates a recording with its header that shows all secrets, or none.
  /// - Parameters:
  ///   - sink: Where the recording goes.
  ///   - header: The first line.
  ///   - showsSecrets: Whether secrets are written.
  ///   - flushesEveryLine: Whether each event reaches the sink at once, as a live recorder needs.
  /// - Throws: What the sink throws.
  public init(
    _ sink: Sink, header: RecordingHeader, showsSecrets: Bool, flushesEveryLine: Bool = false
  ) throws {
    try self.init(
      sink, header: header, hiding: RedactionRules(hidesSecrets: !showsSecrets),
      flushesEveryLine: flushesEveryLine)
  }

  /// Creates a recording with its header.
  /// - Parameters:
  ///   - sink: Where the recording goes.
  ///   - header: The first line.
  ///   - redaction: What is not written. ``RecordingReader`` reads `***` in its place, and `bytes`, which would
  ///     tell it, is left out.
  ///   - flushesEveryLine: Whether each event reaches the sink at once, as a live recorder needs.
  /// - Throws: What the sink throws.
  public init(
    _ sink: Sink, header: RecordingHeader, hiding redaction: RedactionRules,
    flushesEveryLine: Bool = false
  ) throws {
    writer = EventJSONWriter(hiding: redaction)
    lines = LineBuffer(sink, threshold: flushesEveryLine ? 0 : 1 << 16)
    header.append(to: &lines.bytes)
    try lines.endLine()
  }

  /// What the recording goes to; complete only after ``finish()``.
  public var sink: Sink { lines.sink }

  /// Writes one event as a line.
  /// - Throws: What the sink throws.
  public mutating func consume(_ event: borrowing EventView) throws {
    writer.appendLines(event, to: &lines.bytes)
    if !writer.unknown.isEmpty { writer.unknown = [] }
    try lines.endLine()
  }

  /// Takes what is to stand behind the keys of the next event, as it stood in another recording.
  public mutating func keep(unknown members: [JSONMember]) { writer.unknown = members }

  /// Writes one event of a selection as a line.
  /// - Parameters:
  ///   - event: The event.
  ///   - leftOut: What was left out in front of it.
  /// - Throws: What the sink throws.
  public mutating func consume(_ event: borrowing EventView, leftOut: LeftOut) throws {
    writer.leftOut = leftOut
    try consume(event)
    writer.leftOut = nil
  }

  /// Hands the last lines on.
  /// - Throws: What the sink throws.
  public mutating func finish() throws { try lines.flush() }
}
