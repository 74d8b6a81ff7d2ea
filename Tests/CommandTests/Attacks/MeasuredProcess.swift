import Foundation
import TestSupport

/// The built command, run with memory that is filled with a pattern when it is taken and given back,
/// and what that took of the machine.
struct MeasuredProcess {
  /// The status that it ended with; 128 and more where a signal ended it.
  var status: Int32
  /// The most memory that it had at once, in bytes.
  var peak: Int
  /// How long it kept a processor busy, in seconds: what else runs does not count.
  var seconds: Double
  /// What it wrote to standard error.
  var errors: String

  /// Whether a sanitizer is built in, whose own memory and time would be measured: it keeps all that is given back.
  static let isInstrumented = ProcessInfo.processInfo.environment["REPRISE_SANITIZER"] != nil

  /// Runs the command to its end; what it writes to standard output is dropped.
  ///
  /// GNU time begins it: what the system says of a child of the tests has their own memory in it.
  /// - Parameter words: What is typed behind its name.
  /// - Returns: How it ended, and what it took.
  /// - Throws: What the system says when it can not be run.
  static func run(_ words: [String]) throws -> MeasuredProcess {
    let scratch = Scratch()
    let typed = words.map(RepriseProcess.quoted).joined(separator: " ")
    let result = try RepriseProcess.shell(
      "MALLOC_PERTURB_=170 /usr/bin/time -q -o \(RepriseProcess.quoted(scratch.file("usage"))) "
        + "-f '%M %U %S' $reprise \(typed) >/dev/null")
    let figures = try scratch.read("usage").split { $0 == " " || $0 == "\n" }
      .compactMap { Double($0) }
    return MeasuredProcess(
      status: result.status, peak: figures.first.map { Int($0) << 10 } ?? .max,
      seconds: figures.dropFirst().reduce(0, +), errors: result.errors)
  }
}
