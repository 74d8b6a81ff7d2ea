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

  /// What may stand at a place.
  private enum Choices: Equatable {
    /// Words, with a blank between two; none where nothing is known.
    case words(String)
    /// Identifiers of clauses, alone or behind one of these documents: `mqtt-5.0/MQTT-3.8.3-3`.
    case clauses(of: String)
    /// What there is help about.
    case topics
    /// Names of files.
    case files
  }

  /// What may stand where no option does.
  private static func operandChoices(_ spec: CommandSpec) -> Choices {
    switch spec.name {
    case "completion": .words("bash zsh fish")
    case "help": .topics
    case "conform", "record", "replay", "report":
      .words(subcommands(of: spec.name).joined(separator: " "))
    case "conform explain", "conform list": .clauses(of: documents { _ in true })
    case "conform sdk":
      .words(
        ((try? ScenarioSuite.bundled()).map { suite in
          Scenario.System.allCases.map(\.rawValue) + suite.scenarios.map(\.name)
        } ?? []).joined(separator: " "))
    default: spec.operands.hasPrefix("FILE") ? .files : .words("")
    }
  }

  /// What may stand behind words of help: commands and topics behind none, and second words behind first ones.
  private static var topics: [(words: String, next: String)] {
    let first = names + HelpCommand.topics.keys.sorted()
    let groups = names.map { (words: $0, next: subcommands(of: $0).joined(separator: " ")) }
    return [("", first.joined(separator: " "))] + groups.filter { !$0.next.isEmpty }
  }

  /// The documents that clauses stand in, with their identifiers.
  private static let documents: [(name: String, clauses: String)] = {
    let all = (try? Catalogue.listed()) ?? Catalogue([])
    return all.specs.map { spec in
      (spec, all.clauses.filter { $0.spec == spec }.map(\.id).joined(separator: " "))
    }
  }()

  private static func documents(where isWanted: (String) -> Bool) -> String {
    documents.map(\.name).filter(isWanted).joined(separator: " ")
  }

  /// What the value of an option of a command may be.
  private static func valueChoices(_ option: OptionSpec, of spec: CommandSpec) -> Choices {
    switch option.name {
    case _ where option.isFile: .files
    case ConformRun.clause.name:
      .clauses(of: documents { ($0 == "sdk") == (spec.name == ConformSDKCommand.spec.name) })
    case OptionSpec.spec.name:
      .words(documents { $0 != "sdk" || spec.name == ConformListCommand.spec.name })
    case DriveOptions.cases.name: .words(cases(of: spec))
    case ReportFiles.option.name:
      .words(ReportFormat.allCases.map { "\($0.rawValue)=" }.joined(separator: " "))
    default: .words(option.choices.joined(separator: " "))
    }
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
      switch operandChoices(spec) {
      case .words(let words): cases += "operands='\(words)'"
      case .clauses(let documents): cases += "documents='\(documents)'"
      case .topics: cases += "_reprise_topics"
      case .files: cases += "files=1"
      }
      cases += " ;;\n"
    }
    var values = ""
    for spec in specs {
      for option in spec.allOptions where option.value != nil {
        // A file is still to come.
        let end = isReport(option) ? "compopt -o nospace 2> /dev/null; return" : "return"
        let letter = option.letter.map { "|'\(spec.name):-\($0)'" } ?? ""
        values +=
          "    '\(spec.name):--\(option.name)'\(letter)) \(bashValues(option, of: spec)); \(end) ;;\n"
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
      # What stands behind the words of help.
      _reprise_topics() {
        local each topic=
        for each in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
          if [[ $each != -* ]]; then topic+="${topic:+ }$each"; fi
        done
        case $topic in
      \(topicCases { "operands='\($0)'" })  esac
      }
      # Clauses of the documents that it is given, alone or behind the name of theirs.
      _reprise_clauses() {
        local part=${word#"$list"} document ids
        for document; do
          case $document in
      \(documentCases { "ids='\($0)'" })    esac
          if [[ $part == "$document"/* ]]; then
            COMPREPLY=($(compgen -P "$list$document/" -W "$ids" -- "${part#"$document"/}"))
          elif [[ $part != */* ]]; then
            COMPREPLY+=($(compgen -P "$list" -W "$ids $document/" -- "$part"))
          fi
        done
        # Versions share identifiers.
        COMPREPLY=($(printf '%s\\n' "${COMPREPLY[@]}" | sort -u))
        if [[ ${#COMPREPLY[@]} -eq 1 && $COMPREPLY == */ ]]; then
          compopt -o nospace 2> /dev/null
        fi
      }
      _reprise() {
        local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
        local command=${COMP_WORDS[1]} options= operands= files= documents= list=
        COMPREPLY=()
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
        elif [[ -n $documents ]]; then
          list=
          _reprise_clauses $documents
        else
          COMPREPLY=($(compgen -W "$operands" -- "$word"))
        fi
      }
      complete -o filenames -F _reprise reprise

      """
  }

  /// What makes the candidates for the value of an option.
  private static func bashValues(_ option: OptionSpec, of spec: CommandSpec) -> String {
    switch valueChoices(option, of: spec) {
    case .files: "COMPREPLY=($(compgen -f -- \"$word\"))"
    case .clauses(let documents): "_reprise_clauses \(documents)"
    case .topics, .words(""): "COMPREPLY=()"
    case .words(let words) where option.isList:
      "COMPREPLY=($(compgen -P \"$list\" -W '\(words)' -- \"${word#\"$list\"}\"))"
    case .words(let words): "COMPREPLY=($(compgen -W '\(words)' -- \"$word\"))"
    }
  }

  /// The branches of bash and zsh by the words behind help.
  private static func topicCases(_ body: (String) -> String) -> String {
    topics.map { "    '\($0.words)') \(body($0.next)) ;;\n" }.joined()
  }

  /// The branches of bash and zsh by the name of a document.
  private static func documentCases(_ body: (String) -> String) -> String {
    documents.map { "      \($0.name)) \(body($0.clauses)) ;;\n" }.joined()
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
        switch operandChoices(spec) {
        case .words(""): ""
        case .words(let words): "(\(words))"
        case .clauses(let documents): " _reprise_clauses \(documents)"
        case .topics: " _reprise_topics"
        case .files: "_files"
        }
      cases += "      '*: :\(operands)' ;;\n"
    }
    var nested = ""
    for name in names where !subcommands(of: name).isEmpty {
      let words = subcommands(of: name).joined(separator: "|")
      nested += "  if [[ $command == \(name) && $words[2] == (\(words)) ]]; then\n"
      nested += "    command=\"\(name) $words[2]\"; shift words; (( CURRENT-- ))\n  fi\n"
    }
    return """
      #compdef reprise
      # What stands behind the words of help.
      _reprise_topics() {
        local -a typed=(${${words[2,CURRENT-1]}:#-*}) next
        case "$typed" in
      \(topicCases { "next=(\($0))" })  esac
        compadd -a next
      }
      # Clauses of the documents that it is given, alone or behind the name of theirs; options of compadd may follow.
      _reprise_clauses() {
        local document
        local -a documents ids every
        while [[ $1 == [a-z]* ]]; do documents+=$1; shift; done
        for document in $documents; do
          case $document in
      \(documentCases { "ids=(\($0))" })    esac
          if compset -P "$document/"; then
            compadd "$@" -a ids
            return
          fi
          every+=($ids)
        done
        [[ $PREFIX == */* ]] && return 1
        compadd "$@" -a every
        compadd -S '' -- ${^documents}/
      }
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
      switch valueChoices(option, of: spec) {
      case .files: text += "_files"
      case .clauses(let documents): text += "_sequence _reprise_clauses \(documents) -"
      case .topics, .words(""): break
      case .words(let words) where isReport(option):
        text += "{ if compset -P \"*=\"; then _files; else compadd -S \"\" -- \(words); fi }"
      case .words(let words) where option.isList: text += "_sequence compadd - \(words)"
      case .words(let words): text += "(\(words))"
      }
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
    var text = "# fish completion of reprise\n" + fishFunctions + "complete -c reprise -f\n"
    for name in names {
      let summary = specs.first { $0.name == name }?.summary ?? ""
      text += "complete -c reprise -n __fish_use_subcommand -a \(name) -d \(fishQuoted(summary))\n"
    }
    for spec in specs {
      let line = "complete -c reprise -n 'test (__reprise_command) = \"\(spec.name)\"'"
      for option in spec.allOptions {
        text += "\(line) -l \(option.name)"
        if let letter = option.letter { text += " -s \(letter)" }
        if option.value != nil { text += option.isFile ? " -r -F" : " -x" }
        text += fishValues(option, of: spec) + " -d \(fishQuoted(option.help))\n"
      }
      switch operandChoices(spec) {
      case .words(""): break
      case .words(let words): text += "\(line) -a '\(words)'\n"
      case .clauses(let documents): text += "\(line) -a '(__reprise_clauses \(documents))'\n"
      case .topics: text += "\(line) -a '(__reprise_topics)'\n"
      case .files: text += "\(line) -F\n"
      }
    }
    return text
  }

  /// What makes the candidates for the value of an option.
  private static func fishValues(_ option: OptionSpec, of spec: CommandSpec) -> String {
    switch valueChoices(option, of: spec) {
    case .files, .topics, .words(""): ""
    case .clauses(let documents): " -a '(__reprise_list __reprise_clauses \(documents))'"
    case .words(let words) where isReport(option): " -a '(__reprise_report \(words))'"
    case .words(let words) where option.isList:
      " -a '(__reprise_list printf \"%s\\n\" \(words))'"
    case .words(let words): " -a '\(words)'"
    }
  }

  private static var fishFunctions: String {
    let nested = specs.map(\.name).filter { $0.contains(" ") }
    let topics = topics.map { words, next in
      "    case '\(words)'\n      printf '%s\\n' \(next)\n"
    }
    let documents = documents.map { name, clauses in
      "      case \(name)\n        set ids \(clauses)\n"
    }
    return """
      # The command that is typed, with its second word if it has one.
      function __reprise_command
        set -l typed (commandline -opc)[2..3]
        switch "$typed"
          case \(nested.map { "'\($0)'" }.joined(separator: " "))
            echo "$typed"
          case '*'
            echo "$typed[1]"
        end
      end
      # What stands behind the words of help.
      function __reprise_topics
        set -l typed (string match -v -- '-*' (commandline -opc)[3..])
        switch "$typed"
      \(topics.joined())  end
      end
      # The value that is being typed, without the name of its option.
      function __reprise_value
        string replace -r '^--[^=]*=' '' -- (commandline -ct)
      end
      # Candidates for the last part of a list, by what prints them.
      function __reprise_list
        set -l before (string match -r '.*,' -- (__reprise_value))
        set -l candidates ($argv)
        printf '%s\\n' "$before"$candidates
      end
      # Clauses of the documents that it is given, alone or behind the name of theirs.
      function __reprise_clauses
        set -l part (string replace -r '.*,' '' -- (__reprise_value))
        for document in $argv
          set -l ids
          switch $document
      \(documents.joined())    end
          if string match -q "$document/*" -- $part
            printf '%s\\n' $document/$ids
          else if not string match -q '*/*' -- $part
            printf '%s\\n' $ids $document/
          end
        end
      end
      # Formats, and behind one of them files.
      function __reprise_report
        set -l typed (string split -m 1 = -- (__reprise_value))
        if set -q typed[2]
          printf "$typed[1]=%s\\n" (__fish_complete_path $typed[2])
        else
          printf '%s\\n' $argv
        end
      end

      """
  }

  private static func fishQuoted(_ text: String) -> String {
    var result = "'"
    for character in text {
      if character == "'" || character == "\\" { result.append("\\") }
      result.append(character)
    }
    return result + "'"
  }
}
