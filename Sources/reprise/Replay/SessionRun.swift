import Driver
import RepriseCore
import SessionReplay

/// A session that is replayed to its other end, with what is told of it.
struct SessionRun {
  /// The file of the session.
  let file: String
  /// How it is replayed.
  let options: SessionOptions
  /// What both ends do.
  let script: SessionScript
  private let output: OutputFile
  private let arguments: Arguments
  private let console: Console

  /// Reads the session; nil where it can't be replayed, which is told.
  /// - Parameters:
  ///   - arguments: What was typed; the first operand is the file.
  ///   - console: How to tell the user.
  /// - Throws: ``UsageError``, ``OutputError`` and ``Interrupted``.
  init?(_ arguments: Arguments, _ console: Console) throws {
    file = try SessionFolder.session(arguments.operand)
    options = try SessionOptions(arguments, file)
    _ = try RedactionRules(arguments, hidesSecrets: true)
    output = try OutputFile(
      arguments.value(.output), inputs: [file], isPrivate: arguments.has(.showSecrets))
    (self.arguments, self.console) = (arguments, console)
    guard let script = try ScriptInput.read(file, options, arguments, console) else { return nil }
    self.script = script
  }

  /// Replays it.
  /// - Parameters:
  ///   - peer: What is at the other end, for messages.
  ///   - repeats: Whether it begins anew at its end.
  ///   - party: Makes what does; again for each time.
  /// - Returns: What the process ends with.
  /// - Throws: ``OutputError`` and ``Interrupted``.
  func run(
    with peer: String, repeats: Bool, _ party: () throws -> any ReplayParty
  ) throws -> ExitStatus {
    var lines = try PacketLines(output, of: file, arguments, console)
    while true {
      let party = try party()
      let ending = try party.run(isStopped: { Interruption.status != nil }) { try lines.write($0) }
      switch ending {
      case nil: try Interruption.check()
      case .done:
        try lines.writeEnd(script.connectionCount)
        if repeats { continue }
        try output.close()
        return .done
      case .diverged(let divergence):
        try lines.write(divergence)
        try output.close()
        return .failed
      case .unreachable(let why):
        console.error("\(peer): can't be reached: \(why); check whether a server runs there")
        try output.close(isWhole: false)
        return .unable
      }
    }
  }
}
