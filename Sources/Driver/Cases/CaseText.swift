import RepriseCore
import Wire

extension DrivenCase {
  /// What a user types to drive a subject by it, with CASE in the place of its name; one for each subject that it has.
  package var usages: [String] {
    switch kind {
    case .broker: ["reprise conform broker URL --case CASE"]
    case .client: ["reprise conform client --case CASE -- COMMAND"]
    case .webSocket:
      (subjects.contains(.server) ? ["reprise conform server URL --case CASE"] : [])
        + (subjects.contains(.client)
          ? ["reprise conform client --websocket --case CASE -- COMMAND"] : [])
    }
  }

  /// How often it is run in all of its versions.
  var runs: Int { standards.count * rows.count }

  /// The versions, as a user names them.
  private var versionNames: String {
    versions.map(\.number).joined(separator: ", ")
  }

  /// What it is, for a reader: what is provoked, what it takes, and what its steps are.
  /// - Parameter summary: What a clause of a standard says, in a line; nil for one that it has not.
  /// - Returns: Some lines.
  package func explanation(_ summary: (String, String) -> String?) -> String {
    var text = "\(name)\n  \(title)\n\n"
    let spoken = versions.isEmpty ? "" : "MQTT      \(versionNames), "
    text += "  \(spoken)\(runs) \(runs == 1 ? "run" : "runs"), profile \(profile.rawValue)\n"
    if !needs.isEmpty { text += "  needs     \(needs.map(\.rawValue).joined(separator: ", "))\n" }
    for row in rows where !row.isEmpty {
      let values = row.map { "\($0.key) \($0.value.text ?? $0.value.description)" }
      text += "  values    \(values.joined(separator: ", "))\n"
    }
    text += "\n  It is for\n"
    for standard in standards {
      for clause in clauses(of: standard) {
        guard let said = summary(clause, standard) else { continue }
        text += "    \(standard)/\(clause)  \(said)\n"
      }
    }
    text += "\n  Steps\n"
    for step in steps { text += "    \(step)\n" }
    return text + "\n" + usages.map { "  \($0.replacing("CASE", with: name))\n" }.joined()
  }
}

extension CaseStep: CustomStringConvertible {
  /// The step on one line: who does what, with the fields in JSON.
  package var description: String {
    let only = version.map { $0 == .v5_0 ? "in 5.0: " : "in 3.1.1: " } ?? ""
    let who = client.isEmpty ? "" : "\(client) "
    let rest = fields.map { " \($0.key) \($0.value.text ?? $0.value.description)" }.joined()
    return only + who + action.rawValue + rest
  }
}

extension CaseLibrary {
  /// A table of cases: what is driven, name, profile, runs and title.
  /// - Parameter libraries: What is listed.
  /// - Returns: A line a case.
  package static func listing(_ libraries: [CaseLibrary]) -> String {
    let cases = libraries.flatMap(\.cases)
    let kindWidth = cases.map(\.kind.rawValue.count).max() ?? 0
    let width = cases.map(\.name.count).max() ?? 0
    return cases.map { one in
      let kind = padded(one.kind.rawValue, kindWidth)
      let profile = padded(one.profile.rawValue, 5)
      let runs = String(one.runs)
      let count = String(repeating: " ", count: max(0, 3 - runs.count)) + runs
      return "\(kind)  \(padded(one.name, width))  \(profile)  \(count)  \(one.title)\n"
    }.joined()
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// The cases as JSON: what each is for, what it takes, and how often it is run.
  /// - Parameter libraries: What is listed.
  /// - Returns: An array.
  package static func json(_ libraries: [CaseLibrary]) -> String {
    let rows = libraries.flatMap(\.cases).map { one -> JSONValue in
      [
        "subject": .string(one.kind.rawValue),
        "case": .string(one.name), "title": .string(one.title),
        "profile": .string(one.profile.rawValue), "runs": .number(String(one.runs)),
        "needs": .array(one.needs.map { .string($0.rawValue) }),
        "clauses": .array(one.clauses.map { .string($0) }),
      ]
    }
    return JSONValue.array(rows).description + "\n"
  }
}
