/// A file that was to be judged and could not be read, so that a report is not on all that was asked for.
public struct UnreadInput: Sendable, Hashable {
  /// The name of the file.
  public let file: String
  /// What was in the way, with what to do, in words.
  public let reason: String

  /// Names a file that could not be read.
  /// - Parameters:
  ///   - file: The name of the file.
  ///   - reason: What was in the way.
  public init(file: String, reason: String) {
    self.file = file
    self.reason = reason
  }

  /// The file with what was in the way, on one line that steers no terminal.
  package var text: String { ConformanceReport.printable("\(file): \(reason)") }
}

extension ConformanceReport {
  /// Returns the same report on files some of which could not be read.
  /// - Parameter unread: The files, in the order in which they were to be read.
  /// - Returns: The report.
  public func lacking(_ unread: [UnreadInput]) -> ConformanceReport {
    var copy = self
    copy.unread = unread
    return copy
  }

  /// What was to be judged and has no verdict: files that could not be read, scenarios that came to no end.
  package var problems: [String] { unread.map(\.text) + scenarioProblems }
}
