/// The lines of a recording on their way to one file, or to one after the other.
///
/// Every line reaches its sink at once, so that what is there is valid whenever its writer is killed.
struct RecordingLines<Sink: ByteSink> {
  /// What one file keeps free for the line that ends it.
  private static var reserve: Int { 320 }

  /// Where the lines go now.
  private(set) var sink: Sink
  private let header: RecordingHeader
  private let writer: EventJSONWriter
  private let limit: Int?
  private let nextSink: (@Sendable (Sink) throws -> Sink)?
  /// The number of the file, from 1.
  private var part = 1
  /// How many bytes are in the file.
  private var count = 0
  /// Whether anything happened since the file was begun.
  private var hasEvents = false

  /// Begins the first file by its header.
  init(
    _ sink: Sink, _ header: RecordingHeader, hiding redaction: RedactionRules, limit: Int?,
    nextSink: (@Sendable (Sink) throws -> Sink)?
  ) throws {
    self.sink = sink
    self.header = header
    self.limit = limit
    self.nextSink = nextSink
    writer = EventJSONWriter(hiding: redaction)
    try writeHeader()
  }

  /// Writes what a transcript makes of something that happened, in the next file if this one is full.
  /// - Parameters:
  ///   - transcript: The transcript.
  ///   - time: When it happened.
  ///   - take: What makes events of it.
  /// - Throws: What the sinks throw, and ``DataClientError/Code/recordingFull``.
  mutating func add(
    _ transcript: inout any Transcript, at time: Timestamp,
    _ take: (inout any Transcript) -> [Event]
  ) throws {
    guard let limit else { return try write(take(&transcript)) }
    // Whether there is room is known when the lines are made, and in the next file they are others.
    var trial = transcript
    let lines = take(&trial).map(line)
    let size = lines.reduce(0) { $0 + $1.count }
    if size == 0 || count + size + Self.reserve <= limit || (!hasEvents && nextSink != nil) {
      transcript = trial
      return try write(lines)
    }
    guard nextSink != nil else {
      throw DataClientError(
        .recordingFull, "the recording has no room for what came next; it is complete without it")
    }
    try startNextFile(&transcript, at: time)
    try write(take(&transcript))
  }

  /// Writes events, whatever the limit.
  mutating func write(_ events: [Event]) throws { try write(events.map(line)) }

  /// Writes what ends the recording: the end of a connection in any case, an attempt as far as there is room.
  mutating func writeEnd(_ events: [Event]) throws {
    let lines = events.map(line)
    if let limit, case .attempted? = events.first?.body,
      count + lines.reduce(0, { $0 + $1.count }) > limit
    {
      return
    }
    try write(lines)
  }

  /// Ends the file and begins the next one, if there can be one.
  mutating func startNextFile(_ transcript: inout any Transcript, at time: Timestamp) throws {
    guard let nextSink else { return }
    let (end, start) = transcript.divide(at: time)
    try write(end)
    sink = try nextSink(sink)
    part += 1
    count = 0
    try writeHeader(created: time)
    try write(start)
    hasEvents = false
  }

  private mutating func writeHeader(created: Timestamp? = nil) throws {
    var header = header
    if let created { header.created = created }
    if nextSink != nil {
      header.source.details.append(JSONMember("part", .number(String(part))))
    }
    var line: [UInt8] = []
    header.append(to: &line)
    line.append(UInt8(ascii: "\n"))
    try write(lines: [line])
  }

  private func line(_ event: Event) -> [UInt8] {
    var line: [UInt8] = []
    event.withView { writer.appendLines($0, to: &line) }
    line.append(UInt8(ascii: "\n"))
    return line
  }

  private mutating func write(_ lines: [[UInt8]]) throws {
    guard !lines.isEmpty else { return }
    hasEvents = true
    try write(lines: lines)
  }

  private mutating func write(lines: [[UInt8]]) throws {
    for line in lines {
      try sink.write(line.span.bytes)
      count += line.count
    }
  }
}
