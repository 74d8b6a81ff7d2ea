public import Foundation

/// What a program left behind that a test has run to its end.
public struct ProgramRun: Sendable {
  /// What it ended with.
  public var status: Int32
  /// What it wrote to its standard output.
  public var output: String
  /// What it wrote to its standard error.
  public var errors: String

  /// The lines of its standard output that are not empty.
  public var lines: [Substring] { output.split(separator: "\n") }

  /// Runs a program.
  /// - Parameters:
  ///   - words: The program, by its path or its name, and its arguments.
  ///   - input: What stands at its standard input.
  ///   - environment: Its environment; nil is that of the tests.
  ///   - directory: Where it runs; nil is where the tests do.
  /// - Throws: What the system says when it can not be run.
  public init(
    _ words: [String], input: [UInt8] = [], environment: [String: String]? = nil,
    directory: URL? = nil
  ) throws {
    // Files instead of pipes: none of them can fill up and block, or end the test with who reads it.
    let scratch = Scratch()
    let process = Process()
    let isPath = words.first?.hasPrefix("/") ?? false
    process.executableURL = URL(filePath: isPath ? words[0] : "/usr/bin/env")
    process.arguments = Array(words.dropFirst(isPath ? 1 : 0))
    if let environment { process.environment = environment }
    if let directory { process.currentDirectoryURL = directory }
    process.standardInput = try FileHandle(
      forReadingFrom: scratch.write(input, to: "input"))
    process.standardOutput = try FileHandle(forWritingTo: scratch.write([], to: "output"))
    process.standardError = try FileHandle(forWritingTo: scratch.write([], to: "errors"))
    try process.run()
    process.waitUntilExit()
    status = process.terminationStatus
    output = try scratch.read("output")
    errors = try scratch.read("errors")
  }
}
