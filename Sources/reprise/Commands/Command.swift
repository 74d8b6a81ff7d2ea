/// A command of the command line.
protocol Command: SendableMetatype {
  /// What it takes.
  static var spec: CommandSpec { get }
  /// Runs it.
  /// - Parameters:
  ///   - arguments: What the user typed, checked against ``spec``.
  ///   - console: How to tell the user about errors and notes.
  /// - Returns: What the process ends with.
  /// - Throws: ``UsageError``, ``OutputError`` or ``Interrupted``; other errors are told here.
  static func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus
}

/// The commands by their names.
enum Commands {
  /// The commands, in the order of the help.
  static let all: [any Command.Type] = [
    InspectCommand.self, ViewCommand.self, StatsCommand.self, StoryCommand.self,
    DiffCommand.self,
    ConformCommand.self, ConformTraceCommand.self, ConformBrokerCommand.self,
    ConformClientCommand.self, ConformServerCommand.self, ConformSDKCommand.self,
    ConformListCommand.self, ConformExplainCommand.self, ConformCompareCommand.self,
    ReportCommand.self, ReportMergeCommand.self, ReportCompareCommand.self,
    ReportBadgeCommand.self, RecordCommand.self,
    RecordClientCommand.self, RecordProxyCommand.self, RecordInterfaceCommand.self,
    CertificateCommand.self,
    ReplayCommand.self, ReplayServeCommand.self, ReplayDriveCommand.self, ReplaySDKCommand.self,
    SimulateCommand.self,
    ConvertCommand.self, RedactCommand.self, CompletionCommand.self, HelpCommand.self,
  ]

  /// The command whose name the words begin with, and the words behind the name.
  static func find(_ words: ArraySlice<String>) -> (any Command.Type, ArraySlice<String>)? {
    var best: (any Command.Type, ArraySlice<String>)?
    var bestCount = 0
    for command in all {
      let name = command.spec.name.split(separator: " ").map(String.init)
      guard name.count > bestCount, words.starts(with: name) else { continue }
      best = (command, words.dropFirst(name.count))
      bestCount = name.count
    }
    return best
  }
}
