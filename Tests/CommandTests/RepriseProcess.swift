import Foundation
import TestSupport

/// The built command, run as users run it.
enum RepriseProcess {
  /// What a run left behind.
  struct Result {
    var status: Int32
    var output: String
    var errors: String
  }

  /// The command beside the tests' own program.
  static var executable: URL {
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return program.deletingLastPathComponent().appendingPathComponent("reprise")
  }

  /// What `make sanitize` says of memory; of all else that is set where the tests run they know nothing.
  private static let inherited = ProcessInfo.processInfo.environment.filter { name, _ in
    name.hasSuffix("SAN_OPTIONS")
      || ["MALLOC_PERTURB_", "GLIBC_TUNABLES", "LD_PRELOAD"].contains(name)
  }

  /// Runs the command to its end.
  /// - Parameters:
  ///   - words: What is typed behind its name.
  ///   - input: What stands at its standard input.
  ///   - environment: What is set besides the path.
  ///   - directory: Where it runs.
  /// - Returns: Its status and what it wrote.
  /// - Throws: What the system says when it can not be run.
  static func run(
    _ words: [String], input: [UInt8] = [], environment: [String: String] = [:],
    directory: URL? = nil
  ) throws -> Result {
    let run = try ProgramRun(
      [executable.path] + words, input: input,
      environment: environment.merging(inherited) { own, _ in own }, directory: directory)
    return Result(status: run.status, output: run.output, errors: run.errors)
  }

  /// Runs lines of the shell in which `$reprise` is the command.
  static func shell(_ line: String) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    process.arguments = ["-c", line]
    let own = ["PATH": "/usr/bin:/bin", "reprise": executable.path]
    process.environment = own.merging(inherited) { own, _ in own }
    // Pipes instead of files: a line may limit how large files may be.
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let written = output.fileHandleForReading.readDataToEndOfFile()
    let said = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: String(decoding: written, as: UTF8.self),
      errors: String(decoding: said, as: UTF8.self))
  }

  static func quoted(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }
}
