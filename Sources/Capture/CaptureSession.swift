import RepriseCore

/// The way of a capture's bytes: frames, segments, streams, packets, events.
struct CaptureSession: ~Copyable {
  private var reader: CaptureReader
  private var filter: PacketFilter?
  private var session: FrameSession
  private var cut: CaptureError?
  /// What looks for keys that come later than what they decrypt; nil where the capture is no pipe, or no key log is named.
  private let pace: PipePace?

  /// Prepares to read a capture from where its reader is.
  /// - Parameters:
  ///   - reader: The capture.
  ///   - options: What the user says about the traffic.
  ///   - emitter: What takes the events; when nobody wants more of them, reading is over.
  ///   - paths: The files, if they can be read twice: for secrets that stand behind what they decrypt.
  ///   - plain: Writes what is decrypted, where that is wanted.
  ///   - isWritten: Tells whether what comes at a moment is written, where it is kept which secrets that takes.
  /// - Throws: ``CaptureError`` for a filter that makes no sense, and for keys that can't be read.
  init(
    _ reader: consuming CaptureReader, _ options: InputOptions, _ emitter: SessionEmitter,
    rereading paths: [String], plain: PlainStreams? = nil, isWritten: ((Timestamp) -> Bool)? = nil
  ) throws(CaptureError) {
    let embedded = reader.embeddedSecrets
    let isRead = !paths.isEmpty && (reader.format == .pcapng || paths.count > 1)
    let isPiped = reader.isPiped && !options.keyLogs.isEmpty
    self.reader = reader
    if let bpf = options.bpf { filter = try PacketFilter(bpf) } else { filter = nil }
    let secrets = try TLSSecrets(
      options, embedded: embedded,
      lookAhead: isRead ? { paths.flatMap(EmbeddedSecrets.all) } : nil, isLive: isPiped)
    secrets.isWritten = isWritten
    session = FrameSession(options, secrets, plain: plain, emitter)
    pace = isPiped ? PipePace() : nil
    guard let pace else { return }
    session.settle(by: pace)
    self.reader.keep(pace)
  }

  /// The secrets by which it is decrypted, with what they are of.
  var secrets: TLSSecrets { session.secrets }

  /// Reads the next frames.
  /// - Parameter count: How many.
  /// - Returns: Whether there may be more.
  /// - Throws: ``CaptureError`` when nothing can be read, and what the taker of the events throws.
  mutating func read(_ count: Int) throws -> Bool {
    let hasMore: Bool
    do throws(CaptureError) {
      hasMore = try Self.read(count, &reader, &filter, &session, pace)
    } catch {
      guard reader.framesRead > 0, error.code != .invalidFilter, error.code != .outOfOrder else {
        throw error
      }
      cut = error
      hasMore = false
    }
    if hasMore { return true }
    if let failure = session.failure { throw failure }
    return false
  }

  /// Reads frames with each part as a variable of its own: a frame borrows the reader alone.
  private static func read(
    _ count: Int, _ reader: inout CaptureReader, _ filter: inout PacketFilter?,
    _ session: inout FrameSession, _ pace: PipePace?
  ) throws(CaptureError) -> Bool {
    var left = count
    while left > 0, let frame = try reader.next() {
      left -= 1
      pace?.pass(to: frame.time)
      if filter != nil, try filter?.matches(frame) == false { continue }
      session.take(frame)
      if session.isOver { return false }
    }
    return left == 0
  }

  /// Ends all connections where the capture ends.
  /// - Returns: What was read, with notes on every loss.
  /// - Throws: ``CaptureError`` when no frame could be read, and what the taker of the events throws.
  mutating func finish() throws -> InputSummary {
    var summary = try session.finish(
      frames: reader.framesRead, cut: cut, secretsDropped: reader.secretsDropped,
      framesDropped: reader.framesDropped)
    guard let parts = reader.parts else { return summary }
    summary.joints = parts.joints
    summary.notes += parts.cuts.map { "\($0): the rest of this part is missing" }
    let torn = parts.joints.filter { session.hasGap(behind: $0) }
    summary.lacksParts = !torn.isEmpty || !parts.cuts.isEmpty
    summary.notes += torn.map {
      "bytes are missing where \($0.file) begins: a part may lie before it that was not named, and what whole "
        + "connections in it would explain stays open"
    }
    return summary
  }
}
