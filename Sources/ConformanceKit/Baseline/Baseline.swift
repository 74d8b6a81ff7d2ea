internal import RepriseCore

/// The findings that a team has accepted: they fail no run, and what is not among them does.
public struct Baseline: Sendable, Hashable {
  /// A finding that is accepted.
  public struct Entry: Sendable, Hashable {
    /// The clause with its standard: `mqtt-3.1.1/MQTT-3.3.1-4`.
    public let clause: String
    /// Its subject, as ``Finding/subject`` says it.
    public let subject: String
    /// What tells it from other findings.
    public let fingerprint: Fingerprint
    /// What was wrong, for readers; nothing goes by it.
    public let message: String
    /// Why it is accepted; empty where nobody has said so yet.
    public let reason: String
    /// The owner, who looks after it.
    public let owner: String?
    /// The last day on which it counts, as `2027-01-31` in UTC; nil is for ever.
    public let expires: String?
    /// The files that it was found in when it was accepted; none where there were many, or nobody knows.
    public let files: [String]
    /// The line of the file that it begins on, from 1; 0 where it is of no file.
    public let line: Int

    /// Whether it was found in a scenario of the SDK.
    package var isOfScenario: Bool { clause.hasPrefix("\(ClauseKey.step.spec)/") }

    var key: Key { Key(clause: clause, subject: subject, fingerprint: fingerprint) }

    /// Whether it counts no longer.
    func hasExpired(on today: String) -> Bool { expires.map { $0 < today } ?? false }
  }

  /// What entries and findings are compared by.
  struct Key: Hashable {
    var clause: String
    var subject: String
    var fingerprint: Fingerprint
  }

  /// The name of its file, for messages.
  public let file: String
  /// The entries, in the file's order.
  public let entries: [Entry]

  init(file: String, entries: [Entry]) {
    self.file = file
    self.entries = entries
  }

  /// Creates the baseline that accepts what a report finds.
  /// - Parameters:
  ///   - report: The report, to which no baseline was applied.
  ///   - file: The name of the file that it is going to be written to.
  ///   - old: What that file holds until now: reasons, owners and dates of what is still found stay, and so do entries
  ///     that nothing matches, but for those that are mended.
  ///   - mended: The entries that are known to be mended.
  public init(
    of report: ConformanceReport, file: String, keeping old: Baseline?,
    without mended: Set<Entry> = []
  ) {
    let known = Dictionary((old?.entries ?? []).map { ($0.key, $0) }) { first, _ in first }
    let kept =
      old.map { report.accepting($0, on: "", mended: mended).baseline?.unexercised ?? [] } ?? []
    var entries: [Entry] = []
    var files: [Key: Set<String>] = [:]
    let found = report.results.filter { $0.verdict == .failed }.flatMap { result in
      result.findings.map { (finding: $0, key: $0.key(in: result)) }
    }
    let all = found + report.unbound.map { ($0, $0.key(of: .step)) }
    for (finding, key) in all { files[key, default: []].insert(finding.file) }
    for (finding, key) in all {
      guard let places = files.removeValue(forKey: key) else { continue }
      // Of what stands in a few files it is known in which.
      let named = places.count <= Self.mostFiles ? places.filter { !$0.isEmpty }.sorted() : []
      entries.append(Entry(finding, key, in: named, like: known[key]))
    }
    self.init(file: file, entries: entries + kept)
  }

  private static let mostFiles = 16

  /// Returns whether a finding is accepted.
  /// - Parameters:
  ///   - finding: The finding.
  ///   - clause: The clause that it violates.
  ///   - today: The day in UTC, as `2027-01-31`.
  /// - Returns: Whether an entry that has not expired matches it.
  public func accepts(_ finding: Finding, of clause: Clause, on today: String) -> Bool {
    let key = finding.key(of: clause.key)
    return entries.contains { $0.key == key && !$0.hasExpired(on: today) }
  }

  /// The text of its file: JSON with an entry a line.
  public var json: [UInt8] {
    let lines = entries.map { entry in
      var members = [
        JSONMember("clause", .string(entry.clause)), JSONMember("subject", .string(entry.subject)),
        JSONMember("fingerprint", .string(entry.fingerprint.description)),
        JSONMember("message", .string(entry.message)), JSONMember("reason", .string(entry.reason)),
      ]
      if let owner = entry.owner { members.append(JSONMember("owner", .string(owner))) }
      if let expires = entry.expires { members.append(JSONMember("expires", .string(expires))) }
      if !entry.files.isEmpty {
        members.append(JSONMember("files", .array(entry.files.map { .string($0) })))
      }
      return JSONValue.object(members).description
    }
    let text = "{\"reprise-baseline\":1,\"accepted\":[\n" + lines.joined(separator: ",\n")
    return Array((text + (lines.isEmpty ? "]}\n" : "\n]}\n")).utf8)
  }
}

extension Baseline.Entry {
  /// The entry that accepts a finding, for which nobody has given a reason yet if there is none like it.
  fileprivate init(
    _ finding: Finding, _ key: Baseline.Key, in files: [String], like old: Baseline.Entry?
  ) {
    clause = key.clause
    subject = key.subject
    fingerprint = key.fingerprint
    let step = finding.scenario.map { "step \($0.step), \($0.action): " }
    message = old?.message ?? (step ?? "") + finding.message
    (reason, owner, expires) = (old?.reason ?? "", old?.owner, old?.expires)
    self.files = files
    line = old?.line ?? 0
  }
}

extension Finding {
  /// What entries of a baseline are compared with.
  func key(of clause: ClauseKey) -> Baseline.Key {
    Baseline.Key(
      clause: clause.description, subject: subject, fingerprint: fingerprint(of: clause))
  }

  func key(in result: ClauseResult) -> Baseline.Key { key(of: result.clause.key) }
}
