import RepriseCore
import TestSupport

/// What a run of `reprise conform` came to that drove a broker or a client of MQTT: its status, its report, and what it
/// said besides.
struct DrivenRun {
  let status: Int32
  let errors: String
  let report: JSONValue

  /// Takes what a run came to, with its report in JSON.
  init(status: Int32, output: String, errors: String) {
    (self.status, self.errors) = (status, errors)
    report = JSONValue(parsing: Array(output.utf8)) ?? .null
  }

  /// Runs the command to its end.
  /// - Parameters:
  ///   - words: What is typed behind `conform`, for a report in JSON.
  ///   - directory: Where its files are.
  /// - Throws: What the system says when it can't be started.
  init(_ words: [String], in directory: Scratch) async throws {
    let (status, output, errors) = try await RunningCommand.run(
      ["conform"] + words, in: directory, environment: ["LC_ALL=C"])
    self.init(status: status, output: output, errors: errors)
  }

  /// The cases in order, each as `case spec outcome`.
  var cases: [String] {
    elements("cases").map { one in
      ["case", "spec", "outcome"].map { one[$0]?.text ?? "-" }.joined(separator: " ")
    }
  }

  /// The cases of an outcome in order, each as `spec case`.
  func cases(_ outcome: String) -> [String] {
    elements("cases").filter { $0["outcome"]?.text == outcome }.map {
      "\($0["spec"]?.text ?? "") \($0["case"]?.text ?? "")"
    }
  }

  /// Why cases were not judged, or not run.
  var reasons: [String] { elements("cases").compactMap { $0["reason"]?.text } }

  /// What is said of entries of a baseline, each as `kind subject`.
  var remarks: [String] {
    (report["baseline"]?["remarks"]?.elements ?? []).map { remark in
      "\(remark["kind"]?.text ?? "-") \(remark["subject"]?.text ?? "-")"
    }
  }

  /// The clauses of a verdict, each once, as `spec/ID`.
  func clauses(_ verdict: String) -> Set<String> {
    Set(
      elements("clauses").filter { $0["verdict"]?.text == verdict }.map {
        "\($0["spec"]?.text ?? "")/\($0["id"]?.text ?? "")"
      })
  }

  /// The clauses that failed, each once, as `spec/ID`.
  var failed: Set<String> { clauses("failed") }

  /// The verdict on a clause; nil where the report has none.
  func verdict(_ id: String, _ spec: String) -> String? {
    elements("clauses").first { $0["id"]?.text == id && $0["spec"]?.text == spec }?["verdict"]?.text
  }

  private func elements(_ name: String) -> [JSONValue] { report[name]?.elements ?? [] }
}
