/// Why a filter expression can't be understood, and where.
public struct FilterError: Error, Sendable, Hashable {
  /// What is wrong and what to write instead.
  public var message: String
  /// The expression.
  public var expression: String
  /// Where, in characters from 1.
  public var column: Int

  /// Creates an error.
  /// - Parameters:
  ///   - message: What is wrong and what to write instead.
  ///   - expression: The expression.
  ///   - column: Where, in characters from 1.
  package init(message: String, expression: String, column: Int) {
    self.message = message
    self.expression = expression
    self.column = column
  }

  /// The expression on a line, and under it a caret at the place.
  public var excerpt: String {
    let shown = expression.map { $0.isNewline || $0 == "\t" ? " " : $0 }
    let safe = Array(String(shown).utf8)
    var line = Array("  ".utf8)
    TerminalText.append(safe.span.bytes, to: &line)
    return String(decoding: line, as: UTF8.self) + "\n  "
      + String(repeating: " ", count: column - 1) + "^\n"
  }
}

extension FilterError: CustomStringConvertible {
  /// The error in one line.
  public var description: String { "\(message) (column \(column))" }
}
