/// A word, a sign or a text of a filter expression.
struct FilterToken: Sendable, Equatable {
  var kind: Kind
  /// Where it starts, in characters from 1.
  var column: Int

  enum Kind: Sendable, Equatable {
    /// A name, a number, a time, a topic: anything without quotes.
    case word(String)
    /// A text in quotes.
    case text(String)
    case comparison(FilterComparison)
    case and, or, not
    case opening, closing
    case listOpening, listClosing, comma
    case end
  }
}

/// How a field is compared with a value.
enum FilterComparison: String, Sendable, Equatable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case atMost = "<="
  case greater = ">"
  case atLeast = ">="
  /// A topic filter on topics, the same as `contains` elsewhere.
  case matches = "~"
  /// A part of the text.
  case contains
}

/// Cuts a filter expression into tokens.
struct FilterLexer {
  private let expression: String
  private let characters: [Character]
  private var index = 0

  init(_ expression: String) {
    self.expression = expression
    characters = Array(expression)
  }

  private var next: Character? { index < characters.count ? characters[index] : nil }

  /// Returns all tokens, with ``FilterToken/Kind/end`` as the last.
  mutating func tokens() throws(FilterError) -> [FilterToken] {
    var result: [FilterToken] = []
    while true {
      while let character = next, character.isWhitespace { index += 1 }
      let column = index + 1
      let kind = try readToken()
      result.append(FilterToken(kind: kind, column: column))
      if kind == .end { return result }
    }
  }

  private mutating func readToken() throws(FilterError) -> FilterToken.Kind {
    guard let character = next else { return .end }
    switch character {
    case "(": return take(.opening)
    case ")": return take(.closing)
    case "[": return take(.listOpening)
    case "]": return take(.listClosing)
    case ",": return take(.comma)
    case "~": return take(.comparison(.matches))
    case "\"", "'": return try readText(character)
    case "&": return try takeDouble("&", .and)
    case "|": return try takeDouble("|", .or)
    case "=": return try takeDouble("=", .comparison(.equal))
    case "!": return takeComparison(.notEqual, else: .not)
    case "<": return takeComparison(.atMost, else: .comparison(.less))
    case ">": return takeComparison(.atLeast, else: .comparison(.greater))
    default: return try readWord()
    }
  }

  private mutating func take(_ kind: FilterToken.Kind) -> FilterToken.Kind {
    index += 1
    return kind
  }

  private mutating func takeDouble(
    _ character: Character, _ kind: FilterToken.Kind
  ) throws(FilterError) -> FilterToken.Kind {
    index += 1
    guard next == character else {
      index -= 1
      throw error("write \(character)\(character) here")
    }
    return take(kind)
  }

  private mutating func takeComparison(
    _ comparison: FilterComparison, else kind: FilterToken.Kind
  ) -> FilterToken.Kind {
    index += 1
    guard next == "=" else { return kind }
    return take(.comparison(comparison))
  }

  /// Reads a text in quotes; a backslash takes the meaning off what follows it.
  private mutating func readText(_ quote: Character) throws(FilterError) -> FilterToken.Kind {
    let start = index
    index += 1
    var text = ""
    while let character = next {
      index += 1
      if character == quote { return .text(text) }
      guard character == "\\" else {
        text.append(character)
        continue
      }
      guard let escaped = next else { break }
      index += 1
      switch escaped {
      case "n": text.append("\n")
      case "t": text.append("\t")
      case "r": text.append("\r")
      default: text.append(escaped)
      }
    }
    index = start
    throw error("the text has no closing \(quote)")
  }

  private mutating func readWord() throws(FilterError) -> FilterToken.Kind {
    let start = index
    while let character = next, Self.isWordPart(character) { index += 1 }
    guard index > start else { throw error("'\(characters[start])' has no meaning here") }
    let word = String(characters[start..<index])
    switch word.lowercased() {
    case "and": return .and
    case "or": return .or
    case "not": return .not
    default: return .word(word)
    }
  }

  private static func isWordPart(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "_-.:+/#$*%@".contains(character)
  }

  private func error(_ message: String) -> FilterError {
    FilterError(message: message, expression: expression, column: index + 1)
  }
}
