import RepriseCore

/// Names for the ids of requests, which are others with every run: the first that is seen is `#1`.
struct RequestNames: Sendable {
  /// The ids, in the order in which they were first seen.
  private var ids: [String] = []

  /// Returns the name of an id, which is a new one if the id was not seen before.
  mutating func name(_ id: String) -> JSONValue {
    if !ids.contains(id) { ids.append(id) }
    return .string("#\((ids.firstIndex(of: id) ?? 0) + 1)")
  }

  /// Puts the ids that were seen in the place of their names.
  /// - Parameters:
  ///   - value: JSON with names: `#1` is the first id as a text, `n#1` as a number.
  ///   - others: What stands for other texts.
  /// - Returns: JSON as the wire has it.
  func replaced(in value: JSONValue, others: [String: String] = [:]) -> JSONValue {
    switch value {
    case .string(let text):
      if let other = others[text] { return .string(other) }
      guard let id = id(named: text) else { return value }
      return text.hasPrefix("n#") ? .number(id) : .string(id)
    case .array(let values): return .array(values.map { replaced(in: $0, others: others) })
    case .object(let members):
      return .object(members.map { JSONMember($0.key, replaced(in: $0.value, others: others)) })
    case .null, .bool, .number: return value
    }
  }

  /// The id that `#1` stands for, or `n#1`, which asks for a number.
  private func id(named name: String) -> String? {
    let digits = name.drop { $0 == "n" }
    guard digits.first == "#", let number = Int(digits.dropFirst()),
      ids.indices.contains(number - 1)
    else { return nil }
    return ids[number - 1]
  }
}
