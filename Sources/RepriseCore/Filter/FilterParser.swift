/// Reads a filter expression: `or` binds less than `and`, `and` less than `not`.
struct FilterParser {
  /// How deeply parentheses and negations may lie in each other.
  private static let maximumDepth = 100

  let expression: String
  private let tokens: [FilterToken]
  private var index = 0
  private var depth = 0

  init(_ expression: String) throws(FilterError) {
    self.expression = expression
    var lexer = FilterLexer(expression)
    tokens = try lexer.tokens()
  }

  /// Reads the whole expression.
  static func parse(_ expression: String) throws(FilterError) -> FilterExpression {
    var parser = try FilterParser(expression)
    let result = try parser.readAlternatives()
    switch parser.next.kind {
    case .end: return result
    case .closing: throw parser.error("there is no ( for this )")
    default: throw parser.error("write 'and' or 'or' between two conditions")
    }
  }

  // MARK: Tokens

  var next: FilterToken {
    index < tokens.count ? tokens[index] : FilterToken(kind: .end, column: expression.count + 1)
  }

  mutating func advance() { index += 1 }

  private mutating func skip(_ kind: FilterToken.Kind) -> Bool {
    guard next.kind == kind else { return false }
    advance()
    return true
  }

  func error(_ message: String, at column: Int? = nil) -> FilterError {
    FilterError(message: message, expression: expression, column: column ?? next.column)
  }

  /// An error at the token that was read last.
  func previous(_ message: String) -> FilterError {
    error(message, at: index > 0 && index <= tokens.count ? tokens[index - 1].column : nil)
  }

  // MARK: Conditions

  private mutating func readAlternatives() throws(FilterError) -> FilterExpression {
    var result = try readConditions()
    while skip(.or) { result = .or(result, try readConditions()) }
    return result
  }

  private mutating func readConditions() throws(FilterError) -> FilterExpression {
    var result = try readCondition()
    while skip(.and) { result = .and(result, try readCondition()) }
    return result
  }

  private mutating func readCondition() throws(FilterError) -> FilterExpression {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maximumDepth else { throw error("the expression is nested too deeply") }
    if skip(.not) { return .not(try readCondition()) }
    if skip(.opening) {
      let result = try readAlternatives()
      guard skip(.closing) else { throw error("a ) is missing here") }
      return result
    }
    return try readComparison()
  }

  private mutating func readComparison() throws(FilterError) -> FilterExpression {
    let start = next
    guard case .word(let word) = start.kind else {
      throw error("a field such as type, topic or qos should stand here")
    }
    advance()
    guard let field = FilterField(rawValue: word.lowercased()) else {
      if let member = FilterMember(word) { return try readMember(member, word) }
      return try readBareType(word, at: start.column)
    }
    if case .comparison(let comparison) = next.kind {
      return try readValue(of: field, comparison)
    }
    if case .word(let word) = next.kind {
      if word == "in" { return try readList(of: field) }
      if word == "contains" { return try readValue(of: field, .contains) }
    }
    if field.kind == .flag { return .flag(field, is: true) }
    let signs = field.comparisons.map(\.rawValue).joined(separator: " ")
    throw error("compare \(field.rawValue) by \(signs) or in [...]")
  }
}
