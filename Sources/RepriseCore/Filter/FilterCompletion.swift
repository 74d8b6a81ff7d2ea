/// What can stand next in an expression of the filter language.
package enum FilterCompletion {
  /// Finds the words that the end of an expression can become.
  /// - Parameter text: The expression, up to the place where the next character would be typed.
  /// - Returns: How many characters at its end belong to the word, and the words that begin with them.
  package static func words(after text: String) -> (replaced: Int, words: [String]) {
    let typed = text.reversed().prefix { isOfWord($0) }.reversed()
    let prefix = String(typed).lowercased()
    let before = text.dropLast(typed.count)
    let words = candidates(after: before).filter { $0.lowercased().hasPrefix(prefix) }
    return (typed.count, words)
  }

  private static func isOfWord(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "-._".contains(character)
  }

  /// What can stand behind an expression: values behind a comparison with names, comparisons behind a field, and fields
  /// or types where a condition begins.
  private static func candidates(after text: Substring) -> [String] {
    // Within quotes anything can stand.
    guard text.count(where: { $0 == "\"" }).isMultiple(of: 2) else { return [] }
    let pieces = text.split(whereSeparator: { " (),[]".contains($0) }).map(String.init)
    guard let last = pieces.last else { return conditions }
    if FilterComparison(rawValue: last) != nil || last == "in" {
      return pieces.dropLast().last.map { values(of: $0, by: last) } ?? []
    }
    if text.contains("["), !text.contains("]"), let place = pieces.lastIndex(of: "in"), place > 0 {
      return values(of: pieces[place - 1], by: "in")
    }
    if ["and", "or", "not", "&&", "||", "!"].contains(last.lowercased()) { return conditions }
    if let field = FilterField(rawValue: last.lowercased()), field.kind != .flag {
      return field.comparisons.map(\.rawValue) + ["in"]
    }
    return text.last == "(" ? conditions : ["and", "or"]
  }

  private static var conditions: [String] {
    FilterField.allCases.map(\.rawValue) + FilterEventType.names + ["not"]
  }

  private static func values(of name: String, by comparison: String) -> [String] {
    guard let field = FilterField(rawValue: name.lowercased()) else { return [] }
    if field == .code, ["==", "!=", "in"].contains(comparison) {
      return FilterReason.all.map(\.name)
    }
    if case .name(let names) = field.kind { return names }
    return []
  }
}
