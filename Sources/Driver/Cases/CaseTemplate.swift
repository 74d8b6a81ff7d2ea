import RepriseCore

/// Puts values in the places that name them: `{qos}`, `{t}/a`, `{sub.id}`, and `{x*300}` for a text 300 times.
enum CaseTemplate {
  /// The longest text that a repetition makes, in bytes; a packet can't have more.
  private static let longest = 1 << 20

  /// Fills the places of a value.
  /// - Parameters:
  ///   - value: The value, of which texts at any depth are looked through.
  ///   - find: The value of a name; nil leaves the place as it is.
  /// - Returns: The value with values in it; a text that is nothing but a place becomes what the name stands for.
  static func fill(_ value: JSONValue, _ find: (Substring) -> JSONValue?) -> JSONValue {
    switch value {
    case .string(let text): fill(text, find)
    case .array(let elements): .array(elements.map { fill($0, find) })
    case .object(let members):
      .object(
        members.map { JSONMember($0.key, fill($0.value, find), offset: $0.offset) })
    case .null, .bool, .number: value
    }
  }

  private static func fill(_ text: String, _ find: (Substring) -> JSONValue?) -> JSONValue {
    if text.first == "{", text.last == "}" {
      let name = text.dropFirst().dropLast()
      if !name.contains("{"), let whole = find(name) { return whole }
    }
    var result = ""
    var rest = text[...]
    while let open = rest.firstIndex(of: "{") {
      result += rest[..<open]
      let behind = rest[rest.index(after: open)...]
      guard let close = behind.firstIndex(of: "}") else { break }
      let name = behind[..<close]
      if let written = repeated(name) ?? find(name).map(Self.text) {
        result += written
        rest = behind[behind.index(after: close)...]
      } else {
        result += "{"
        rest = behind
      }
    }
    return .string(result + rest)
  }

  private static func text(_ value: JSONValue) -> String { value.text ?? value.description }

  private static func repeated(_ name: Substring) -> String? {
    guard let star = name.lastIndex(of: "*"), star > name.startIndex,
      let count = Int(name[name.index(after: star)...]), count > 0
    else { return nil }
    let unit = name[..<star]
    guard count <= longest / unit.utf8.count else { return nil }
    return String(repeating: String(unit), count: count)
  }
}
