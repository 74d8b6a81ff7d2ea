import ConformanceKit
import Driver

/// Scripts that make shells complete commands, options and values.
enum CompletionScript {
  private static var specs: [CommandSpec] { Commands.all.map { $0.spec } }

  private static func words(_ spec: CommandSpec) -> String {
    spec.allOptions.map { "--\($0.name)" }.joined(separator: " ")
  }

  /// The first words of commands, each once.
  private static var names: [String] {
    var result: [String] = []
    for spec in specs {
      let first = String(spec.name.prefix { $0 != " " })
      if !result.contains(first) { result.append(first) }
    }
    return result
  }

  /// The second words of a command that has some.
  private static func subcommands(of name: String) -> [String] {
    specs.compactMap { spec in
      let parts = spec.name.split(separator: " ")
      return parts.count == 2 && parts[0] == name ? String(parts[1]) : nil
    }
  }

  /// The words that may stand where no option does: a fixed choice, or nil for files.
  private static func operandChoices(_ spec: CommandSpec) -> String? {
    switch spec.name {
    case "completion": "bash zsh fish"
    case "help":
      (names + names.flatMap(subcommands) + HelpCommand.topics.keys.sorted())
        .joined(separator: " ")
    case "conform", "record", "replay", "report": subcommands(of: spec.name).joined(separator: " ")
    case "conform explain", "conform list": clauses { _ in true }
    case "conform sdk":
      ((try? ScenarioSuite.bundled()).map { suite in
        Scenario.System.allCases.map(\.rawValue) + suite.scenarios.map(\.name)
      } ?? []).joined(separator: " ")
    default: spec.operands.hasPrefix("FILE") ? nil : ""
    }
  }

  /// The identifiers of clauses, each once.
  private static func clauses(where isWanted: (Clause) -> Bool) -> String {
    var seen: Set<String> = []
    let wanted = (try? Catalogue.listed())?.clauses.filter(isWanted) ?? []
    return wanted.map(\.id).filter { seen.insert($0).inserted }.joined(separator: " ")
  }

  /// The values that an option of a command has, where they are known.
  private static func valueChoices(_ option: OptionSpec, of spec: CommandSpec) -> String {
    switch option.name {
    case ConformRun.clause.name:
      let isOfSDK = spec.name == ConformSDKCommand.spec.name
      return clauses { $0.id.hasPrefix("SDK-") == isOfSDK }
    case OptionSpec.spec.name: return specifications(of: spec)
    case DriveOptions.cases.name: return cases(of: spec)
    case ReportFiles.option.name:
      return ReportFormat.allCases.map { "\($0.rawValue)=" }.joined(separator: " ")
    default: return option.choices.joined(separator: " ")
    }
  }

  /// The specifications that clauses are chosen by.
  private static func specifications(of spec: CommandSpec) -> String {
    var seen: Set<String> = []
    let all = ((try? Catalogue.listed())?.clauses.map(\.spec) ?? []).filter {
      seen.insert($0).inserted
    }
    return all.filter { $0 != "sdk" || spec.name == ConformListCommand.spec.name }
      .joined(separator: " ")
  }

  /// The names of the cases that a command drives somebody by, each once.
  private static func cases(of spec: CommandSpec) -> String {
    let kinds: [CaseKind] =
      switch spec.name {
      case ConformBrokerCommand.spec.name: [.broker]
      case ConformClientCommand.spec.name: [.client, .webSocket]
      default: [.webSocket]
      }
    var seen: Set<String> = []
    let names = kinds.flatMap { (try? CaseLibrary($0))?.cases.map(\.name) ?? [] }
    return names.filter { seen.insert($0).inserted }.joined(separator: " ")
  }

  /// Whether a value is a format and a file.
  private static func isReport(_ option: OptionSpec) -> Bool {
    option.name == ReportFiles.option.name
  }

  // MARK: bash

