import ConformanceKit

/// `reprise conform explain`: says what a clause means and how it is judged.
enum ConformExplainCommand: Command {
  static let spec = CommandSpec(
    name: "conform explain", summary: "Says what a clause means and how it is judged.",
    operands: "ID|SECTION", operandCount: 1...1,
    details: """
      Of a section with several clauses it lists them.

      Examples:
        reprise conform explain MQTT-3.8.3-3
        reprise conform explain RFC6455-5.1-1
        reprise conform explain 3.8.3
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let catalogue = try Catalogue.everything()
    try OutputFile.standard.write(try catalogue.explanation(of: arguments.operand))
    return .done
  }
}
