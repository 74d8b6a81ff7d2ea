package import RepriseCore

/// The way of frames: segments, streams, packets, events.
///
/// It is the same for those that a ``CaptureReader`` reads and for those that are captured right now.
package struct FrameSession: ~Copyable {
  private var dissector = FrameDissector()
  private var reassembler: TCPReassembler<SessionTraffic>
  private let emitter: SessionEmitter

  /// Prepares to take frames as they come.
  /// - Parameters:
  ///   - options: What the user says about the traffic; a filter has no effect.
  ///   - take: Takes the events; what it throws is kept as ``failure``.
  /// - Throws: ``CaptureError`` for keys that can't be read.
  package init(
    live options: InputOptions = InputOptions(),
    _ take: @escaping (borrowing EventView) throws -> Void
  ) throws(CaptureError) {
    self.init(options, try TLSSecrets(options, isLive: true), SessionEmitter(take))
  }

  init(
    _ options: InputOptions, _ secrets: TLSSecrets, plain: PlainStreams? = nil,
    _ emitter: SessionEmitter
  ) {
    self.emitter = emitter
    reassembler = TCPReassembler(
      SessionTraffic(
        decode: options.decode, memory: options.memory, secrets: secrets, plain: plain,
        emitter: emitter), limits: TCPLimits(memory: options.memory))
  }

  /// The secrets by which it is decrypted, with what they are of.
  var secrets: TLSSecrets { reassembler.consumer.secrets }

  /// Takes the next frame.
  /// - Parameter frame: The frame; the numbers of frames rise.
  @inline(__always)
  package mutating func take(_ frame: borrowing Frame) {
    dissector.dissect(frame) { reassembler.take($0) }
  }

  /// Looks whether keys are there by now that connections wait for.
  ///
  /// Both ends write them down when they use them, and what is captured may be here first.
  /// - Parameter now: The time.
  /// - Returns: When to look again; nil when nothing waits.
  package mutating func settle(_ now: Timestamp) -> Timestamp? {
    guard reassembler.consumer.settleTLS(now) else { return nil }
    return Timestamp(nanoseconds: now.nanoseconds &+ Self.pace)
  }

  /// Has the same done in a capture that comes through a pipe.
  func settle(by pace: PipePace) {
    let traffic = reassembler.consumer
    pace.look = { traffic.settleTLS($0) }
  }

  /// How often keys are looked for that are missing, in nanoseconds.
  private static let pace = PipePace.step

  /// Whether nobody wants more events.
  var isOver: Bool { emitter.isOver }

  /// What the taker of the events threw; nil as long as it wants more.
  package var failure: (any Error)? { emitter.failure }

  /// Whether bytes are missing soon behind the place where a part of the capture begins.
  func hasGap(behind joint: CaptureJoint) -> Bool {
    guard let time = joint.time else { return false }
    return emitter.gaps.hasAny(from: time, for: Self.jointReach)
  }

  /// So long behind a part that was not named its bytes are missed, in nanoseconds.
  private static let jointReach: Int64 = 60_000_000_000

  /// Ends all connections where they are.
  /// - Parameters:
  ///   - frames: How many frames there were.
  ///   - cut: Why there are no more, if that was to be otherwise.
  ///   - secretsDropped: How many blocks of secrets were not kept.
  ///   - framesDropped: How many frames were lost while they were captured.
  /// - Returns: What was read, with notes on every loss.
  /// - Throws: ``CaptureError`` when no frame could be read, and what the taker of the events throws.
  package mutating func finish(
    frames: Int, cut: CaptureError? = nil, secretsDropped: Int = 0,
    framesDropped: Int = 0
  ) throws -> InputSummary {
    if let unreadable = Self.unreadable(dissector.statistics) { throw unreadable }
    reassembler.finish()
    emitter.finish()
    if let failure = emitter.failure { throw failure }
    var summary = InputSummary()
    summary.frames = frames
    summary.connections = emitter.recognised
    summary.framesDropped = framesDropped
    summary.endsEarly = cut != nil
    summary.unreadBeginnings = reassembler.consumer.unread.beginnings
    summary.lacksMemory = reassembler.consumer.budget.surrenders > 0
    summary.notes = CaptureNotes.all(
      cut: cut, dissector.statistics, reassembler.statistics, connections: summary.connections,
      gaps: emitter.gaps, left: reassembler.consumer.notes, secretsDropped: secretsDropped,
      framesDropped: framesDropped, surrenders: reassembler.consumer.budget.surrenders,
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

extension TLSSecrets {
  /// Prepares to look for secrets where the user says that they are.
  /// - Parameters:
  ///   - options: What the user says.
  ///   - embedded: What the reader of a capture finds.
  ///   - lookAhead: What reads the secrets of a whole capture; nil where it can't be read twice.
  ///   - isLive: Whether it may be captured right now.
  /// - Throws: ``CaptureError`` for keys that can't be read.
  convenience init(
    _ options: InputOptions, embedded: EmbeddedSecrets = EmbeddedSecrets(),
    lookAhead: (() -> [SecretsBlock])? = nil, isLive: Bool = false
  ) throws(CaptureError) {
    var files: [TLSKeyLogFile] = []
    for path in options.keyLogs { files.append(try TLSKeyLogFile(path, mayCome: isLive)) }
    var serverKey: TLSServerKey?
    if let path = options.serverKey { serverKey = try TLSServerKey(path) }
    self.init(
      keyLogs: files, serverKey: serverKey, preSharedKey: options.preSharedKey, embedded: embedded,
      lookAhead: lookAhead, isLive: isLive)
  }
}
