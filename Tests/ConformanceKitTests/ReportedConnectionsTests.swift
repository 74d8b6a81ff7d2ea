import Capture
import ConformanceKit
import Foundation
import RepriseCore
import TestSupport
import Testing

/// A report on some connections of a session, which are judged with all others.
@Suite("Reports on some connections")
struct ReportedConnectionsTests {
  /// Judges a session; reports on some of its connections.
  private func judge(_ events: [Event], _ connections: Set<Int>?) throws -> ConformanceReport {
    var judge = try ConformanceJudge(
      catalogue: .bundled(),
      options: ConformanceOptions(
        connections: connections.map { ["a": $0, "b": []] }, maximumFindings: 10_000))
    judge.begin(file: "a")
    for event in events { event.withView { judge.consume($0) } }
    // Of another file nothing is reported, though its connections have the same numbers.
    judge.begin(file: connections == nil ? "a" : "b")
    if connections != nil { for event in events { event.withView { judge.consume($0) } } }
    return judge.report(toolVersion: "1")
  }

  /// What a report says, by clause: how often it was violated, kept and left open, and where it was violated.
  private func counts(_ reports: [ConformanceReport]) -> [String: [String]] {
    var counts: [String: [String]] = [:]
    for clause in reports[0].results.indices {
      let results = reports.map { $0.results[clause] }
      let findings = results.flatMap(\.findings).map { "\($0.frame) #\($0.connection)" }
      let sums = [
        results.reduce(0) { $0 + $1.violated }, results.reduce(0) { $0 + $1.satisfied },
        results.reduce(0) { $0 + $1.undecided },
      ]
      guard let first = results.first, sums != [0, 0, 0] else { continue }
      counts["\(first.clause.spec)/\(first.clause.id)"] = sums.map(String.init) + findings.sorted()
    }
    return counts
  }

  @Test(
    "What is reported of parts of a session is together what is reported of all",
    arguments: DamageTests.recordings)
  func isDividedAmongConnections(name: String) throws {
    var list = EventList()
    _ = try SessionInput.read(
      PackageFolder.path("Recordings/\(name)"), into: &list)
    let numbers = Set(list.events.map(\.context.connection))
    let odd = numbers.filter { $0 % 2 == 1 }
    let parts = [try judge(list.events, odd), try judge(list.events, numbers.subtracting(odd))]
    let whole = counts([try judge(list.events, nil)])
    #expect(counts(parts) == whole)
    #expect(whole.count > 10)
    let (first, second) = (counts([parts[0]]), counts([parts[1]]))
    #expect(first != whole || second.isEmpty)
    #expect(counts([try judge(list.events, [])]).isEmpty)
  }
}
