import RepriseCore

/// `reprise record`: what stands in front of the ways to record.
enum RecordCommand: Command {
  static let spec = CommandSpec(
    name: "record", summary: "Records what goes on, see reprise help record client.",
    operands: "client URL", operandCount: 0...Int.max, options: RecordClientCommand.spec.options,
    details: """
      Forms:
        reprise record client URL --topic FILTER -o FILE    as an MQTT client
        reprise record client ws://HOST/PATH -o FILE        the messages of a WebSocket
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    // Options may stand in front of the second word, too.
    switch arguments.operands.first {
    case "client":
      let rest = arguments.droppingFirstOperand
      try rest.checkOperands(RecordClientCommand.spec)
      return try await RecordClientCommand.run(rest, console)
    case nil:
      throw UsageError("record needs what is to be recorded", "type reprise record client URL")
    case .some(let word):
      let nearest = NearestName.find(word, in: ["client"])
      throw UsageError(
        "unknown command 'record \(word)'",
        (nearest.map { "did you mean reprise record \($0)? " } ?? "")
          + "type reprise help record")
    }
  }

  static func refuse(_ words: ArraySlice<String>) throws(UsageError) {
    switch words.first {
    case "interface":
      throw UsageError(
        "this version can't do 'record interface' yet",
        "record by tcpdump -w FILE, which reprise reads, or type reprise help record client")
    case "proxy":
      throw UsageError(
        "this version can't do 'record proxy' yet", "type reprise help record client")
    default: return
    }
  }
}
