import Driver
import Glibc
import RepriseCore

/// The folder that recordings of cases go to, if there is one.
struct CaseRecordings {
  private let folder: String?
  private let replaces: Bool

  /// Makes the folder where it is missing.
  /// - Parameters:
  ///   - folder: Its path; nil keeps nothing.
  ///   - replaces: Whether recordings that exist are replaced.
  /// - Throws: ``OutputError`` where it can't be made.
  init(folder: String?, replaces: Bool) throws {
    self.folder = folder
    self.replaces = replaces
    guard let folder, mkdir(folder, 0o700) != 0, errno != EEXIST else { return }
    throw OutputError(opening: folder, errno)
  }

  /// Checks that nothing is in the way of recordings, before anything is recorded.
  /// - Parameter plans: What will be run.
  /// - Throws: ``OutputError`` where a recording exists that must not be replaced.
  func check(_ plans: [CasePlan]) throws {
    guard let folder, !replaces else { return }
    for plan in plans {
      for path in ["\(folder)/\(plan.name).pcapng", "\(folder)/\(plan.name).jsonl"]
      where access(path, F_OK) == 0 {
        throw OutputError(opening: path, EEXIST)
      }
    }
  }

  /// Keeps what was said in the cases that were run before the user ended the run, and says so.
  /// - Parameters:
  ///   - results: What came of them.
  ///   - console: How to tell the user.
  /// - Throws: ``OutputError``, and ``CaptureError`` for a recording that can't be read.
  func keep(_ results: DriveResults, _ console: Console) throws {
    guard let folder else { return }
    let run = results.numbered.map(\.result).filter(\.isRun)
    for result in run { _ = try write(result) }
    let cases = run.count == 1 ? "1 case" : "\(run.count) cases"
    console.note(folder, "keeps what was said in \(cases) until the end")
  }

  /// Writes what was said in a case: the capture, and the events in it, without passwords.
  /// - Parameter result: What came of the case.
  /// - Returns: What the capture is called in the report.
  /// - Throws: ``OutputError``, and ``CaptureError`` for a recording that can't be read.
  func write(_ result: CaseResult) throws -> String {
    let name = "\(result.plan.name).pcapng"
    guard let folder, result.isRun else { return name }
    let path = "\(folder)/\(name)"
    let capture = try OutputFile(path, inputs: [], isPrivate: true, replaces: replaces)
    try capture.write(result.recording.span.bytes)
    try capture.close()
    let events = try OutputFile(
      "\(folder)/\(result.plan.name).jsonl", inputs: [], isPrivate: true, replaces: replaces)
    let header = RecordingHeader(
      created: ConvertCommand.now, source: .capture(name), redacted: RedactionRules().ruleNames)
    var writer = try RecordingWriter(events, header: header, hiding: RedactionRules())
    try CaseJudge.read(result.recording) { try writer.consume($0) }
    try writer.finish()
    try events.close()
    return path
  }
}
