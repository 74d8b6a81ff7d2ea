import RepriseCore

extension Clause {
  /// Reads an entry of the SDK's catalogues.
  /// - Parameters:
  ///   - value: The entry.
  ///   - scenarios: The scenarios, to name those that are bound to it; nil where nobody asks for their names.
  /// - Throws: ``ConformanceError`` when something is missing.
  init(sdk value: JSONValue, scenarios: [Scenario]?) throws(ConformanceError) {
    guard let id = value["id"]?.text, let section = value["section"]?.text,
      let level = value["level"]?.text.flatMap(Level.init), let check = value["check"]?.text,
      let summary = value["summary"]?.text, let basis = value["basis"]?.text
    else {
      let id = value["id"]?.text ?? "without an identifier"
      throw ConformanceError(
        .badCatalogue, "the SDK's clause \(id) lacks a key, or has a bad level")
    }
    let tests = value["tests"]?.elements?.compactMap(\.text) ?? []
    let isTested = check == "test"
    guard tests.isEmpty != isTested else {
      throw ConformanceError(
        .badCatalogue, "the SDK's clause \(id) names no tests, or scenarios show it as well")
    }
    let names = scenarios?.filter { $0.clauses.contains(id) }.map(\.name)
    if let names, names.isEmpty != isTested {
      throw ConformanceError(
        .badCatalogue, "the SDK's clause \(id) is shown by no scenario, or by tests as well")
    }
    self.init(
      sdk: id, section: section, level: level, summary: summary,
      status: isTested ? .tested : .driven,
      check: isTested
        ? "by the tests " + tests.joined(separator: ", ")
        : "by " + (names.map { "the scenarios " + $0.joined(separator: ", ") } ?? "scenarios"),
      source: basis == "vendor" ? "documented or observed" : "a decision: nothing is documented")
  }
}
