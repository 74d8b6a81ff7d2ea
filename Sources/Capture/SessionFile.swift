public import RepriseCore

/// A capture or a recording, recognised by content, as a session that can be read more than once.
///
/// Memory does not grow with the file. Standard input is no such session: it can be read once only.
public struct SessionFile: SessionSource {
  private let path: String
  private let options: InputOptions

  /// Names a file; it is opened when it is read.
  /// - Parameters:
  ///   - path: The file; nil comes of `-`.
  ///   - options: What the user says about the traffic.
  public init?(_ path: String, options: InputOptions = InputOptions()) {
    guard path != "-" else { return nil }
    self.path = path
    self.options = options
  }

  /// Opens the file.
  /// - Parameter take: What gets the events.
  /// - Returns: What reads them.
  /// - Throws: ``CaptureError`` and `RecordingError`, which name the file, when nothing can be read; so does the
  ///   reading.
  public func open(
    _ take: @escaping (borrowing EventView) -> Void
  ) throws -> any SessionReading {
    NamedReading(
      path: path,
      reading: try SessionInput.naming(path) {
        var source = try ByteSource(path: path)
        switch try CaptureFormat.detect(in: &source) {
        case .recording:
          try options.checkRecording()
          return RecordingReading(source, take)
        case .pcap, .pcapng: return try CaptureReading(CaptureReader(source), options, path, take)
        }
      })
  }
}

/// One pass through a file, which names it in what is thrown.
private final class NamedReading: SessionReading {
  private let path: String
  private let reading: any SessionReading

  init(path: String, reading: any SessionReading) {
    self.path = path
    self.reading = reading
  }

  func advance() throws -> Bool { try SessionInput.naming(path) { try reading.advance() } }
}

/// One pass through a capture.
private final class CaptureReading: SessionReading {
  /// How many frames are read at a time.
  private static let pieceSize = 64

  private var session: CaptureSession

  init(
    _ reader: consuming CaptureReader, _ options: InputOptions, _ path: String,
    _ take: @escaping (borrowing EventView) -> Void
  ) throws(CaptureError) {
    session = try CaptureSession(
      reader, options, SessionEmitter { take($0) }, rereading: [path])
  }

  func advance() throws -> Bool {
    if try session.read(Self.pieceSize) { return true }
    _ = try session.finish()
    return false
  }
}

/// One pass through a recording.
private final class RecordingReading: SessionReading {
  private struct Taker: EventConsumer {
    let take: (borrowing EventView) -> Void

    mutating func consume(_ event: borrowing EventView) { take(event) }
  }

  private var source: ByteSource
  private var stream = RecordingStream()
  private var taker: Taker

  init(_ source: consuming ByteSource, _ take: @escaping (borrowing EventView) -> Void) {
    self.source = source
    taker = Taker(take: take)
  }

  func advance() throws -> Bool {
    if try RecordingSession.readPiece(of: &source, stream: &stream, into: &taker) { return true }
    try stream.finish(into: &taker)
    return false
  }
}
