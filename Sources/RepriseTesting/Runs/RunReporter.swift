import RepriseCore
import Testing

/// Makes what goes wrong with a recording an issue of the test.
struct RunReporter: Sendable {
  /// Where the test stands.
  let location: SourceLocation
  /// The file of the recording.
  let recording: String
  /// How to make the recording, as it is typed.
  let command: String
  /// Whether what diverges is nobody's fault yet.
  var isTentative = false
  /// Takes what fails a test, with its line, where that is none of Swift Testing.
  var fail: Failing?

  /// Takes what fails a test, and the line in the test's file.
  typealias Failing = @Sendable (_ text: String, _ line: Int) -> Void

  /// Whether there is a test to be told: that of the task, or one of another framework.
  var isHeard: Bool { fail != nil || Test.current != nil }

  /// Tells of a divergence.
  /// - Parameters:
  ///   - divergence: What diverged, and how.
  ///   - place: The call that diverged; nil where nobody knows it.
  ///   - run: The recording of this run.
  func tell(_ divergence: ReplayDivergence, at place: SourceLocation?, run: [UInt8]) {
    let error = DataClientError(.diverged, "\(divergence)")
    tell(explained(error), at: place ?? location, run: run)
  }

  /// Tells of an error that fails the test.
  func tell(_ error: any Error, at place: SourceLocation, run: [UInt8]) {
    if let fail { return fail("\(error)", place.line) }
    attach(run, at: place)
    Issue.record(error, sourceLocation: place)
  }

  /// The line of the test's file that the running call came from.
  var callPlace: SourceLocation? {
    CallPlace.line(in: location.filePath).map { line in
      SourceLocation(fileID: location.fileID, filePath: location.filePath, line: line, column: 1)
    }
  }

  /// A divergence with the command that makes the recording anew.
  func explained(_ error: DataClientError) -> DataClientError {
    DataClientError(error.code, "\(error.message)\n  record:   \(command)")
  }

  /// Tells of something that does not fail the test.
  func warn(_ text: String) {
    guard fail == nil, Test.current != nil else { return }
    Issue.record(Comment(rawValue: text), severity: .warning, sourceLocation: location)
  }

  /// Attaches the recording and what this run was.
  private func attach(_ run: [UInt8], at place: SourceLocation) {
    let name = recording.split(separator: "/").last.map(String.init) ?? recording
    if let bytes = CassetteFile.bytes(recording) {
      Attachment.record(bytes, named: name, sourceLocation: place)
    }
    Attachment.record(
      run, named: "this-run-\(name.hasSuffix(".jsonl") ? name : "\(name).jsonl")",
      sourceLocation: place)
  }
}
