import ConformanceKit
import Driver
import RepriseCore

/// The report on a subject that was driven by cases, and where their recordings go.
///
/// All that can be wrong with what was typed is found when it is made, before anybody is driven.
struct DriveReport {
  private let arguments: Arguments
  private let console: Console
  private let baseline: BaselineOptions
  private let outputs: ReportFiles
  private let recordings: CaseRecordings
  private let shard: Shard?
  private var judging: ConformanceOptions

  /// Prepares a report.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - share: What will be run.
  ///   - console: How to tell the user.
  /// - Throws: ``DriverError`` for a step that can't be done, ``UsageError``, and ``OutputError`` where a recording exists
  ///   that must not be replaced.
  init(_ arguments: Arguments, _ share: DriveShare, _ console: Console) throws {
    let plans = share.own
    // A step that can't be done is a mistake of its author, and no conduct of a subject.
    for plan in plans { _ = try plan.preview() }
    shard = share.shard
    self.arguments = arguments
    self.console = console
    baseline = try BaselineOptions(arguments, inputs: [], ownsForce: false)
    outputs = try ReportFiles(arguments, inputs: [], others: baseline.paths)
    recordings = try CaseRecordings(
      folder: arguments.value(DriveOptions.save), replaces: arguments.has(DriveOptions.force))
    try recordings.check(plans)
    judging = try ConformRun.options(arguments, baseline)
  }

  /// Judges what came of cases, and writes the report; after Ctrl-C it keeps the recordings alone.
  /// - Parameters:
  ///   - results: What came of them.
  ///   - specs: The standards to judge by.
  ///   - subject: Whose conduct is judged.
  /// - Returns: How the command ends.
  /// - Throws: ``Interrupted``, ``OutputError``, and ``CaptureError`` for a recording that can't be read.
  func write(
    _ results: DriveResults, by specs: Set<String>, on subject: Peer
  ) throws -> ExitStatus {
    if !results.isWhole { try recordings.keep(results, console) }
    try Interruption.check()
    var judging = judging
    judging.specs = specs
    judging.subject = subject
    var judge = try CaseJudge(judging)
    for (number, result) in results.numbered {
      try judge.take(result, number: number, in: recordings.write(result))
    }
    if results.planned == 0 { console.note("--shard", "none of the cases is of this part") }
    let report = judge.report().asPart(shard?.named(cases: results.count))
    let noted = try baseline.apply(to: report, isWhole: true, console) { entries in
      Set(entries.filter(report.keeps))
    }
    let isEmpty = !report.hasJudged && !arguments.has(ConformRun.allowEmpty) && shard == nil
    return try outputs.write(noted, isWhole: !isEmpty && results.isWhole, console)
  }
}
