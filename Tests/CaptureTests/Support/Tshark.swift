import Foundation
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
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["tshark", "-n", "-r", path] + words + ["-T", "fields"] + fields.flatMap { ["-e", $0] }
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "tshark is needed: make setup installs it")
    return String(decoding: output, as: UTF8.self).split(separator: "\n")
  }
}
