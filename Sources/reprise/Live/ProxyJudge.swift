import Capture
import ConformanceKit
import Proxy
import RepriseCore
import Synchronization

/// Judges what passes a proxy while it passes.
final class ProxyJudge: ProxyTap {
  private let judge: JudgeBox
  private var session: LiveSession
  private let verdict: ProxyVerdict
  private let console: Console

  /// What events are handed to: the session that is judged holds it as well.
  private final class JudgeBox {
    var judge: ConformanceJudge

    init(_ judge: ConformanceJudge) { self.judge = judge }
  }

  /// Prepares to judge.
  /// - Parameters:
  ///   - name: The capture's name, for findings.
  ///   - verdict: Where the verdict is left.
  ///   - console: How findings are shown.
  /// - Throws: ``ConformanceError`` when the catalogue is broken.
  init(_ name: String, _ verdict: ProxyVerdict, _ console: Console) throws {
    var judge = try ConformanceJudge(catalogue: Catalogue.bundled())
    judge.begin(file: name)
    _ = judge.takeNews()
    let box = JudgeBox(judge)
    self.judge = box
    self.verdict = verdict
    self.console = console
    session = LiveSession { box.judge.consume($0) }
  }

  /// Takes a packet of the capture.
  func take(_ number: Int, _ time: Timestamp, _ header: RawSpan, _ payload: RawSpan) {
    var frame: [UInt8] = []
    frame.reserveCapacity(header.byteCount + payload.byteCount)
    header.withUnsafeBytes { frame.append(contentsOf: $0) }
    payload.withUnsafeBytes { frame.append(contentsOf: $0) }
    session.take(
      Frame(
        number: number, time: time, linkType: .raw, bytes: frame.span.bytes,
        wireLength: frame.count))
  }

  func settle(_ time: Timestamp) throws -> Timestamp? {
    try tell()
    return nil
  }

  /// Prints what was found since the last time.
  private func tell() throws {
    let color = console.usesColor(on: .standard)
    for (clause, finding) in judge.judge.takeNews() {
      try OutputFile.standard.write(ConformanceReport.text(of: finding, clause, color: color))
    }
  }

  func finish(_ time: Timestamp) throws {
    session.finish()
    judge.judge.endFile()
    try tell()
    let report = judge.judge.report(toolVersion: Reprise.version)
    guard report.hasJudged else {
      verdict.set(.unable)
      console.error(
        "nothing was judged: no clause had anything to judge; look at what there is by reprise inspect"
      )
      return
    }
    verdict.set(report.hasFailed ? .failed : .done)
    try OutputFile.standard.write(report.text(color: console.usesColor(on: .standard)))
  }

  var isFull: Bool { false }

  // All that is judged stands in the packets.
  func opened(_ client: ProxyClient, at time: Timestamp) {}
  func reached(_ connection: Int, _ outcome: ProxyOutcome, at time: Timestamp) {}
  func passed(_ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp) {}
  func ended(_ connection: Int, by peer: Peer, _ end: ProxyEnd, at time: Timestamp) {}
  func closed(_ connection: Int, at time: Timestamp) {}
}

/// What a judgement on a proxy's thread came to.
final class ProxyVerdict: Sendable {
  private let value = Mutex(ExitStatus.done)

  /// What the command ends with.
  var status: ExitStatus { value.withLock { $0 } }

  func set(_ status: ExitStatus) { value.withLock { $0 = status } }
}
