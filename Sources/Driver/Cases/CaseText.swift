import RepriseCore
import Wire

extension DrivenCase {
  /// How often it is run in all of its versions.
  package var runs: Int { versions.count * rows.count }

  /// The versions, as a user names them.
  private var versionNames: String {
    versions.map { $0 == .v5_0 ? "5.0" : "3.1.1" }.joined(separator: ", ")
  }

  /// What it is, for a reader: what is provoked, what it takes, and what its steps are.
  /// - Parameter summary: What a clause of a standard says, in a line; nil for one that it has not.
  /// - Returns: Some lines.
  package func explanation(_ summary: (String, String) -> String?) -> String {
    var text = "\(name)\n  \(title)\n\n"
    text +=
      "  MQTT      \(versionNames), \(runs) \(runs == 1 ? "run" : "runs"), profile \(profile.rawValue)\n"
    if !needs.isEmpty { text += "  needs     \(needs.map(\.rawValue).joined(separator: ", "))\n" }
    for row in rows where !row.isEmpty {
      let values = row.map { "\($0.key) \($0.value.text ?? $0.value.description)" }
      text += "  values    \(values.joined(separator: ", "))\n"
    }
    text += "\n  It is for\n"
    for version in versions {
      for clause in clauses(in: version) {
        guard let said = summary(clause, version.standard) else { continue }
        text += "    \(version.standard)/\(clause)  \(said)\n"
      }
    }
    text += "\n  Steps\n"
    for step in steps { text += "    \(step)\n" }
    return text + "\n  reprise conform broker URL --case \(name)\n"
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
  /// A table of cases: name, profile, runs and title.
  package func listing() -> String {
    let width = cases.map(\.name.count).max() ?? 0
    return cases.map { one in
      let name = one.name + String(repeating: " ", count: width - one.name.count)
      let runs = String(one.runs)
      let count = String(repeating: " ", count: max(0, 3 - runs.count)) + runs
      let profile = one.profile == .quick ? "quick" : "full "
      return "\(name)  \(profile)  \(count)  \(one.title)\n"
    }.joined()
  }

  /// The cases as JSON: what each is for, what it takes, and how often it is run.
  package func json() -> String {
    let rows = cases.map { one -> JSONValue in
      [
        "case": .string(one.name), "title": .string(one.title),
        "profile": .string(one.profile.rawValue), "runs": .number(String(one.runs)),
        "needs": .array(one.needs.map { .string($0.rawValue) }),
        "clauses": .array(one.clauses.map { .string($0) }),
      ]
    }
    return JSONValue.array(rows).description + "\n"
  }
}
