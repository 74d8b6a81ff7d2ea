import DataClient

/// The way of a capture's bytes: frames, segments, streams, packets, events.
enum CaptureSession {
  typealias Emit = (borrowing EventView) throws -> Void

  /// What the emitting closure threw; kept, because it is called from places that can't throw.
  private final class Outcome {
    var failure: (any Error)?
  }

  static func read(
    _ reader: inout CaptureReader, _ options: InputOptions, _ emit: @escaping Emit
  ) throws -> InputSummary {
    var filter: PacketFilter? = nil
    if let bpf = options.bpf { filter = try PacketFilter(bpf) }
    let outcome = Outcome()
    let traffic = SessionTraffic(decode: options.decode) { event in
      guard outcome.failure == nil else { return }
      do { try emit(event) } catch { outcome.failure = error }
    }
    var dissector = FrameDissector()
    var reassembler = TCPReassembler(traffic)
    var cut: CaptureError?
    do throws(CaptureError) {
      while let frame = try reader.next() {
        if filter != nil, try filter?.matches(frame) == false { continue }
        dissector.dissect(frame) { reassembler.take($0) }
        if outcome.failure != nil { break }
      }
    } catch {
      guard reader.framesRead > 0, error.code != .invalidFilter else { throw error }
      cut = error
    }
    if let unreadable = unreadable(dissector.statistics) { throw unreadable }
    reassembler.finish()
    if let failure = outcome.failure { throw failure }
    var summary = InputSummary()
    summary.frames = reader.framesRead
    summary.connections = reassembler.consumer.connections
    summary.notes = CaptureNotes.all(
      cut: cut, dissector.statistics, reassembler.statistics, connections: summary.connections,
      secretsDropped: reader.secretsDropped)
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