  static var bash: String {
    var cases = ""
    for spec in specs {
      cases += "    '\(spec.name)') options='\(words(spec))'; "
      cases += operandChoices(spec).map { "operands='\($0)'" } ?? "files=1"
      cases += " ;;\n"
    }
    var values = ""
    for spec in specs {
      for option in spec.allOptions where option.value != nil {
        // A file is still to come.
        let end = isReport(option) ? "compopt -o nospace 2> /dev/null; return" : "return"
        let letter = option.letter.map { "|'\(spec.name):-\($0)'" } ?? ""
        values +=
          "    '\(spec.name):--\(option.name)'\(letter)) COMPREPLY=(\(bashValues(option, of: spec))); \(end) ;;\n"
      }
    }
    var nested = ""
    for name in names where !subcommands(of: name).isEmpty {
      let words = subcommands(of: name).joined(separator: "|")
      nested += "  if [[ $command == \(name) && ${COMP_WORDS[2]} =~ ^(\(words))$ "
      nested += "&& $COMP_CWORD -gt 2 ]]; then command=\"\(name) ${COMP_WORDS[2]}\"; fi\n"
    }
    return """
      # bash completion of reprise
      _reprise() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
        local command=${COMP_WORDS[1]} options= operands= files= list=
        if [[ $COMP_CWORD -eq 1 ]]; then
          COMPREPLY=($(compgen -W '\(names.joined(separator: " ")) --help --version -V' -- "$word"))
          return
        fi
        # bash takes an equals sign for a word: --format=json, --report junit=FILE.
        if [[ $word == = || $before == = ]]; then
          if [[ $word == = ]]; then word=; else before=${COMP_WORDS[COMP_CWORD-2]}; fi
          if [[ $before != --* ]]; then COMPREPLY=($(compgen -f -- "$word")); return; fi
        fi
        if [[ $word == *,* ]]; then list="${word%,*},"; fi
      \(nested)  case $command:$before in
      \(values)  esac
        case $command in
      \(cases)  esac
        if [[ $word == -* ]]; then
          COMPREPLY=($(compgen -W "$options" -- "$word"))
        elif [[ -n $files ]]; then
          COMPREPLY=($(compgen -f -- "$word"))
        else
          COMPREPLY=($(compgen -W "$operands" -- "$word"))
        fi
      }
      complete -o filenames -F _reprise reprise

      """
  }

  /// What makes the candidates for the value of an option.
  private static func bashValues(_ option: OptionSpec, of spec: CommandSpec) -> String {
    if option.isFile { return "$(compgen -f -- \"$word\")" }
    let choices = valueChoices(option, of: spec)
    guard !choices.isEmpty else { return "" }
    guard option.isList else { return "$(compgen -W '\(choices)' -- \"$word\")" }
    return "$(compgen -P \"$list\" -W '\(choices)' -- \"${word#\"$list\"}\")"
  }

  // MARK: zsh

  static var zsh: String {
    var commands = ""
    for name in names {
      let summary = specs.first { $0.name == name }?.summary ?? ""
      commands += "    '\(name):\(quoted(summary))'\n"
    }
    var cases = ""
    for spec in specs {
      cases += "    '\(spec.name)') _arguments -s \\\n"
      for option in spec.allOptions {
        cases += "      \(zshArgument(option, of: spec)) \\\n"
      }
      let operands =
        operandChoices(spec).map { $0.isEmpty ? "" : "'*: :(\($0))'" } ?? "'*:file:_files'"
      cases += "      \(operands.isEmpty ? "'*: :'" : operands) ;;\n"
    }
    var nested = ""
    for name in names where !subcommands(of: name).isEmpty {
      let words = subcommands(of: name).joined(separator: "|")
      nested += "  if [[ $command == \(name) && $words[2] == (\(words)) ]]; then\n"
      nested += "    command=\"\(name) $words[2]\"; shift words; (( CURRENT-- ))\n  fi\n"
    }
    return """
      #compdef reprise
      _reprise() {
        local -a commands=(
      \(commands)  )
        if (( CURRENT == 2 )); then
          _describe command commands
          return
        fi
        shift words; (( CURRENT-- ))
        local command=$words[1]
      \(nested)  case $command in
      \(cases)  esac
      }
      _reprise "$@"

      """
  }

