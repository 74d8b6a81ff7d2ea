import RepriseCore

/// `reprise replay`: says what can be replayed, and how.
enum ReplayCommand: Command {
  static let spec = CommandSpec(
    name: "replay", summary: "Replays recorded sessions; see its forms.",
    operands: "sdk FILE", operandCount: 0...Int.max, options: ReplaySDKCommand.options,
    details: """
      Forms:
        reprise replay sdk FILE         runs the SDK on a session and prints what it saw
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    // Options may stand in front of the second word, too.
    let word = arguments.operand
    guard word == "sdk" else { throw unknown(word) }
    let rest = arguments.droppingFirstOperand
    try rest.checkOperands(ReplaySDKCommand.spec)
    return try await ReplaySDKCommand.run(rest, console)
  }

  private static func unknown(_ word: String) -> UsageError {
    switch word {
    case "":
      return UsageError("replay needs to know what to run", "type reprise replay sdk FILE")
    case "serve", "drive":
      return UsageError(
        "this version can't do 'replay \(word)' yet", "type reprise help replay")
    case let file where file.contains(".") || file.contains("/"):
      return UsageError(
        "replay plays a session on the SDK, as 'replay sdk', and sends nothing to a broker",
        "type reprise replay sdk \(file); code of your own replays by ReplayClient")
    default:
      let nearest = NearestName.find(word, in: ["sdk"])
      return UsageError(
        "unknown command 'replay \(word)'",
        (nearest.map { "did you mean reprise replay \($0)? " } ?? "") + "type reprise help replay")
    }
  }
}
