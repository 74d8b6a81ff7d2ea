/// The help, made of what the commands say that they take.
enum HelpText {
  /// The width of the column of names.
  private static let column = 26
  private static let width = 90

  /// What `reprise help` shows.
  static var overview: String {
    var text = """
      \(Reprise.spec.summary)

      Usage: reprise COMMAND [OPTION...]

      Commands:

      """
    for command in Commands.all {
      text += row("  " + command.spec.name, command.spec.summary)
    }
    text += "\nOptions:\n"
    for option in Reprise.spec.allOptions { text += row(label(option), option.help) }
    text += """

      Status: 0 done, 1 something failed (a clause is violated), 2 could not be done,
      130 interrupted, 143 terminated.

      Type reprise help COMMAND for more, reprise help filter for filter expressions,
      reprise help recording for the format of recordings, reprise help simulate-script
      and reprise help simulate-frames for what the simulator takes and sends.

      """
    return text
  }

  /// What `reprise help COMMAND` shows.
  static func text(of spec: CommandSpec) -> String {
    let operands = spec.operands.isEmpty ? "" : " " + spec.operands
    let hasOptions = spec.options.isEmpty ? "" : " [OPTION...]"
    var text = "\(spec.summary)\n\nUsage: reprise \(spec.name)\(operands)\(hasOptions)\n"
    text += "\nOptions:\n"
    for option in spec.allOptions { text += row(label(option), option.help) }
    if !spec.details.isEmpty { text += "\n\(spec.details)\n" }
    return text
  }

  private static func label(_ option: OptionSpec) -> String {
    let letter = option.letter.map { "  -\($0), " } ?? "      "
    return letter + "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
  }

  /// One entry; the explanation is broken into lines beside the names.
  private static func row(_ label: String, _ explanation: String) -> String {
    let margin = String(repeating: " ", count: column)
    var text = ""
    var line = label
    if label.count > column - 2 {
      text = label + "\n"
      line = margin
    } else {
      line += String(repeating: " ", count: column - label.count)
    }
    for word in explanation.split(separator: " ") {
      if line.count + word.count > width {
        text += trimmed(line) + "\n"
        line = margin
      }
      line += word + " "
    }
    return text + trimmed(line) + "\n"
  }

  private static func trimmed(_ line: String) -> Substring {
    var line = line[...]
    while line.last == " " { line.removeLast() }
    return line
  }
}
