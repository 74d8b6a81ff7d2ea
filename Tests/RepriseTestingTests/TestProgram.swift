#if os(Linux)
  import Foundation
  import TestSupport

  /// A run of its own of one of these tests, by this program.
  enum TestProgram {
    /// Runs one test.
    /// - Parameters:
    ///   - test: The test, as `--filter` takes it.
    ///   - variables: Variables of the environment that it has besides those of this run.
    ///   - arguments: Other arguments of the program.
    /// - Returns: What the program ended with, and what it wrote.
    /// - Throws: What keeps it from running.
    static func run(
      _ test: String, _ variables: [String: String] = [:], _ arguments: [String] = []
    ) async throws -> (status: Int32, output: String) {
      let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let folder = Scratch()
      try folder.write("", to: "output")
      let output = try FileHandle(forWritingTo: URL(filePath: "\(folder.path)/output"))
      let process = Process()
      process.executableURL = URL(filePath: program)
      process.arguments = ["--testing-library", "swift-testing", "--filter", test] + arguments
      process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
      process.standardOutput = output
      process.standardError = output
      try process.run()
      await withCheckedContinuation { continuation in
        Thread {
          process.waitUntilExit()
          continuation.resume()
        }.start()
      }
      return (process.terminationStatus, try folder.read("output"))
    }
  }
#endif
