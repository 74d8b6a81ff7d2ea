/// `reprise record`: what stands in front of the ways to record.
enum RecordCommand: Command {
  private static let group = CommandGroup(
    name: "record",
    ways: [RecordClientCommand.self, RecordProxyCommand.self, RecordInterfaceCommand.self])

  static let spec = CommandSpec(
    name: "record",
    summary: "Records what goes on, see reprise help record client, proxy and interface.",
    operands: "client URL | proxy LISTEN UPSTREAM | interface NAME", operandCount: 0...Int.max,
    options: group.options,
    details: """
      Forms:
        reprise record client URL --topic FILTER -o FILE    as an MQTT client
        reprise record client ws://HOST/PATH -o FILE        the messages of a WebSocket
        reprise record proxy LISTEN UPSTREAM -o FILE        all bytes of clients and a server
        reprise record interface NAME -o FILE               the frames of a network interface
      """)

  /// What to do instead of the options that only a client's recording has: all others are of bytes.
  static let missing = [
    "redact":
      "what passes is written as it comes; hide it in the capture: reprise redact FILE -o FILE"
  ]

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    try await group.run(
      arguments, console,
      missing: UsageError(
        "record needs what is to be recorded", "type reprise record client URL"))
  }
}
