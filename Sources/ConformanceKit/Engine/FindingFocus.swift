/// Connections that somebody asks about: their findings are kept, however many others there are.
struct FindingFocus {
  /// The most findings of a clause that are kept on these connections, together.
  private static let most = 1_000

  /// The connections, by their numbers.
  private var connections: Set<Int> = []
  /// How many findings on them each rule has.
  private var kept: [Int]
  /// How many violations on them have no finding: there are too many.
  private(set) var untold = 0

  init(ruleCount: Int) { kept = Array(repeating: 0, count: ruleCount) }

  /// How many findings a rule has on these connections.
  subscript(rule: RuleIndex) -> Int { kept[rule.value] }

  func contains(_ connection: Int) -> Bool { connections.contains(connection) }

  mutating func insert(_ connection: Int) { connections.insert(connection) }

  /// Takes note of a violation on one of the connections.
  /// - Returns: Whether there is room for its finding.
  mutating func takes(_ rule: RuleIndex) -> Bool {
    guard kept[rule.value] < Self.most else {
      untold += 1
      return false
    }
    kept[rule.value] += 1
    return true
  }
}
