import ConformanceKit
import RepriseCore

/// `reprise conform list`: lists the clauses of the catalogue.
enum ConformListCommand: Command {
  static let spec = CommandSpec(
    name: "conform list", summary: "Lists the clauses: id, level, status, scope and summary.",
    operands: "[SECTION]", operandCount: 0...1, options: [.spec, .output],
    details: """
      Examples:
        reprise conform list
        reprise conform list --spec mqtt-3.1.1 3.8
        reprise conform list rfc6455/5.5
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let catalogue = try Catalogue.listed()
    let specs = arguments.list(.spec)
    // Refuses what does not exist, which a listing would only leave out.
    _ = try catalogue.select(specs: specs.isEmpty ? nil : Set(specs), arguments.operands)
    let listing = catalogue.listing(
      specs: specs.isEmpty ? nil : Set(specs), section: arguments.operands.first)
    let output = try OutputFile(arguments.value(.output), inputs: [])
    try output.write(listing)
    try output.close()
    return .done
  }
}
