import Capture
import ConformanceKit
import RepriseCore

/// Judges traffic while it passes, and tells of violations when they come.
final class LiveJudge {
  private let box: JudgeBox
  private var session: FrameSession
  private let output: OutputFile?
  private let isAccepted: (Finding, Clause) -> Bool
  private let console: Console

  /// What events are handed to: the session that is judged holds it as well.
  private final class JudgeBox {
    var judge: ConformanceJudge

    init(_ judge: ConformanceJudge) { self.judge = judge }
  }

  /// Prepares to judge.
  /// - Parameters:
  ///   - name: What is judged, for findings.
  ///   - options: What is judged of it, and how.
  ///   - input: What the user says about the traffic.
  ///   - output: Where findings go when they come; nil leaves them to the report.
  ///   - isAccepted: Which of them are no news.
  ///   - console: How findings are shown.
  /// - Throws: ``ConformanceError`` when the catalogue is broken or a clause is none of it, and ``CaptureError`` for
  ///   keys that can't be read.
  init(
    _ name: String, _ options: ConformanceOptions = ConformanceOptions(),
    input: InputOptions = InputOptions(), tellingTo output: OutputFile?,
    except isAccepted: @escaping (Finding, Clause) -> Bool = { _, _ in false }, _ console: Console
  ) throws {
    self.isAccepted = isAccepted
    var judge = try ConformanceJudge(catalogue: Catalogue.bundled(), options: options)
    judge.begin(file: name)
    // Of what was never asked for nothing is kept.
    if output != nil { _ = judge.takeNews() }
    let box = JudgeBox(judge)
    self.box = box
    self.output = output
    self.console = console
    session = try FrameSession(live: input) { box.judge.consume($0) }
  }

  /// Looks whether keys are there by now that connections wait for.
  /// - Parameter time: The time.
  /// - Returns: When to look again; nil when nothing waits.
  func settle(_ time: Timestamp) -> Timestamp? { session.settle(time) }

  /// Takes a frame.
  func take(_ frame: borrowing Frame) { session.take(frame) }

  /// Prints what was found since the last time.
  /// - Throws: ``OutputError``.
  func tell() throws {
    guard let output else { return }
    let color = console.usesColor(on: output)
    for (clause, finding) in box.judge.takeNews() where !isAccepted(finding, clause) {
      try output.write(ConformanceReport.text(of: finding, clause, color: color))
    }
  }

  /// Takes the news that frames were lost, before the end.
  func noteDrops() { box.judge.note(.dropped) }

  /// Ends all connections, and prints what that shows.
  /// - Parameter frames: How many frames there were.
  /// - Returns: The report, and what the capture lost.
  /// - Throws: ``OutputError``, and ``CaptureError`` when no frame could be read.
  func finish(frames: Int) throws -> (report: ConformanceReport, notes: [String]) {
    let summary = try session.finish(frames: frames)
    for missing in summary.missingConnections { box.judge.note(missing) }
    var notes = summary.notes
    box.judge.endFile()
    try tell()
    if let note = ConformRun.forgotten(box.judge) { notes.append(note) }
    return (box.judge.report(toolVersion: Reprise.version), notes)
  }

  /// Prints a report of what a recorder saw besides; that nothing was judged is told instead.
  /// - Returns: What the verdicts are to the process.
  /// - Throws: ``OutputError``.
  static func conclude(
    _ report: ConformanceReport, _ console: Console
  ) throws -> ExitStatus {
    guard report.hasJudged else {
      console.error(
        "nothing was judged: no clause had anything to judge; look at what there is by reprise inspect"
      )
      return .unable
    }
    try OutputFile.standard.write(report.text(color: console.usesColor(on: .standard)))
    return report.hasFailed ? .failed : .done
  }
}
