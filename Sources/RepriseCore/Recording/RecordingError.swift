/// Why a recording can't be read on: what is wrong, in which line and column, and what to do.
public struct RecordingError: Error, Sendable, Hashable {
  /// What kind of error it is; the only part that programs should compare.
  public var code: Code
  /// One sentence for a reader.
  public var message: String
  /// The line, from 1.
  public var line: Int
  /// The place in the line, in bytes from 1.
  public var column: Int
  /// What the user can do about it.
  public var remedy: String
  /// The file, as whoever opened it named it; nil for bytes that were given in memory.
  public var file: String?

  /// Creates an error.
  public init(_ code: Code, _ message: String, line: Int, column: Int = 1, remedy: String) {
    self.code = code
    self.message = message
    self.line = line
    self.column = column
    self.remedy = remedy
  }

  /// Returns the same error with the name of a file, unless it has one; `-` is standard input.
  package func inFile(_ path: String) -> RecordingError {
    var error = self
    error.file = file ?? (path == "-" ? "standard input" : path)
    return error
  }

  /// The kinds of error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The line is not JSON.
    case notJSON = "not-json"
    /// The first line is not the header of a recording.
    case notRecording = "not-a-recording"
    /// The recording is of a version that this program does not know.
    case unknownVersion = "unknown-version"
    /// A key is missing.
    case missingKey = "missing-key"
    /// A key has a value that it can't have.
    case wrongValue = "wrong-value"
    /// The event is of a type that this program does not know.
    case unknownType = "unknown-type"
    /// The line is longer than a recording's line can be.
    case lineTooLong = "line-too-long"
  }
}

extension RecordingError: CustomStringConvertible {
  /// The error in one line: the file, what is wrong, where, and what to do.
  public var description: String { file.map { "\($0): \(reason)" } ?? reason }

  /// The description without the file, for whoever names it otherwise.
  package var reason: String { "\(message) (line \(line), column \(column)); \(remedy)" }
}
