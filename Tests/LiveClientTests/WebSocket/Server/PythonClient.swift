import Foundation

/// A client of the library `websockets`; see client.py.
enum PythonClient {
  /// Runs a scenario to its end.
  /// - Returns: What it printed.
  static func run(_ scenario: String, _ url: String, authority: String? = nil) async throws
    -> String
  {
    let directory = try Scratch()
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let package = here.appending(path: "../../../..").standardized.path
    let output = directory.file("output")
    let errors = directory.file("errors")
    let child = try Child(
      ["\(package)/.build/venv/bin/python", here.appending(path: "client.py").path, scenario, url]
        + [authority].compactMap(\.self), output: output, errors: errors)
    _ = try await eventually { child.hasEnded }
    guard child.hasEnded, child.wait() == 0 else {
      throw Child.Failure(description: "\(scenario): " + Child.text(of: errors))
    }
    return Child.text(of: output).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
