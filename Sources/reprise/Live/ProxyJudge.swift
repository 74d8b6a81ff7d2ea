import Capture
import Proxy
import RepriseCore
import Synchronization

/// Judges what passes a proxy while it passes.
final class ProxyJudge: ProxyTap {
  private let judge: LiveJudge
  private let verdict: ProxyVerdict
  private let console: Console
  private var frames = 0

  /// Prepares to judge.
  /// - Parameters:
  ///   - name: The capture's name, for findings.
  ///   - delays: Whether what passes comes later than it would.
  ///   - verdict: Where the verdict is left.
  ///   - console: How findings are shown.
  /// - Throws: ``ConformanceError`` when the catalogue is broken.
  init(_ name: String, delays: Bool, _ verdict: ProxyVerdict, _ console: Console) throws {
    // What passes late shows at the end of a connection, and what is told before that can't be taken back.
    judge = try LiveJudge(name, tellingTo: delays ? nil : .standard, console)
    self.verdict = verdict
    self.console = console
  }

  /// Takes a packet of the capture.
  func take(_ number: Int, _ time: Timestamp, _ header: RawSpan, _ payload: RawSpan) {
    frames = number
    var frame: [UInt8] = []
    frame.reserveCapacity(header.byteCount + payload.byteCount)
    header.withUnsafeBytes { frame.append(contentsOf: $0) }
    payload.withUnsafeBytes { frame.append(contentsOf: $0) }
    judge.take(
      Frame(
        number: number, time: time, linkType: .raw, bytes: frame.span.bytes,
        wireLength: frame.count))
  }

  func settle(_ time: Timestamp) throws -> Timestamp? {
    try judge.tell()
    return nil
  }

  func finish(_ time: Timestamp) throws {
    // What is not judged, such as HTTP, is no news where bytes pass as they come.
    let report = try judge.finish(frames: frames).report
    verdict.set(try LiveJudge.conclude(report, console))
  }

  var isFull: Bool { false }

  // All that is judged stands in the packets.
  func opened(_ client: ProxyClient, at time: Timestamp) {}
  func reached(_ connection: Int, _ outcome: ProxyOutcome, at time: Timestamp) {}
  func passed(_ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp) {}
  func altered(_ connection: Int, of senders: [Peer], _ comment: String) {}
  func ended(_ connection: Int, by peer: Peer, _ end: StreamRecorder.End, at time: Timestamp) {}
  func closed(_ connection: Int, at time: Timestamp) {}
}

/// What a judgement on a proxy's thread came to.
final class ProxyVerdict: Sendable {
  private let value = Mutex(ExitStatus.done)

  /// What the command ends with.
  var status: ExitStatus { value.withLock { $0 } }

  func set(_ status: ExitStatus) { value.withLock { $0 = status } }
}
