/// What a baseline was good for in a run.
public struct BaselineOutcome: Sendable, Hashable {
  /// The name of its file.
  public let file: String
  /// The entries that match nothing, though their subjects were judged by their clauses: they fail the run.
  public let mended: [Baseline.Entry]
  /// The entries that match nothing, where nobody can say that their subjects keep their clauses now.
  public let unexercised: [Baseline.Entry]
  /// The entries that count no longer.
  public let expired: [Baseline.Entry]

  /// What is to be told of an entry.
  struct Remark {
    enum Kind: String {
      case mended
      case expired
      case unexercised = "not-exercised"
    }

    var kind: Kind
    var entry: Baseline.Entry

    /// The entry in a few words.
    var title: String { "line \(entry.line): \(entry.clause), \(entry.subject)" }

    var text: String {
      switch kind {
      case .mended: "mended: nothing matches it any more, so remove this line"
      case .expired: "expired on \(entry.expires ?? "-"): it accepts nothing any more"
      case .unexercised:
        "nothing matches it this time, and nothing shows that its subject keeps its clause now"
      }
    }
  }

  /// What is to be told, what fails the run first.
  var remarks: [Remark] {
    mended.map { Remark(kind: .mended, entry: $0) }
      + expired.map { Remark(kind: .expired, entry: $0) }
      + unexercised.map { Remark(kind: .unexercised, entry: $0) }
  }
}

extension Finding {
  /// Why a finding fails no run.
  public struct Acceptance: Sendable, Hashable {
    /// The reason that is given for it; empty where none is.
    public let reason: String
    /// The owner, who looks after it.
    public let owner: String?
    /// The last day on which it counts.
    public let expires: String?

    init(_ entry: Baseline.Entry) {
      reason = entry.reason
      owner = entry.owner
      expires = entry.expires
    }

    /// The acceptance in words.
    var text: String {
      var notes: [String] = []
      if let owner { notes.append("owner \(owner)") }
      if let expires { notes.append("until \(expires)") }
      return (reason.isEmpty ? "no reason is given" : reason)
        + (notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))")
    }
  }
}

extension ConformanceReport {
  /// Returns the entries of a baseline that may be mended.
  ///
  /// Nothing matches them, their clauses were judged, and their subjects were there, or are no longer in the files that
  /// they were found in. Whether these were judged by those takes a ``SubjectFinder``.
  /// - Parameters:
  ///   - baseline: The baseline.
  ///   - today: The day in UTC, as `2027-01-31`.
  ///   - removed: Files that are known to be there no more.
  /// - Returns: The entries, in the order of their file.
  package func unmatched(
    of baseline: Baseline, on today: String, without removed: Set<String> = []
  ) -> [Baseline.Entry] {
    // Of what the other end does a report on one of them tells nothing.
    guard subject == nil || cases != nil else { return [] }
    let judged = Dictionary(results.map { ($0.key, $0) }) { first, _ in first }
    let found = Set(
      results.flatMap { result in result.findings.map { $0.key(in: result) } }
        + unbound.map { $0.key(of: .step) })
    let inputs = Set(inputs)
    // A capture of another day has another name; where some have the same, what was found in others may still be there.
    let areNamesKept = baseline.entries.contains { !inputs.isDisjoint(with: $0.files) }
    return baseline.entries.filter { entry in
      let known = areNamesKept ? inputs.union(removed) : inputs
      let hasFiles = !entry.files.isEmpty && known.isSuperset(of: entry.files)
      guard !entry.hasExpired(on: today), !found.contains(entry.key), hasFiles || !areNamesKept
      else { return false }
      guard subjects.contains(entry.subject) else {
        return hasFiles && judged[entry.clause] != nil
      }
      if scenarios != nil, entry.clause == ClauseKey.step.description { return true }
      return judged[entry.clause].map { $0.satisfied + $0.violated > 0 } ?? false
    }
  }

  /// Returns the report with what a baseline accepts told as accepted.
  /// - Parameters:
  ///   - baseline: The baseline.
  ///   - today: The day in UTC, as `2027-01-31`.
  ///   - mended: Those of its entries that are known to be mended.
  /// - Returns: The report, of which a new finding fails the run, and so does an entry that is mended.
  public func accepting(
    _ baseline: Baseline, on today: String, mended: Set<Baseline.Entry> = []
  ) -> ConformanceReport {
    let current = baseline.entries.filter { !$0.hasExpired(on: today) }
    let known = Dictionary(current.map { ($0.key, $0) }) { first, _ in first }
    var matched: Set<Baseline.Key> = []
    func match(_ key: Baseline.Key) -> Baseline.Entry? {
      guard let entry = known[key] else { return nil }
      matched.insert(key)
      return entry
    }
    var report = self
    report.results = results.map { result in
      result.accepting { match($0.key(in: result)) }
    }
    report.unbound = unbound.accepting { match($0.key(of: .step)) }
    let rest = current.filter { !matched.contains($0.key) }
    report.baseline = BaselineOutcome(
      file: baseline.file, mended: rest.filter(mended.contains),
      unexercised: rest.filter { !mended.contains($0) },
      expired: baseline.entries.filter { $0.hasExpired(on: today) })
    return report
  }
}

extension ClauseResult {
  /// The same, with the findings that an entry accepts behind those that none does.
  fileprivate func accepting(
    _ find: (Finding) -> Baseline.Entry?
  ) -> ClauseResult {
    guard verdict == .failed || verdict == .notFollowed else { return self }
    var result = self
    result.findings = findings.accepting(find)
    // Of what is not listed nobody knows whether it is accepted.
    if result.findings.allSatisfy({ $0.acceptance != nil }), unlisted == 0 {
      var reasons: [String] = []
      for text in result.findings.compactMap(\.acceptance?.text) where !reasons.contains(text) {
        reasons.append(text)
      }
      result.verdict = .accepted
      result.reason = reasons.joined(separator: "; ")
    }
    return result
  }
}

extension [Finding] {
  /// The same, with those that an entry accepts behind those that none does.
  fileprivate func accepting(_ find: (Finding) -> Baseline.Entry?) -> [Finding] {
    var (open, accepted): ([Finding], [Finding]) = ([], [])
    for var finding in self {
      finding.acceptance = find(finding).map(Finding.Acceptance.init)
      if finding.acceptance == nil { open.append(finding) } else { accepted.append(finding) }
    }
    return open + accepted
  }
}
