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
