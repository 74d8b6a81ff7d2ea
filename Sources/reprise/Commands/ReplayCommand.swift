import RepriseCore

/// `reprise replay`: what stands in front of the ways to replay.
enum ReplayCommand: Command {
  private static let group = CommandGroup(
    name: "replay",
    ways: [ReplayServeCommand.self, ReplayDriveCommand.self, ReplaySDKCommand.self])

  static let spec = CommandSpec(
    name: "replay",
    summary: "Replays recorded sessions, see reprise help replay serve, drive and sdk.",
    operands: "serve FILE | drive FILE URL | sdk FILE", operandCount: 0...Int.max,
    options: group.options,
    details: """
      Forms:
        reprise replay serve FILE --listen HOST:PORT    is the recorded server, for any client
        reprise replay drive FILE URL                   is the recorded clients, for a server
        reprise replay sdk FILE                         runs the SDK on a session and prints
                                                        what it saw
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
    let word = arguments.operand
    // A file in the place of the way.
    if word.contains(".") || word.contains("/") {
      throw UsageError(
        "replay needs to know what to be",
        "type reprise replay serve \(word) --listen HOST:PORT, "
          + "reprise replay drive \(word) URL, or reprise replay sdk \(word)")
    }
    return try await group.run(
      arguments, console,
      missing: UsageError(
        "replay needs to know what to be", "type reprise replay serve, drive or sdk FILE"))
  }
}
