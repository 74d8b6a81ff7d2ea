import ConformanceKit
import Driver
import RepriseCore

/// `reprise conform list`: lists the clauses of the catalogue, or the cases that subjects are driven by.
enum ConformListCommand: Command {
  private static let format = OptionSpec(
    name: "format", letter: "f", value: "FORMAT", choices: ["text", "json"],
    help: "text (default): a table; json: id, spec, section, level, actor, status and summary.")

  private static let cases = OptionSpec(
    name: "cases",
    help: "Lists the cases of conform broker and server instead: profile, runs and title.")

  static let spec = CommandSpec(
    name: "conform list", summary: "Lists the clauses: id, level, status, scope and summary.",
    operands: "[SECTION]", operandCount: 0...1, options: [.spec, cases, format, .output],
    details: """
      Status, of what a run of this suite can say about a clause:
        checked                 judged on captures and recordings
        reactive                judged where one holds what provokes it, as few do
        active                  not judged: a driver has to provoke it and to know the subject
        unobservable            nothing on the wire can tell, for which explain has the reason
        driven, tested          of the SDK: by conform sdk, or by its unit tests

      Examples:
        reprise conform list
        reprise conform list --spec mqtt-3.1.1 3.8
        reprise conform list rfc6455/5.5
        reprise conform list --format json
        reprise conform list --cases
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    if arguments.has(cases) { return try listCases(arguments, console) }
    let catalogue = try Catalogue.listed()
    let specs = arguments.list(.spec)
    let chosen = specs.isEmpty ? nil : Set(specs)
    // Refuses what does not exist, which a listing would only leave out.
    _ = try catalogue.select(specs: chosen, arguments.operands)
    let output = try OutputFile(arguments.value(.output), inputs: [])
    let paint = Paint(isOn: console.usesColor(on: output))
    try output.show(
      arguments.value(format) == "json"
        ? try catalogue.json(specs: chosen, section: arguments.operands.first)
        : paint.names(in: catalogue.listing(specs: chosen, section: arguments.operands.first)))
    try output.close()
    return .done
  }

  private static func listCases(
    _ arguments: Arguments, _ console: Console
  ) throws -> ExitStatus {
    guard arguments.operands.isEmpty, arguments.list(.spec).isEmpty else {
      throw UsageError("cases are of no section or standard", "type --cases alone")
    }
    let libraries = try CaseKind.allCases.map { try CaseLibrary($0) }
    let output = try OutputFile(arguments.value(.output), inputs: [])
    let paint = Paint(isOn: console.usesColor(on: output))
    try output.show(
      arguments.value(format) == "json"
        ? CaseLibrary.json(libraries) : paint.names(in: CaseLibrary.listing(libraries)))
    try output.close()
    return .done
  }
}
