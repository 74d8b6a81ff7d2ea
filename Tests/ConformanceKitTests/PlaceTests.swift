import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import ConformanceKit

/// Whatever is found or left undecided says where, in JSON and in text.
@Suite("Places")
struct PlaceTests {
  /// All captures and recordings of the package, relative to their folder.
  private static let files = PackageFolder.recorded.filter {
    $0.hasSuffix(".pcap") || $0.hasSuffix(".jsonl")
  }

  @Test("Reports on every capture and recording say where")
  func whole() throws {
    #expect(Self.files.count > 500)
    var undecided = 0
    for file in Self.files {
      var judge = try ConformanceJudge(catalogue: .bundled())
      judge.begin(file: file)
      _ = try SessionInput.read(PackageFolder.recordings.appending(path: file).path, into: &judge)
      judge.endFile()
      undecided += try ReportPlaces.check(judge.report(toolVersion: "1"))
    }
    #expect(undecided > 1_000)
  }

  @Test("Reports on damaged captures say where")
  func damaged() throws {
    var undecided = 0
    for path in DamageTests.recordings {
      let whole = try CapturedFrames(path: PackageFolder.recordings.appending(path: path).path)
      for kind in Damage.allCases {
        let damaged = kind.apply(to: whole, seed: 7)
        undecided += try ReportPlaces.check(damaged.report(.bundled()))
      }
    }
    #expect(undecided > 1_000)
  }

  @Test("Reports on sessions that were made up to be violated say where")
  func violations() throws {
    var findings = 0
    for session in SessionCase.all {
      let report = try judge { session.script(&$0) }
      _ = try ReportPlaces.check(report)
      findings += report.results.reduce(0) { $0 + $1.findings.count }
    }
    #expect(findings > 150)
  }
}

/// Checks that a report has a place for each finding and for each case that is undecided.
enum ReportPlaces {
  /// - Returns: How many cases were undecided.
  static func check(
    _ report: ConformanceReport, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Int {
    let text = report.text(color: false)
    let value = try JSONValue.read(report.json())
    guard case .array(let clauses)? = value["clauses"] else {
      Issue.record("there are no clauses", sourceLocation: sourceLocation)
      return 0
    }
    var undecided = 0
    for clause in clauses {
      let id = clause["id"]?.text ?? "?"
      let tally = clause["tally"]
      let counts = (tally?["violated"]?.integer ?? -1, tally?["undecided"]?.integer ?? -1)
      undecided += counts.1
      let findings = places(clause["findings"])
      let leftOpen = places(clause["undecided"])
      let files = report.inputs.joined(separator: ", ")
      let comment = Comment(rawValue: "\(id) of \(files)")
      #expect(findings.count >= min(100, counts.0), comment, sourceLocation: sourceLocation)
      #expect(leftOpen.count >= min(100, counts.1), comment, sourceLocation: sourceLocation)
      for place in findings + leftOpen {
        #expect(place != nil, comment, sourceLocation: sourceLocation)
      }
      // The first three of each kind are printed.
      for place in (findings.prefix(3) + leftOpen.prefix(3)).compactMap(\.self) {
        #expect(text.contains(place), comment, sourceLocation: sourceLocation)
      }
    }
    return undecided
  }

  /// The places of an array, as the text has them; nil for one that lacks anything.
  private static func places(_ value: JSONValue?) -> [String?] {
    guard case .array(let entries)? = value else { return [] }
    return entries.map { entry in
      guard let file = entry["file"]?.text, !file.isEmpty, let time = entry["time"]?.text,
        let frame = entry["frame"]?.integer, frame > 0,
        let connection = entry["connection"]?.integer, connection > 0
      else { return nil }
      guard let scenario = entry["scenario"]?.text else {
        return "\(file) frame \(frame), connection \(connection), \(time)\n"
      }
      guard let step = entry["step"]?.integer, let action = entry["action"]?.text else {
        return nil
      }
      return "\(file) scenario \(scenario), step \(step), \(action), frame \(frame), "
        + "connection \(connection), \(time)\n"
    }
  }
}
