import DeviceSDK
import RepriseCore

extension Clause {
  /// Reads an entry of the SDK's catalogues.
  /// - Parameters:
  ///   - value: The entry.
  ///   - scenarios: The scenarios, to say which of them are bound to it.
  /// - Throws: ``ConformanceError`` when something is missing.
  init(sdk value: JSONValue, scenarios: [Scenario]) throws(ConformanceError) {
    guard let id = value["id"]?.text, let section = value["section"]?.text,
      let level = value["level"]?.text.flatMap(Level.init), let check = value["check"]?.text,
      let summary = value["summary"]?.text, let basis = value["basis"]?.text
    else {
      let id = value["id"]?.text ?? "without an identifier"
      throw ConformanceError(
        .badCatalogue, "the SDK's clause \(id) lacks a key, or has a bad level")
    }
    let names = scenarios.filter { $0.clauses.contains(id) }.map(\.name)
    let tests = value["tests"]?.elements?.compactMap(\.text) ?? []
    guard tests.isEmpty == (check != "test") else {
      throw ConformanceError(
        .badCatalogue, "the SDK's clause \(id) names no tests, or scenarios show it as well")
    }
    self.init(
      sdk: id, section: section, level: level, summary: summary,
      status: names.isEmpty ? .tested : .driven,
      check: names.isEmpty
        ? "by the tests " + tests.joined(separator: ", ")
        : "by the scenarios " + names.joined(separator: ", "),
      source: basis == "vendor" ? "documented or observed" : "a decision: nothing is documented")
  }
}
