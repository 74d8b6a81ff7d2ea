/// The help as pages for `man`, in groff's language (man(7)), made of what the commands say that they take.
enum ManPage {
  /// The page about the whole command.
  static var overview: String {
    var page = head("reprise", Reprise.spec.summary)
    page += ".SH SYNOPSIS\n.B reprise\n.I COMMAND\n.RI [ OPTION ...]\n.SH COMMANDS\n"
    for command in Commands.all {
      page += ".TP\n.B \(escaped(command.spec.name))\n\(line(command.spec.summary))\n"
    }
    page += ".SH OPTIONS\n"
    for option in Reprise.spec.allOptions { page += entry(option) }
    page += status + environment
    page += ".SH SEE ALSO\n"
    let pages = Commands.all.map { ".BR \(escaped(name(of: $0.spec))) (1)" }
    page += pages.joined(separator: ",\n") + "\n"
    page += """
      .PP
      .B reprise help filter
      tells what filter expressions are,
      .B reprise help recording
      what recordings are.

      """
    return page
  }

  /// The page about a command.
  static func text(of spec: CommandSpec) -> String {
    var page = head(name(of: spec), spec.summary)
    page += ".SH SYNOPSIS\n.B reprise \(escaped(spec.name))\n"
    if !spec.operands.isEmpty { page += "\(line(spec.operands))\n" }
    page += ".RI [ OPTION ...]\n"
    let details = Details(spec.details)
    page += ".SH DESCRIPTION\n\(line(spec.summary))\n"
    if !details.description.isEmpty { page += ".PP\n" + details.description }
    page += ".SH OPTIONS\n"
    for option in spec.allOptions { page += entry(option) }
    page += details.sections + status
    return page + ".SH SEE ALSO\n.BR reprise (1)\n"
  }

  /// What the page of a command is called.
  static func name(of spec: CommandSpec) -> String {
    "reprise-" + spec.name.split(separator: " ").joined(separator: "-")
  }

  private static func head(_ name: String, _ summary: String) -> String {
    var summary = summary
    if summary.last == "." { summary.removeLast() }
    return """
      .TH \(name.uppercased()) 1 "\(Reprise.date)" "reprise \(Reprise.version)" "User Commands"
      .SH NAME
      \(escaped(name)) \\- \(escaped(summary))

      """
  }

  private static let status = """
    .SH EXIT STATUS
    .TP
    .B 0
    It was done.
    .TP
    .B 1
    Something failed: a clause is violated, or a replay differs.
    .TP
    .B 2
    It could not be done.
    .TP
    .BR 130 ", " 143
    It was interrupted, or terminated.

    """

  private static let environment = """
    .SH ENVIRONMENT
    .TP
    .BR NO_COLOR ", " CLICOLOR ", " CLICOLOR_FORCE
    Whether output has colours where
    .B \\-\\-color
    does not say: none with NO_COLOR, nor with CLICOLOR=0; with CLICOLOR_FORCE=1 wherever it goes.
    .TP
    .BR PAGER ", " LESS
    What shows text that is longer than the terminal: help, lists of clauses, statistics and reports; less if there is
    no PAGER, and nothing if it is empty or cat. LESS is FRX where it is not set.
    .TP
    .B SSLKEYLOGFILE
    The file to which our own clients, the proxy and the simulator append the keys of their TLS connections.

    """

  private static func entry(_ option: OptionSpec) -> String {
    let letter = option.letter.map { "\\fB\\-\($0)\\fR, " } ?? ""
    let value = option.value.map { " \\fI\(escaped($0))\\fR" } ?? ""
    return ".TP\n\(letter)\\fB\(escaped("--\(option.name)"))\\fR\(value)\n\(line(option.help))\n"
  }

  /// Text as it is: nothing in it means anything to groff, and all of it is ASCII.
  fileprivate static func escaped(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": result += "\\(rs"
      case "-": result += "\\-"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case _ where !character.isASCII:
        let code = String(character.value, radix: 16, uppercase: true)
        result += "\\[u\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
      default: result.unicodeScalars.append(character)
      }
    }
    return result
  }

  /// Text that begins a line, where a dot would begin a request.
  fileprivate static func line(_ text: some StringProtocol) -> String {
    let text = escaped(String(text))
    return text.hasPrefix(".") ? "\\&" + text : text
  }
}

/// What a help says behind its options, by sections.
private struct Details {
  /// What stands before the first title.
  private(set) var description = ""
  /// The sections, each with its title.
  private(set) var sections = ""

  /// Takes text apart: a title ends with a colon and has lines behind it that are shown as they are, as are all that are
  /// indented.
  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var isLiteral = false
    var isTitled = false
    var page = ""
    for (index, line) in lines.enumerated() {
      let isIndented = line.hasPrefix("  ")
      let isWithin = line.isEmpty && lines.dropFirst(index + 1).first?.hasPrefix("  ") == true
      if isLiteral, !isIndented, !isWithin {
        page += ".EE\n.RE\n"
        isLiteral = false
      }
      if Self.isTitle(lines[index...]) {
        if isTitled { sections += page } else { description = page }
        isTitled = true
        page = ".SH \(ManPage.escaped(line.dropLast().uppercased()))\n"
      } else if isIndented {
        if !isLiteral { page += ".RS 4\n.EX\n" }
        isLiteral = true
        page += ManPage.line(line.dropFirst(2)) + "\n"
      } else if line.isEmpty {
        // A section begins a paragraph by itself.
        let begins = index + 1 < lines.count && !Self.isTitle(lines[(index + 1)...])
        page += isLiteral ? "\n" : begins ? ".PP\n" : ""
      } else {
        page += ManPage.line(line) + "\n"
      }
    }
    if isLiteral { page += ".EE\n.RE\n" }
    if isTitled { sections += page } else { description = page }
  }

  /// Whether lines begin with a title.
  private static func isTitle(_ lines: ArraySlice<Substring>) -> Bool {
    guard let line = lines.first, line.last == ":", !line.dropLast().contains(" ") else {
      return false
    }
    return lines.dropFirst().first?.hasPrefix("  ") == true
  }
}
