import RepriseCore

/// `reprise record`: what stands in front of the ways to record.
enum RecordCommand: Command {
  /// Those of all ways; one that several have is shown as the first has it.
  private static let options =
    RecordClientCommand.spec.options
    + RecordProxyCommand.spec.options.filter { option in
      !RecordClientCommand.spec.options.contains { $0.name == option.name }
    }

  static let spec = CommandSpec(
    name: "record",
    summary: "Records what goes on, see reprise help record client and record proxy.",
    operands: "client URL | proxy LISTEN UPSTREAM", operandCount: 0...Int.max, options: options,
    details: """
      Forms:
        reprise record client URL --topic FILTER -o FILE    as an MQTT client
        reprise record client ws://HOST/PATH -o FILE        the messages of a WebSocket
        reprise record proxy LISTEN UPSTREAM -o FILE        all bytes of clients and a server
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    // Options may stand in front of the second word, too.
    switch arguments.operands.first {
    case "client": return try await run(RecordClientCommand.self, arguments, console)
    case "proxy": return try await run(RecordProxyCommand.self, arguments, console)
    case nil:
      throw UsageError("record needs what is to be recorded", "type reprise record client URL")
    case .some(let word):
      let nearest = NearestName.find(word, in: ["client", "proxy"])
      throw UsageError(
        "unknown command 'record \(word)'",
        (nearest.map { "did you mean reprise record \($0)? " } ?? "")
          + "type reprise help record")
    }
  }

  /// Runs the command that the first operand names.
  private static func run(
    _ command: any Command.Type, _ arguments: Arguments, _ console: Console
  ) async throws -> ExitStatus {
    let rest = arguments.droppingFirstOperand
    try rest.checkOptions(command.spec)
    try rest.checkOperands(command.spec)
    return try await command.run(rest, console)
  }

  static func refuse(_ words: ArraySlice<String>) throws(UsageError) {
    switch words.first {
    case "interface":
      throw UsageError(
        "this version can't do 'record interface' yet",
        "record by tcpdump -w FILE, which reprise reads, or type reprise help record client")
    default: return
    }
  }
}
