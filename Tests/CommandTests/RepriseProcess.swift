import Foundation
import TestSupport

/// The built command, run as users run it.
enum RepriseProcess {
  /// What a run left behind.
  struct Result {
    var status: Int32
    var output: String
    var errors: String

    fileprivate init(_ run: ProgramRun) {
      (status, output, errors) = (run.status, run.output, run.errors)
    }
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
    try Result(
      ProgramRun(
        [executable.path] + words, input: input,
        environment: environment.merging(inherited) { own, _ in own }, directory: directory))
  }

  /// Runs lines of the shell in which `$reprise` is the command.
  static func shell(_ line: String) throws -> Result {
    let own = ["PATH": "/usr/bin:/bin", "reprise": executable.path]
    return try Result(
      ProgramRun(["/bin/bash", "-c", line], environment: own.merging(inherited) { own, _ in own }))
  }

  static func quoted(_ text: String) -> String {
    "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
  }
}
