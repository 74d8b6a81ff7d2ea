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

  /// The place in words: `at column 13: topc == a`, with what stands there, or `at column 8, its end`.
  public var place: String {
    let rest = expression.dropFirst(max(0, column - 1)).map {
      $0.isNewline || $0 == "\t" ? " " : $0
    }
    guard !rest.isEmpty else { return "at column \(column), its end" }
    let isLong = rest.count > Self.shownCharacters
    let characters = Array(String(rest.prefix(Self.shownCharacters)).utf8)
    var shown: [UInt8] = []
    TerminalText.append(characters.span.bytes, to: &shown)
    return "at column \(column): " + String(decoding: shown, as: UTF8.self) + (isLong ? "…" : "")
  }

  private static let shownCharacters = 40
}

extension FilterError: CustomStringConvertible {
  /// The error in one line.
  public var description: String { "\(message) (column \(column))" }
}
