import RepriseCore

/// `reprise help`: says what there is to type.
enum HelpCommand: Command {
  private static let man = OptionSpec(
    name: "man", help: "Prints a command's page for man: reprise help --man inspect | man -l -")

  static let spec = CommandSpec(
    name: "help", summary: "Shows what a command does and takes.",
    operands: "[COMMAND | TOPIC]", operandCount: 0...3, options: [man],
    details: """
      Topics:
        filter            filter expressions
        recording         the format of recordings
        simulate-frames   what requests of reprise simulate look like
        simulate-script   scripts of reprise simulate
      """)

  static func run(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
    let words = arguments.operands
    if arguments.has(man) {
      try OutputFile.standard.write(try page(words))
    } else {
      try console.showHelp(try text(words))
    }
    return .done
  }

  private static func page(_ words: [String]) throws(UsageError) -> String {
    guard let first = words.first else { return ManPage.overview }
    if let (command, rest) = Commands.find(words[...]), rest.isEmpty {
      return ManPage.text(of: command.spec)
    }
    throw topics[first] == nil
      ? unknown(words, first)
      : UsageError("the topic '\(first)' has no page for man", "type reprise help \(first)")
  }

  /// What there is help about besides commands.
  static let topics = [
    "filter": FilterHelp.text, "recording": RecordingHelp.text,
    "simulate-frames": SimulateHelp.frames, "simulate-script": SimulateHelp.script,
  ]

  private static func text(_ words: [String]) throws(UsageError) -> String {
    guard let first = words.first else { return HelpText.overview }
    if words.count == 1, let text = topics[first] { return text }
    if let (command, rest) = Commands.find(words[...]), rest.isEmpty {
      return HelpText.text(of: command.spec)
    }
    throw unknown(words, first)
  }

  private static func unknown(_ words: [String], _ first: String) -> UsageError {
    let names = Commands.all.map { $0.spec.name } + topics.keys.sorted()
    let typed = words.joined(separator: " ")
    let nearest = NearestName.find(typed, in: names) ?? NearestName.find(first, in: names)
    return UsageError(
      "there is no help about '\(typed)'",
      (nearest.map { "did you mean reprise help \($0)? " } ?? "") + "type reprise help")
  }
}
