import RepriseCore

/// The way of a capture's bytes: frames, segments, streams, packets, events.
struct CaptureSession: ~Copyable {
  typealias Emit = (borrowing EventView) throws -> Void

  /// What came of the events.
  private final class Outcome {
    /// What the emitting closure threw; kept, because it is called from places that can't throw.
    var failure: (any Error)?
    /// The bytes in all GAPs that were handed on: what connections of no interest lack, nobody sees.
    var gaps = GapTotals()
  }

  private var reader: CaptureReader
  private var filter: PacketFilter?
  private var dissector = FrameDissector()
  private var reassembler: TCPReassembler<SessionTraffic>
  private var cut: CaptureError?
  private let outcome: Outcome

  /// Prepares to read a capture from where its reader is.
  /// - Parameters:
  ///   - reader: The capture.
  ///   - options: What the user says about the traffic.
  ///   - emit: What takes the events; when it throws, reading is over.
  /// - Throws: ``CaptureError`` for a filter that makes no sense.
  init(
    _ reader: consuming CaptureReader, _ options: InputOptions, _ emit: @escaping Emit
  ) throws(CaptureError) {
    self.reader = reader
    if let bpf = options.bpf { filter = try PacketFilter(bpf) } else { filter = nil }
    let outcome = Outcome()
    self.outcome = outcome
    reassembler = TCPReassembler(
      SessionTraffic(decode: options.decode, memory: options.memory) { event in
        guard outcome.failure == nil else { return }
        if case .gap(let gap) = event.body { outcome.gaps.add(gap) }
        do { try emit(event) } catch { outcome.failure = error }
      })
  }

  /// Reads the next frames.
  /// - Parameter count: How many.
  /// - Returns: Whether there may be more.
  /// - Throws: ``CaptureError`` when nothing can be read, and what the emitting closure throws.
  mutating func read(_ count: Int) throws -> Bool {
    let hasMore: Bool
    do throws(CaptureError) {
      hasMore = try Self.read(count, &reader, &filter, &dissector, &reassembler, outcome)
    } catch {
      guard reader.framesRead > 0, error.code != .invalidFilter else { throw error }
      cut = error
      hasMore = false
    }
    if hasMore { return true }
    if let failure = outcome.failure { throw failure }
    return false
  }

  /// Reads frames with each part as a variable of its own: a frame borrows the reader alone.
  private static func read(
    _ count: Int, _ reader: inout CaptureReader, _ filter: inout PacketFilter?,
    _ dissector: inout FrameDissector, _ reassembler: inout TCPReassembler<SessionTraffic>,
    _ outcome: Outcome
  ) throws(CaptureError) -> Bool {
    var left = count
    while left > 0, let frame = try reader.next() {
      left -= 1
      if filter != nil, try filter?.matches(frame) == false { continue }
      dissector.dissect(frame) { reassembler.take($0) }
      if outcome.failure != nil { return false }
    }
    return left == 0
  }

  /// Ends all connections where the capture ends.
  /// - Returns: What was read, with notes on every loss.
  /// - Throws: ``CaptureError`` when no frame could be read, and what the emitting closure throws.
  mutating func finish() throws -> InputSummary {
    if let unreadable = Self.unreadable(dissector.statistics) { throw unreadable }
    reassembler.finish()
    if let failure = outcome.failure { throw failure }
    var summary = InputSummary()
    summary.frames = reader.framesRead
    summary.connections = reassembler.consumer.connections
    summary.notes = CaptureNotes.all(
      cut: cut, dissector.statistics, reassembler.statistics, connections: summary.connections,
      gaps: outcome.gaps, left: reassembler.consumer.notes,
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
