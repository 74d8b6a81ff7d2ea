import RepriseCore

/// The way of a capture's bytes: frames, segments, streams, packets, events.
struct CaptureSession: ~Copyable {
  private var reader: CaptureReader
  private var filter: PacketFilter?
  private var dissector = FrameDissector()
  private var reassembler: TCPReassembler<SessionTraffic>
  private var cut: CaptureError?
  private let emitter: SessionEmitter

  /// Prepares to read a capture from where its reader is.
  /// - Parameters:
  ///   - reader: The capture.
  ///   - options: What the user says about the traffic.
  ///   - emitter: What takes the events; when nobody wants more of them, reading is over.
  ///   - path: The file, if it can be read twice: for secrets that stand behind what they decrypt.
  /// - Throws: ``CaptureError`` for a filter that makes no sense, and for keys that can't be read.
  init(
    _ reader: consuming CaptureReader, _ options: InputOptions, _ emitter: SessionEmitter,
    rereading path: String?
  ) throws(CaptureError) {
    let embedded = reader.embeddedSecrets
    let isRead = reader.format == .pcapng ? path : nil
    self.reader = reader
    if let bpf = options.bpf { filter = try PacketFilter(bpf) } else { filter = nil }
    let secrets = try Self.secrets(options, embedded, rereading: isRead)
    self.emitter = emitter
    reassembler = TCPReassembler(
      SessionTraffic(
        decode: options.decode, memory: options.memory, secrets: secrets, emitter: emitter))
  }

  private static func secrets(
    _ options: InputOptions, _ embedded: EmbeddedSecrets, rereading path: String?
  ) throws(CaptureError) -> TLSSecrets {
    var file: TLSKeyLogFile?
    if let keyLog = options.keyLog { file = try TLSKeyLogFile(keyLog) }
    var serverKey: TLSServerKey?
    if let path = options.serverKey { serverKey = try TLSServerKey(path) }
    return TLSSecrets(
      keyLog: file, serverKey: serverKey, preSharedKey: options.preSharedKey, embedded: embedded,
      lookAhead: path.map { path in { EmbeddedSecrets.all(in: path) } })
  }

  /// Reads the next frames.
  /// - Parameter count: How many.
  /// - Returns: Whether there may be more.
  /// - Throws: ``CaptureError`` when nothing can be read, and what the taker of the events throws.
  mutating func read(_ count: Int) throws -> Bool {
    let hasMore: Bool
    do throws(CaptureError) {
      hasMore = try Self.read(count, &reader, &filter, &dissector, &reassembler, emitter)
    } catch {
      guard reader.framesRead > 0, error.code != .invalidFilter else { throw error }
      cut = error
      hasMore = false
    }
    if hasMore { return true }
    if let failure = emitter.failure { throw failure }
    return false
  }

  /// Reads frames with each part as a variable of its own: a frame borrows the reader alone.
  private static func read(
    _ count: Int, _ reader: inout CaptureReader, _ filter: inout PacketFilter?,
    _ dissector: inout FrameDissector, _ reassembler: inout TCPReassembler<SessionTraffic>,
    _ emitter: SessionEmitter
  ) throws(CaptureError) -> Bool {
    var left = count
    while left > 0, let frame = try reader.next() {
      left -= 1
      if filter != nil, try filter?.matches(frame) == false { continue }
      dissector.dissect(frame) { reassembler.take($0) }
      if emitter.isOver { return false }
    }
    return left == 0
  }

  /// Ends all connections where the capture ends.
  /// - Returns: What was read, with notes on every loss.
  /// - Throws: ``CaptureError`` when no frame could be read, and what the taker of the events throws.
  mutating func finish() throws -> InputSummary {
    if let unreadable = Self.unreadable(dissector.statistics) { throw unreadable }
    reassembler.finish()
    emitter.finish()
    if let failure = emitter.failure { throw failure }
    var summary = InputSummary()
    summary.frames = reader.framesRead
    summary.connections = emitter.recognised
    summary.notes = CaptureNotes.all(
      cut: cut, dissector.statistics, reassembler.statistics, connections: summary.connections,
      gaps: emitter.gaps, left: reassembler.consumer.notes,
      secretsDropped: reader.secretsDropped, surrenders: reassembler.consumer.budget.surrenders,
      messagesKept: reassembler.consumer.messagesKept)
    return summary
  }

  /// The error of a capture with no frame that can be read.
  private static func unreadable(_ statistics: CaptureStatistics) -> CaptureError? {
    guard let first = statistics.unsupportedLinkTypes.first,
      statistics.unsupportedFrames == statistics.frames
    else { return nil }
    return CaptureError(
      .unsupportedLinkType, "no frame can be read: \(first.linkType) is not known",
      frame: first.firstFrame, remedy: "capture on an Ethernet, loopback, PPP or raw IP interface")
  }
}
