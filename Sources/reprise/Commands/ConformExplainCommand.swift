import ConformanceKit
import Driver

/// `reprise conform explain`: says what a clause means and how it is judged, or what a case does.
enum ConformExplainCommand: Command {
  static let spec = CommandSpec(
    name: "conform explain", summary: "Says what a clause means and how it is judged.",
    operands: "ID|SECTION|CASE", operandCount: 1...1,
    details: """
      Of a section with several clauses it lists them. Of a case of conform broker it says what
      is done, step by step, and the clauses that it is for.

      Examples:
        reprise conform explain MQTT-3.8.3-3
        reprise conform explain RFC6455-5.1-1
        reprise conform explain 3.8.3
        reprise conform explain connect
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let catalogue = try Catalogue.everything()
    let cases = try CaseLibrary.broker().cases
    if let driven = cases.first(where: { $0.name == arguments.operand }) {
      try OutputFile.standard.write(
        driven.explanation { id, standard in
          catalogue.clauses.first { $0.id == id && $0.spec == standard }?.summary
        })
      return .done
    }
    try OutputFile.standard.write(try catalogue.explanation(of: arguments.operand))
    let id = arguments.operand.split(separator: "/").last.map(String.init) ?? ""
    let names = cases.filter { one in
      one.versions.contains { one.clauses(in: $0).contains(id) }
    }.map(\.name)
    if !names.isEmpty {
      try OutputFile.standard.write(
        "\n  driven by     reprise conform broker URL --case \(names.joined(separator: ","))\n")
    }
    return .done
  }
}
