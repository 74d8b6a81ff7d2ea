import RepriseCore

/// Commands that begin with the same word, in front of whose second word options may stand.
struct CommandGroup {
  /// The first word.
  let name: String
  /// The commands.
  let ways: [any Command.Type]

  /// The options of all of them; one that several have is shown as the first has it.
  var options: [OptionSpec] {
    ways.reduce(into: [OptionSpec]()) { options, way in
      options += way.spec.options.filter { option in
        !options.contains { $0.name == option.name }
      }
    }
  }

  /// Runs the command that the first operand names.
  /// - Parameters:
  ///   - arguments: What was typed behind the first word.
  ///   - console: How to tell the user about errors and notes.
  ///   - missing: What is wrong where there is no second word.
  /// - Returns: What the process ends with.
  /// - Throws: ``UsageError`` where none is named, or it takes something else, and what the command throws.
  func run(
    _ arguments: Arguments, _ console: Console, missing: UsageError
  ) async throws -> ExitStatus {
    guard let word = arguments.operands.first else { throw missing }
    guard let way = ways.first(where: { $0.spec.name == "\(name) \(word)" }) else {
      let names = ways.compactMap { $0.spec.name.split(separator: " ").last.map(String.init) }
      let nearest = NearestName.find(word, in: names).map { "did you mean reprise \(name) \($0)? " }
      throw UsageError(
        "unknown command '\(name) \(word)'", (nearest ?? "") + "type reprise help \(name)")
    }
    let rest = arguments.droppingFirstOperand
    try rest.checkOptions(way.spec)
    try rest.checkOperands(way.spec)
    return try await way.run(rest, console)
  }
}
