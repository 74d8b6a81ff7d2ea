package import RepriseCore
internal import Wire

/// Finds the connections of the subjects of a baseline's entries, so that these subjects can be judged alone.
///
/// An entry that nothing matches is mended only if its own subject was judged by its clause: that others kept it says
/// nothing of this one. What is counted of a clause is counted of all, so it takes another pass over the files.
package struct SubjectFinder: Sendable {
  private let redaction: RedactionRules
  private var named: [String: [String: Set<Int>]]
  /// The connections of the current file whose clients have no name that lasts, and what is known of the others.
  private var isNamed: [Int: Bool] = [:]
  private var unnamed: [String: Set<Int>] = [:]
  private var file = ""

  /// Creates a finder.
  /// - Parameters:
  ///   - entries: The entries whose subjects are looked for.
  ///   - redaction: What their report did not tell.
  package init(_ entries: some Sequence<Baseline.Entry>, redaction: RedactionRules) {
    self.redaction = redaction
    named = Dictionary(entries.map { ($0.subject, [:]) }) { first, _ in first }
  }

  /// Starts a file, whose connections are counted anew.
  package mutating func begin(file: String) {
    endFile()
    self.file = file
  }

  /// Takes the next event of the file.
  package mutating func consume(_ event: borrowing EventView) {
    let number = event.context.connection
    if isNamed[number] == nil { isNamed[number] = false }
    guard case .mqtt(let packet) = event.body, packet.type == .connect,
      let connect = packet.connect, connect.clientID.byteCount > 0, isNamed[number] == false,
      let subject = Finding.subject(ofClient: Tally.name(of: connect.clientID, redaction))
    else { return }
    isNamed[number] = true
    if named[subject] != nil { named[subject]?[file, default: []].insert(number) }
  }

  /// Takes note that the file is over.
  package mutating func endFile() {
    let rest = isNamed.filter { !$0.value }.keys
    if !rest.isEmpty { unnamed[file, default: []].formUnion(rest) }
    isNamed = [:]
  }

  /// Returns the connections of a subject, by the names of their files.
  package func connections(of subject: String) -> [String: Set<Int>] {
    Finding.roles.contains(subject) ? unnamed : named[subject] ?? [:]
  }
}

extension ConformanceReport {
  /// Whether a clause was judged here, each time that there was anything to judge: in a report on a subject's own
  /// connections, where nothing matches an entry of that clause, this is mended.
  public func decides(_ entry: Baseline.Entry) -> Bool {
    results.contains { result in
      result.key == entry.clause && result.satisfied + result.violated > 0 && result.undecided == 0
    }
  }

  /// Whether an entry's scenario or case kept its clause: where nothing matches the entry, this is mended.
  ///
  /// A scenario is judged to its first wrong step. That a clause is broken in another way says nothing of what was
  /// accepted, which may come back behind it.
  /// - Parameter entry: The entry.
  /// - Returns: Whether that is so; false in a report on files.
  public func keeps(_ entry: Baseline.Entry) -> Bool {
    scenarios?.contains { $0.subject == entry.subject && $0.keeps(entry.clause) }
      ?? cases?.contains { $0.subject == entry.subject && $0.keeps(entry.clause) } ?? false
  }
}
