import Foundation
import TestSupport
import Testing

/// What tshark, which is no relative of this package, makes of a file.
enum Tshark {
  /// Runs tshark on a capture.
  /// - Parameters:
  ///   - path: The capture.
  ///   - words: A display filter and what else it takes.
  ///   - fields: The columns.
  /// - Returns: A line for each frame that the filter lets through.
  /// - Throws: What keeps tshark from running.
  static func lines(_ path: String, _ words: [String], fields: [String]) throws -> [Substring] {
    let run = try ProgramRun(
      ["tshark", "-n", "-r", path] + words + ["-T", "fields"] + fields.flatMap { ["-e", $0] })
    try #require(run.status == 0, "tshark is needed: make setup installs it")
    return run.lines
  }
}
