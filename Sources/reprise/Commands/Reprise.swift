import ConformanceKit
import Glibc
import RepriseCore

/// The command line as a whole: finds the command, runs it, and says why it could not.
enum Reprise {
  /// The version of the product.
  static let version = "0.1.0"
  /// The day of the version, which pages for man bear.
  static let date = "2026-11-27"
  /// What files name as their writer.
  static let application = "Reprise \(version)"

  /// What stands in front of a command.
  static let spec = CommandSpec(
    name: "reprise", summary: "Reads network captures and judges MQTT conformance.",
    operands: "COMMAND", operandCount: 0...Int.max, options: [.version, .verbose])

  /// Runs the command that words name.
  /// - Parameter words: What was typed behind the program's name.
  /// - Returns: What the process ends with.
  static func run(_ words: [String]) async -> ExitStatus {
    Interruption.watch()
    var console = Console()
    do {
      return try await dispatch(words, &console)
    } catch let error as UsageError {
      console.error(error.description)
      return .unable
    } catch let error as ConformanceError {
      let command = error.code == .unknownScenario ? "sdk --list" : "list"
      console.error("\(error.message); type reprise conform \(command) to see all that there are")
      return .unable
    } catch let error as OutputError where error.isClosedPipe {
      // The reader has seen enough, as `head` has; that is no error.
      return .done
    } catch let interrupted as Interrupted {
      return interrupted.status
    } catch {
      console.error("\(error)")
      return .unable
    }
  }

  private static func dispatch(
    _ words: [String], _ console: inout Console
  ) async throws -> ExitStatus {
    let (leading, rest) = splitLeadingOptions(words)
    let global = try Arguments(leading, for: spec)
    if global.has(.version) {
      let libraries = global.has(.verbose) ? LibraryVersions.text : ""
      try OutputFile.standard.write("reprise \(version)\n\(libraries)")
      return .done
    }
    if global.has(.help) {
      try Console(global).showHelp(HelpText.overview)
      return .done
    }
    guard !global.has(.verbose) else {
      throw UsageError("--verbose is for --version", "type reprise --version --verbose")
    }
    guard let first = rest.first else {
      throw UsageError("a command is missing", "type reprise help to see them all")
    }
    guard let (command, behind) = Commands.find(rest) else { throw unknown(first) }
    let arguments = try Arguments(leading + behind, for: command.spec)
    if arguments.has(.help) {
      try Console(arguments).showHelp(HelpText.text(of: command.spec))
      return .done
    }
    console = Console(arguments)
    return try await command.run(arguments, console)
  }

  /// Takes the options in front of the command's name apart from the rest.
  private static func splitLeadingOptions(_ words: [String]) -> ([String], ArraySlice<String>) {
    var leading: [String] = []
    var rest = words[...]
    while let word = rest.first, word.hasPrefix("-"), word != "-", word != "--" {
      leading.append(word)
      rest.removeFirst()
      if word == "--\(OptionSpec.color.name)", let value = rest.popFirst() {
        leading.append(value)
      }
    }
    return (leading, rest)
  }

  /// The error for a word that stands where a command should.
  private static func unknown(_ word: String) -> UsageError {
    if access(word, F_OK) == 0 {
      let file = ShellWord.quoted(word)
      return UsageError(
        "\(word) is no command, but there is such a file",
        "type reprise inspect \(file) to see what it holds, reprise conform trace \(file) to judge it"
      )
    }
    // The second word of a command alone: explain, merge, proxy.
    let ways = Commands.all.map { $0.spec.name }.filter { $0.hasSuffix(" \(word)") }
    if !ways.isEmpty {
      let typed = ways.map { "reprise \($0)" }.joined(separator: " or ")
      return UsageError(
        "unknown command '\(word)'", "did you mean \(typed)? type reprise help to see them all")
    }
    let names = Set(Commands.all.map { String($0.spec.name.prefix { $0 != " " }) }).sorted()
    let nearest = NearestName.find(word, in: names).map { "did you mean reprise \($0)? " } ?? ""
    return UsageError("unknown command '\(word)'", nearest + "type reprise help to see them all")
  }
}
