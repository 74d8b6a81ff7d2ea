import Foundation

/// A client of the library `websockets`; see client.py.
enum PythonClient {
  /// Runs a scenario to its end.
  /// - Returns: What it printed.
  static func run(_ scenario: String, _ url: String, authority: String? = nil) async throws
    -> String
  {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let package = here.appending(path: "../../../..").standardized.path
    let child = try Child(
      ["\(package)/.build/venv/bin/python", here.appending(path: "client.py").path, scenario, url]
        + [authority].compactMap(\.self), errorsApart: true)
    guard await child.wait() == 0 else {
      throw Child.Failure(description: "\(scenario): " + child.errors)
    }
    return child.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
