import Capture
import ConformanceKit
import RepriseCore

/// Judges what an interface brings.
final class InterfaceJudge: InterfaceTap {
  private let judge: LiveJudge
  private let conclude: (ConformanceReport) throws -> ExitStatus
  private let name: String
  private let console: Console
  private var frames = 0
  /// What the verdicts are to the process.
  private(set) var status = ExitStatus.done

  /// Prepares to judge.
  /// - Parameters:
  ///   - judge: What judges.
  ///   - name: What is judged, for notes.
  ///   - console: How to tell what the capture lost.
  ///   - conclude: What is done with the report at the end.
  init(
    _ judge: LiveJudge, _ name: String, _ console: Console,
    conclude: @escaping (ConformanceReport) throws -> ExitStatus
  ) {
    self.judge = judge
    self.name = name
    self.console = console
    self.conclude = conclude
  }

  func take(_ frame: borrowing Frame, at time: Timestamp) {
    frames = frame.number
    judge.take(frame)
  }

  func settle(_ time: Timestamp) throws -> Timestamp? {
    let wish = judge.settle(time)
    try judge.tell()
    return wish
  }

  var isFull: Bool { false }

  func noteDrops() { judge.noteDrops() }

  func finish(_ time: Timestamp) throws {
    let (report, notes) = try judge.finish(frames: frames)
    for note in notes { console.note(name, note) }
    status = try conclude(report)
  }
}
