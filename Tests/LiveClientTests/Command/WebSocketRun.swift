import RepriseCore
import TestSupport

/// What a run of `reprise conform` came to that drove one end of WebSocket: its status, its report, and what it said besides.
struct WebSocketRun {
  let status: Int32
  let errors: String
  private let report: JSONValue

  /// Runs the command to its end.
  /// - Parameters:
  ///   - words: What is typed behind `conform`, for a report in JSON.
  ///   - directory: Where its files are.
  /// - Throws: What the system says when it can't be started.
  init(_ words: [String], in directory: Scratch) async throws {
    let (status, output, errors) = try await RunningCommand.run(
      ["conform"] + words, in: directory)
    self.init(status, output, errors)
  }

  /// Takes what a run came to that was waited for otherwise.
  init(_ status: Int32, _ output: String, _ errors: String) {
    (self.status, self.errors) = (status, errors)
    report = JSONValue(parsing: Array(output.utf8)) ?? .null
  }

  /// The cases of an outcome, each once.
  func cases(_ outcome: String) -> [String] {
    let all = report["cases"]?.elements ?? []
    return Set(
      all.filter { $0["outcome"]?.text == outcome }.compactMap { $0["case"]?.text }
    ).sorted()
  }

  /// The clauses of a verdict, by their identifiers without `RFC6455-`.
  func clauses(_ verdict: String) -> [String] {
    (report["clauses"]?.elements ?? []).filter { $0["verdict"]?.text == verdict }
      .compactMap { $0["id"]?.text.map { String($0.dropFirst(8)) } }
  }
}
