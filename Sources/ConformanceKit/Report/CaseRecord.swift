package import RepriseCore

/// What became of a case by which a subject was driven, with one row of its values and in one version.
package struct CaseRecord: Sendable, Hashable {
  /// How a case ended.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    /// A clause that it is for was judged by it.
    case judged
    /// None of them was: they say nothing of what came of it.
    case inconclusive
    /// Something else came of it than when the same bytes were not cut into segments, which the subject must not see.
    case changed
    /// The subject can't do what it takes.
    case notApplicable = "not-applicable"
  }

  /// Its place in a run of all cases, from 1.
  package let number: Int
  /// The name of the case.
  package let name: String
  /// What this run of it is called: the name with the version and the number of the row.
  package let run: String
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
  package var failed: [String] = []
  /// The clauses that it is for and that its recording keeps.
  private var kept: [String] = []
  /// How many connections its subject ended first, and whether it was given a reason: something that breaks a clause.
  package var ends = 0
  package var isProvoked = false
  /// All that its recording keeps and nowhere violates, nor leaves undecided, with their standards; not told in reports.
  private var keptEverywhere: Set<String> = []

  /// Creates the record of a case that nothing was judged of yet.
  package init(
    _ number: Int, name: String, run: String, values: String, spec: String, file: String,
    clauses: [String]
  ) {
    (self.number, self.name, self.run, self.values) = (number, name, run, values)
    (self.spec, self.file) = (spec, file)
    self.clauses = clauses
  }

  /// Takes the report on its recording.
  /// - Parameters:
  ///   - report: The report.
  ///   - spec: The standard that its clauses are of.
  package mutating func take(_ report: ConformanceReport, spec: String) {
    let own = report.results.filter { $0.clause.spec == spec && clauses.contains($0.clause.id) }
    kept = own.filter { $0.satisfied > 0 }.map(\.clause.id)
    keptEverywhere = Set(
      report.results.filter { $0.satisfied > 0 && $0.violated + $0.undecided == 0 }.map(\.key))
    failed = report.results.filter { $0.verdict == .failed }.map(\.clause.id)
    if own.contains(where: { $0.satisfied + $0.violated > 0 }) || !failed.isEmpty {
      outcome = .judged
      return
    }
    let reasons = own.compactMap(\.reason)
    reason = reasons.first ?? "none of its clauses had anything to judge"
  }

  /// Leaves out the report on a recording in which no time is sure, where it accuses: what came while the driver was held up
  /// has later times than it came at, and a subject on the same machine was mostly held up as well.
  /// - Parameters:
  ///   - report: The report.
  ///   - heldUp: How long the driver was held up at most.
  /// - Returns: Whether it is left out.
  package mutating func doubts(_ report: ConformanceReport, heldUp: Duration) -> Bool {
    guard report.results.contains(where: { $0.violated > 0 }) else { return false }
    reason =
      "the driver was held up for \(heldUp.components.seconds) s, so that no time of what came is sure; "
      + "run it again where there is less to do"
    return true
  }

  /// The subject that findings of it are about.
  var subject: String { Finding.subject(ofCase: run) }

  /// Whether a clause, with its standard, was kept wherever it was touched.
  func keeps(_ clause: String) -> Bool { keptEverywhere.contains(clause) }

  /// Compares what came of it with what came of the same case when nothing was cut.
  ///
  /// What its subject violates must not change. That a clause was touched may: a subject that fails a connection at the
  /// first wrong byte does so before the rest comes, and what is slow meets other packets at other times. Where nothing
  /// is wrong, though, no server ends a connection for how its bytes are cut. A client ends its connections when it likes.
  /// - Parameters:
  ///   - whole: The record of that.
  ///   - subject: Whose conduct is judged.
  package mutating func compare(with whole: CaseRecord, of subject: Peer) {
    // One that is ended in the middle of the first packet shows nothing at all.
    let isShorter = ends > whole.ends || keptEverywhere.isEmpty
    let breaksOff =
      subject == .server && !whole.isProvoked && isShorter && kept != whole.kept
    guard whole.failed != failed || breaksOff else { return }
    func names(_ clauses: [String]) -> String {
      clauses.isEmpty ? "nothing" : clauses.joined(separator: ", ")
    }
    outcome = .changed
    reason =
      "it kept \(names(kept)) and violated \(names(failed)); when its bytes were not cut it kept "
      + "\(names(whole.kept)) and violated \(names(whole.failed))"
  }

  /// Says what kept it from its end, besides what was judged.
  package mutating func note(_ why: String) { reason = why }
}

extension ConformanceReport {
  /// Returns the report on the recording of a case, whose findings are about that case.
  /// - Parameter record: The case.
  /// - Returns: The report.
  package func naming(_ record: CaseRecord) -> ConformanceReport {
    var report = self
    for place in report.results.indices {
      for index in report.results[place].findings.indices {
        report.results[place].findings[index].driven = record.run
      }
    }
    report.subjects = [record.subject]
    return report
  }

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
