/// A value in a payload of JSON, by the keys and places on the way to it: `payload.items.0.level`.
struct FilterMember: Sendable, Equatable {
  /// What a member is compared with.
  enum Value: Sendable, Equatable {
    /// A number, a truth value or null, as it was written without quotes; also the same as a text.
    case either(JSONValue, text: String)
    /// A text.
    case text(String)
  }

  /// How many values a payload may have of which members are asked for: more is made to take memory.
  private static let mostValues = 65_536

  /// The keys, of which one that is a number is also a place in an array, from 0.
  let path: [String]

  /// Reads `payload.KEY.KEY`; nil for another word.
  init?(_ word: String) {
    let parts = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count > 1, parts[0].lowercased() == FilterField.payload.rawValue,
      !parts.contains("")
    else { return nil }
    path = Array(parts.dropFirst())
  }

  /// The member's value in a payload; nil where there is none.
  private func value(in payload: RawSpan) -> JSONValue? {
    guard var value = try? JSONParser.parse(payload, mostValues: Self.mostValues) else {
      return nil
    }
    for key in path {
      guard let inner = value[key] ?? Int(key).flatMap({ value[$0] }) else { return nil }
      value = inner
    }
    return value
  }

  /// Whether a comparison holds for the member of a payload; where there is no such member, none does.
  func holds(_ comparison: FilterComparison, _ wanted: Value, in payload: RawSpan) -> Bool {
    guard let actual = value(in: payload) else { return false }
    switch comparison {
    case .equal: return isEqual(actual, wanted)
    case .notEqual: return !isEqual(actual, wanted)
    case .matches, .contains:
      guard let text = actual.text else { return false }
      return comparison.holds(Array(text.utf8).span.bytes, Array(wanted.text.utf8).span.bytes)
    case .less, .atMost, .greater, .atLeast:
      guard case .either(let other, _) = wanted, let number = actual.double,
        let limit = other.double
      else { return false }
      return comparison.holds(number, limit)
    }
  }

  private func isEqual(_ actual: JSONValue, _ wanted: Value) -> Bool {
    switch wanted {
    case .text(let text): return actual.text == text
    case .either(let value, let text):
      if let number = actual.double, let other = value.double { return number == other }
      return actual == value || actual.text == text
    }
  }
}

extension FilterMember.Value {
  /// What was written, without its quotes.
  fileprivate var text: String {
    switch self {
    case .either(_, let text), .text(let text): text
    }
  }

  /// Takes a word: what is a number or a name of JSON may be meant as that.
  init(word: String) {
    switch JSONValue(parsing: Array(word.utf8)) {
    case let value? where value.text == nil: self = .either(value, text: word)
    default: self = .text(word)
    }
  }
}
