/// Which kinds of findings there are, so that one of each is listed, however many there are of the others.
struct FindingKinds {
  private let clauses: [ClauseKey?]
  private var known: [Set<Fingerprint>]
  /// By rule, how many violations are of a kind that is not listed.
  private(set) var unlisted: [Int]
  /// The subjects that findings may be about: the clients that were there.
  private(set) var subjects: Set<String> = []
  /// The most kinds of a clause that are told apart, and the most clients.
  private static let most = 10_000

  /// Prepares for the rules of some clauses.
  /// - Parameter clauses: The clauses in the order of the rules' places.
  init(_ clauses: [ClauseKey?]) {
    self.clauses = clauses
    known = Array(repeating: [], count: clauses.count)
    unlisted = Array(repeating: 0, count: clauses.count)
  }

  /// Takes a finding.
  /// - Parameters:
  ///   - finding: The finding.
  ///   - rule: The rule that made it.
  ///   - isBeyond: Whether as many are listed as the limit says.
  /// - Returns: Whether it is to be listed.
  mutating func take(_ finding: Finding, of rule: RuleIndex, isBeyond: Bool) -> Bool {
    guard let clause = clauses[rule.value] else { return !isBeyond }
    let fingerprint = Fingerprint(finding, of: clause)
    if known[rule.value].contains(fingerprint) { return !isBeyond }
    guard !isBeyond || known[rule.value].count < Self.most else {
      unlisted[rule.value] += 1
      return false
    }
    known[rule.value].insert(fingerprint)
    return true
  }

  /// Takes note of a client.
  mutating func meet(_ client: String) {
    guard subjects.count < Self.most, let subject = Finding.subject(ofClient: client) else {
      return
    }
    subjects.insert(subject)
  }
}
