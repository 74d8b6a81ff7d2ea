extension Catalogue {
  /// Returns the clauses that a user asked for, in the catalogue's order.
  /// - Parameters:
  ///   - specs: The standards; nil is all of them.
  ///   - selectors: Identifiers (`MQTT-3.8.3-3`) and sections (`3.8.3`, `mqtt-3.1.1/3.8.3`), also as
  ///     `mqtt-3.1.1/MQTT-3.8.3-3`; a section takes its subsections with it. None is all clauses.
  /// - Returns: The clauses.
  /// - Throws: ``ConformanceError`` for what is not in the catalogue, with the nearest that is.
  public func select(
    specs: Set<String>? = nil, _ selectors: [String] = []
  ) throws(ConformanceError) -> [Clause] {
    if let specs {
      for spec in specs.sorted() where !self.specs.contains(spec) {
        throw ConformanceError(
          .unknownSpec,
          "there is no catalogue of \(spec); there is: \(self.specs.joined(separator: ", "))")
      }
    }
    let inSpecs = clauses.filter { specs?.contains($0.spec) ?? true }
    guard !selectors.isEmpty else { return inSpecs }
    var selected: Set<ClauseKey> = []
    for selector in selectors {
      let matches = inSpecs.filter { Self.matches($0, selector) }
      guard !matches.isEmpty else { throw unknown(selector, among: inSpecs) }
      selected.formUnion(matches.map(\.key))
    }
    return inSpecs.filter { selected.contains($0.key) }
  }

  private static func matches(_ clause: Clause, _ selector: String) -> Bool {
    var selector = Substring(selector)
    if let slash = selector.firstIndex(of: "/") {
      guard selector[..<slash] == clause.spec else { return false }
      selector = selector[selector.index(after: slash)...]
    }
    return clause.id.lowercased() == selector.lowercased() || clause.section == selector
      || clause.section.hasPrefix(selector + ".")
  }

  func unknown(_ selector: String, among clauses: [Clause]) -> ConformanceError {
    if let hint = Self.mention(of: selector, in: clauses) {
      return ConformanceError(.unknownClause, "no clause or section is called \(selector)\(hint)")
    }
    let wanted = Array(selector.lowercased().utf8)
    let nearest = clauses.map { ($0.id, Self.distance(wanted, Array($0.id.lowercased().utf8))) }
      .sorted { $0.1 < $1.1 }.prefix(3).map(\.0)
    let hint = nearest.isEmpty ? "" : "; nearest: \(nearest.joined(separator: ", "))"
    return ConformanceError(.unknownClause, "no clause or section is called \(selector)\(hint)")
  }

  /// Tells which clauses speak of a word; nil for what looks like an identifier, and where none does.
  private static func mention(of word: String, in clauses: [Clause]) -> String? {
    guard word.count > 2, !word.contains(where: \.isNumber) else { return nil }
    let found = clauses.filter { $0.summary.lowercased().contains(word.lowercased()) }.map(\.id)
    guard !found.isEmpty else { return nil }
    let (first, others) = (found.prefix(3).joined(separator: ", "), found.count > 3 ? ", ..." : "")
    let number = found.count == 1 ? "1 clause speaks" : "\(found.count) clauses speak"
    return "; \(number) of it: \(first)\(others)"
  }

  /// Returns how many bytes must be put in, taken out or changed to make one text of the other.
  private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
    // What is no identifier anyway needs no exact distance, and must not cost quadratic time.
    let a = a.prefix(64)
    var row = Array(0...b.count)
    for (i, left) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, right) in b.enumerated() {
        let substituted = diagonal + (left == right ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
