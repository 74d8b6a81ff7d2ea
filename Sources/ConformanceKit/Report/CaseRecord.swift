internal import RepriseCore

/// What became of a case by which a subject was driven, with one row of its values and in one version.
package struct CaseRecord: Sendable, Hashable {
  /// How a case ended.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// A clause that it is for was judged by it.
    case judged
    /// None of them was: they say nothing of what came of it.
    case inconclusive
    /// The subject can't do what it takes.
    case notApplicable = "not-applicable"
  }

  /// The name of the case.
  package let name: String
  /// The values that it was run with, for people.
  package let values: String
  /// The standard by which it was judged.
  package let spec: String
  /// What its recording is called.
  package let file: String
  /// The clauses that it is for, in whichever version has them.
  package let clauses: [String]
  /// How it ended.
  package var outcome = Outcome.inconclusive
  /// Why it was not judged, or not to its end; nil where it was.
  package var reason: String?
  /// The clauses that its recording violates.
  package private(set) var failed: [String] = []

  /// Creates the record of a case that nothing was judged of yet.
  package init(name: String, values: String, spec: String, file: String, clauses: [String]) {
    (self.name, self.values, self.spec, self.file) = (name, values, spec, file)
    self.clauses = clauses
  }

  /// Takes the report on its recording.
  /// - Parameters:
  ///   - report: The report.
  ///   - spec: The standard that its clauses are of.
  package mutating func take(_ report: ConformanceReport, spec: String) {
    let own = report.results.filter { $0.clause.spec == spec && clauses.contains($0.clause.id) }
    failed = report.results.filter { $0.verdict == .failed }.map(\.clause.id)
    if own.contains(where: { $0.satisfied + $0.violated > 0 }) || !failed.isEmpty {
      outcome = .judged
      return
    }
    let reasons = own.compactMap(\.reason)
    reason = reasons.first ?? "none of its clauses had anything to judge"
  }

  /// Says what kept it from its end, besides what was judged.
  package mutating func note(_ why: String) { reason = why }
}

extension ConformanceReport {
  /// Returns the report with what became of the cases that it rests on: a clause that only cases are for which the
  /// subject can't do is not applicable.
  package func adding(_ records: [CaseRecord]) -> ConformanceReport {
    var report = self
    report.cases = records
    for (index, result) in results.enumerated() where result.verdict == .notExercised {
      let own = records.filter {
        $0.spec == result.clause.spec && $0.clauses.contains(result.clause.id)
      }
      guard let first = own.first, own.allSatisfy({ $0.outcome == .notApplicable }) else {
        continue
      }
      report.results[index].verdict = .notApplicable
      report.results[index].reason = first.reason
    }
    return report
  }

  /// How many cases came to what end, in words; nil where none were run.
  var caseSums: String? {
    guard let cases else { return nil }
    let ends = CaseRecord.Outcome.allCases.compactMap { outcome in
      let count = cases.count { $0.outcome == outcome }
      return count > 0 ? "\(count) \(outcome.rawValue)" : nil
    }
    return "\(cases.count) \(cases.count == 1 ? "case" : "cases"): " + ends.joined(separator: ", ")
  }
}
