import Glibc
import RepriseCore

/// What the user is told besides results, and how.
struct Console: Sendable {
  /// Whether notes and progress are left out.
  var isQuiet = false
  /// When colours are used.
  var color = ColorMode.auto

  /// When colours are used.
  enum ColorMode: String, Sendable {
    case auto, always, never
  }

  init() {}

  init(_ arguments: Arguments) {
    isQuiet = arguments.has(.quiet)
    color = arguments.value(.color).flatMap(ColorMode.init) ?? .auto
  }

  /// Whether results that go to an output are coloured.
  func usesColor(on output: OutputFile) -> Bool {
    switch color {
    case .always: return true
    case .never: return false
    case .auto:
      // https://no-color.org: any value but an empty one counts.
      if Self.variable("NO_COLOR") != nil { return false }
      // https://bixense.com/clicolors: whatever the output is, for `less -R` and the pages of CI servers.
      if let forced = Self.variable("CLICOLOR_FORCE"), forced != "0" { return true }
      return output.isTerminal && Self.variable("CLICOLOR") != "0"
        && Self.variable("TERM") != "dumb"
    }
  }

  /// Shows a page of help on standard output, with its headings painted.
  /// - Throws: ``OutputError``.
  func showHelp(_ text: String) throws {
    let output = OutputFile.standard
    try output.show(Paint(isOn: usesColor(on: output)).headings(in: text))
  }

  /// A variable of the environment; nil where it is empty, too.
  private static func variable(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Shows an error in one line.
  func error(_ message: String) { Self.say(message) }

  /// Shows a note about a file in one line, unless the user wants none.
  func note(_ file: String, _ message: String) {
    if !isQuiet { Self.say("\(file): note: \(message)") }
  }

  /// Shows lines as they are, such as the place of a mistake in an expression.
  func excerpt(_ text: String) { Self.write(Array(text.utf8)) }

  private static func say(_ message: String) {
    var line = Array("reprise: ".utf8)
    let text = Array(message.utf8)
    // Names and messages can quote a file, and a file must not steer the terminal.
    TerminalText.append(text.span.bytes, to: &line)
    line.append(UInt8(ascii: "\n"))
    write(line)
  }

  /// Writes to standard error; there is nobody to tell when that fails.
  static func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