  private static func zshArgument(_ option: OptionSpec, of spec: CommandSpec) -> String {
    let several = option.isList || option.repeats
    let name = "--\(option.name)" + (option.value == nil ? "" : "=")
    var text = several ? "'*\(name)" : "'\(name)"
    if let letter = option.letter {
      // One of both names excludes the other.
      let short = "-\(letter)" + (option.value == nil ? "" : "+")
      text = "\(several ? "'*'" : "'(-\(letter) --\(option.name))'"){\(short),\(name)}'"
    }
    text += "[\(quoted(option.help))]"
    if let value = option.value {
      text += ":\(quoted(value)):"
      let choices = valueChoices(option, of: spec)
      if isReport(option) {
        text += "{ if compset -P \"*=\"; then _files; else compadd -S \"\" -- \(choices); fi }"
      } else if option.isList, !choices.isEmpty {
        text += "_sequence compadd - \(choices)"
      } else if !choices.isEmpty {
        text += "(\(choices))"
      }
      if option.isFile { text += "_files" }
    }
    return text + "'"
  }

  /// Takes the meaning off the signs that end a description of zsh, in single quotes.
  private static func quoted(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "'": result += "'\\''"
      case "[", "]", ":": result += "\\\(character)"
      default: result.append(character)
      }
    }
    return result
  }

  // MARK: fish

  static var fish: String {
    var text = "# fish completion of reprise\n" + fishReports + "complete -c reprise -f\n"
    for name in names {
      let summary = specs.first { $0.name == name }?.summary ?? ""
      text += "complete -c reprise -n __fish_use_subcommand -a \(name) -d \(fishQuoted(summary))\n"
    }
    for spec in specs {
      let condition = spec.name.split(separator: " ")
        .map { "__fish_seen_subcommand_from \($0)" }.joined(separator: "; and ")
      for option in spec.allOptions {
        text += "complete -c reprise -n '\(condition)' -l \(option.name)"
        if let letter = option.letter { text += " -s \(letter)" }
        if option.value != nil { text += option.isFile ? " -r -F" : " -x" }
        let choices = valueChoices(option, of: spec)
        if isReport(option) {
          text += " -a '(__reprise_report \(choices))'"
        } else if option.isList, !choices.isEmpty {
          text += " -a '(__fish_complete_list , \"printf %s\\n \(choices)\")'"
        } else if !choices.isEmpty {
          text += " -a '\(choices)'"
        }
        text += " -d \(fishQuoted(option.help))\n"
      }
      if let choices = operandChoices(spec) {
        // Second words stand below.
        guard !choices.isEmpty, subcommands(of: spec.name).isEmpty else { continue }
        text += "complete -c reprise -n '\(condition)' -a '\(choices)'\n"
      } else {
        text += "complete -c reprise -n '\(condition)' -F\n"
      }
    }
    for name in names where !subcommands(of: name).isEmpty {
      let words = subcommands(of: name).joined(separator: " ")
      text += "complete -c reprise -n '__fish_seen_subcommand_from \(name); "
      text += "and not __fish_seen_subcommand_from \(words)' -a '\(words)'\n"
    }
    return text
  }

  /// Completes FORMAT=FILE: the formats, and behind one of them files.
  private static let fishReports = """
    function __reprise_report
      set -l typed (string split -m 1 = -- (commandline -ct))
      if set -q typed[2]
        printf "$typed[1]=%s\\n" (__fish_complete_path $typed[2])
      else
        printf '%s\\n' $argv
      end
    end

    """

  private static func fishQuoted(_ text: String) -> String {
    var result = "'"
    for character in text {
      if character == "'" || character == "\\" { result.append("\\") }
      result.append(character)
    }
    return result + "'"
  }
}
