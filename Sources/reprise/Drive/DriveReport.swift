import ConformanceKit
import Driver
import RepriseCore
import Wire

/// The report on a subject that was driven by cases, and where their recordings go.
///
/// All that can be wrong with what was typed is found when it is made, before anybody is driven.
struct DriveReport {
  private let arguments: Arguments
  private let console: Console
  private let baseline: BaselineOptions
  private let outputs: ReportFiles
  private let recordings: CaseRecordings
  private var judging: ConformanceOptions

  /// Prepares a report.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - plans: What will be run.
  ///   - console: How to tell the user.
  /// - Throws: ``DriverError`` for a step that can't be done, ``UsageError``, and ``OutputError`` where a recording exists
  ///   that must not be replaced.
  init(_ arguments: Arguments, _ plans: [CasePlan], _ console: Console) throws {
    // A step that can't be done is a mistake of its author, and no conduct of a subject.
    for plan in plans { _ = try plan.preview() }
    self.arguments = arguments
    self.console = console
    baseline = try BaselineOptions(arguments, inputs: [], ownsForce: false)
    outputs = try ReportFiles(arguments, inputs: [], others: baseline.paths)
    recordings = try CaseRecordings(
      folder: arguments.value(DriveOptions.save), replaces: arguments.has(DriveOptions.force))
    try recordings.check(plans)
    judging = try ConformRun.options(arguments, baseline)
  }

  /// Judges what came of cases, and writes the report.
  /// - Parameters:
  ///   - results: What came of them.
  ///   - specs: The standards to judge by.
  ///   - subject: Whose conduct is judged.
  ///   - isWhole: Whether all was run that was asked for.
  /// - Returns: How the command ends.
  /// - Throws: ``OutputError``, and ``CaptureError`` for a recording that can't be read.
  func write(
    _ results: [CaseResult], by specs: Set<String>, on subject: Peer, isWhole: Bool
  ) throws -> ExitStatus {
    var judging = judging
    judging.specs = specs
    judging.subject = subject
    var judge = try CaseJudge(judging)
    for result in results { try judge.take(result, in: recordings.write(result)) }
    let report = judge.report()
    let noted = try baseline.apply(to: report, isWhole: true, console) { entries in
      Set(entries.filter(report.keeps))
    }
    let isEmpty = !report.hasJudged && !arguments.has(ConformRun.allowEmpty)
    return try outputs.write(noted, isWhole: !isEmpty && isWhole, console)
  }
}
