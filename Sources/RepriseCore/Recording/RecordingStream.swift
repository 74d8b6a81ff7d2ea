/// Cuts the bytes of a recording into lines and hands their events on.
///
/// Feed it the file in pieces of any size, then call ``finish(into:)``.
public struct RecordingStream: Sendable {
  /// The most bytes of one line; a packet of 16 MiB fits, however its payload is escaped.
  static let maximumLine = 128 << 20

  /// What reads the lines, with the recording's header.
  public private(set) var reader = RecordingReader()
  /// The number of lines that were read.
  public private(set) var lineCount = 0
  /// What was lost, one sentence each.
  public private(set) var notes: [String] = []
  /// Whether it ended inside a line, as its writer was killed there or the file was cut; told at its end.
  public private(set) var isCut = false
  /// The begin of a line whose end did not come yet.
  private var kept: [UInt8] = []

  /// Creates a stream at the start of a recording.
  public init() {}

  /// Takes the next piece of the file.
  /// - Parameters:
  ///   - piece: The bytes.
  ///   - consumer: What takes the events of the lines that the piece completes.
  /// - Throws: ``RecordingError`` for a line that is none of a recording, and what the consumer
  ///   throws.
  public mutating func consume(
    _ piece: RawSpan, into consumer: inout some EventConsumer
  ) throws {
    var start = 0
    while let end = Self.lineEnd(in: piece, from: start) {
      if kept.isEmpty {
        try take(piece.extracting(start..<end), &consumer)
      } else {
        try keep(piece.extracting(start..<end))
        try takeKept(&consumer)
      }
      start = end + 1
    }
    if start < piece.byteCount { try keep(piece.extracting(start..<piece.byteCount)) }
  }

  /// Takes the end of the file.
  ///
  /// A last line without a line end that is no complete event was cut when its writer was killed:
  /// it is left out and noted in ``notes``.
  /// - Parameter consumer: What takes the last event.
  /// - Throws: ``RecordingError`` when the file holds no recording, and what the consumer throws.
  public mutating func finish(into consumer: inout some EventConsumer) throws {
    if !kept.isEmpty {
      do {
        try takeKept(&consumer)
      } catch let error as RecordingError
        where error.code == .notJSON && reader.header != nil
      {
        isCut = true
        notes.append(
          "the recording ends inside line \(error.line), which is left out; "
            + "all lines before it were read")
      }
    }
    for event in reader.finish() {
      try event.withView { view throws in try consumer.consume(view) }
    }
    if reader.leftOutCount > 0 {
      notes.append(
        "it is a selection: \(reader.leftOutCount) events were left out, and count as missing")
    }
    guard reader.header == nil else { return }
    throw RecordingError(
      .notRecording, "the file is empty", line: 1,
      remedy: "name a recording that reprise made, or a capture")
  }

  private mutating func takeKept(_ consumer: inout some EventConsumer) throws {
    let line = kept
    kept.removeAll(keepingCapacity: line.capacity <= 1 << 16)
    try take(line.span.bytes, &consumer)
  }

  private mutating func take(_ line: RawSpan, _ consumer: inout some EventConsumer) throws {
    lineCount += 1
    let isBegun = reader.header != nil
    guard let event = try reader.read(line: line, number: lineCount) else {
      if !isBegun, let header = reader.header { try consumer.begin(header) }
      return
    }
    for event in reader.earlier {
      try event.withView { view throws in try consumer.consume(view) }
    }
    let unknown = reader.unknown
    if !unknown.isEmpty { consumer.note(unknown: unknown, line: lineCount) }
    try event.withView { view throws in try consumer.consume(view) }
  }

  private mutating func keep(_ bytes: RawSpan) throws(RecordingError) {
    guard bytes.byteCount <= Self.maximumLine - kept.count else {
      throw RecordingError(
        .lineTooLong, "the line is longer than \(Self.maximumLine >> 20) MiB",
        line: lineCount + 1, remedy: "name a recording that reprise made, or a capture")
    }
    bytes.withUnsafeBytes { kept.append(contentsOf: $0) }
  }

  /// Where the next line feed stands, compared eight bytes at a time.
  private static func lineEnd(in bytes: RawSpan, from start: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      var offset = start
      while offset &+ 8 <= bytes.count {
        let found = ByteLanes(bytes, at: offset).equal(0x0A)
        guard found == 0 else { return offset &+ ByteLanes.first(found) }
        offset &+= 8
      }
      return bytes[offset...].firstIndex(of: 0x0A)
    }
  }
}
