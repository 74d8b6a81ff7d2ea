import ConformanceKit
import Driver

/// `reprise conform explain`: says what a clause means and how it is judged, or what a case does.
enum ConformExplainCommand: Command {
  static let spec = CommandSpec(
    name: "conform explain", summary: "Says what a clause means and how it is judged.",
    operands: "ID|SECTION|CASE", operandCount: 1...1,
    details: """
      Of a section with several clauses it lists them. Of a case of conform broker or server it
      says what is done, step by step, and the clauses that it is for.

      Examples:
        reprise conform explain MQTT-3.8.3-3
        reprise conform explain RFC6455-5.1-1
        reprise conform explain 3.8.3
        reprise conform explain connect
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let catalogue = try Catalogue.everything()
    let cases = try CaseKind.allCases.flatMap { try CaseLibrary($0).cases }
    let named = cases.filter { $0.name == arguments.operand }
    let text =
      named.isEmpty
      ? try catalogue.explanation(of: arguments.operand) + ways(to: arguments.operand, cases)
      : named.map { driven in
        driven.explanation { id, standard in
          catalogue.clauses.first { $0.id == id && $0.spec == standard }?.summary
        }
      }.joined()
    try OutputFile.standard.show(text)
    return .done
  }

  /// The commands that drive somebody into showing a clause.
  private static func ways(to operand: String, _ cases: [DrivenCase]) -> String {
    var text = ""
    let id = operand.split(separator: "/").last.map(String.init) ?? ""
    var lead = "driven by     "
    var usages: [String] = []
    for usage in cases.flatMap(\.usages) where !usages.contains(usage) { usages.append(usage) }
    for usage in usages {
      let names = cases.filter { one in
        one.usages.contains(usage)
          && one.standards.contains { one.clauses(of: $0).contains(id) }
      }.map(\.name).joined(separator: ",")
      guard !names.isEmpty else { continue }
      text +=
        (lead.first == "d" ? "\n" : "") + "  \(lead)\(usage.replacing("CASE", with: names))\n"
      lead = "              "
    }
    return text
  }
}
