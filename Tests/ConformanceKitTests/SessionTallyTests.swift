import Foundation
import RepriseCore
import Testing

@testable import ConformanceKit

/// The exact outcome of each session, beside its verdict: what fails, what was kept how often, what is left open
/// and why.
///
/// A change that is meant is put in place by `WRITE_GOLDEN=1 swift test --filter SessionTallyTests`, and read
/// line by line before it is kept.
@Suite("Sessions and all that comes of them")
struct SessionTallyTests {
  /// A session by its name.
  struct Session: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let script: @Sendable (inout Script) -> Void
  }

  static let sessions =
    SessionCase.all.map { Session(testDescription: $0.testDescription, script: $0.script) }
    + TallyTests.all.map {
      Session(testDescription: "whole: " + $0.testDescription, script: $0.script)
    }

  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Sessions/Tallies.txt")
  private static let isWritten = ProcessInfo.processInfo.environment["WRITE_GOLDEN"] == "1"

  /// The expected lines, by session.
  private static let expected: [String: [String]] = {
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    let blocks = text.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init) }
    return Dictionary(blocks.map { ($0[0], Array($0.dropFirst())) }) { first, _ in first }
  }()

  @Test("Each session has a name of its own, and each name is of a session")
  func names() throws {
    let names = Self.sessions.map(\.testDescription)
    #expect(Set(names).count == names.count)
    guard Self.isWritten else {
      #expect(Set(names) == Set(Self.expected.keys))
      return
    }
    let fresh = try SessionTally.freshJudge()
    let blocks = Self.sessions.map { session in
      ([session.testDescription] + SessionTally(session.script, by: fresh).lines)
        .joined(separator: "\n")
    }
    try (blocks.joined(separator: "\n\n") + "\n").write(
      to: Self.file, atomically: true, encoding: .utf8)
  }

  @Test("Each session has its exact tally", .enabled(if: !isWritten))
  func tallies() throws {
    let fresh = try SessionTally.freshJudge()
    var wrong: [String] = []
    for session in Self.sessions where wrong.count < 10 {
      let lines = SessionTally(session.script, by: fresh).lines
      let expected = Self.expected[session.testDescription] ?? []
      guard lines != expected else { continue }
      let missing = expected.filter { !lines.contains($0) }
      let surplus = lines.filter { !expected.contains($0) }
      wrong.append("\(session.testDescription): without \(missing), but with \(surplus)")
    }
    #expect(wrong == [], "the first ones")
  }

  @Test("Whoever is blamed is the one that the clause speaks of")
  func blame() throws {
    var judge = try SessionTally.freshJudge()
    var frames: [String: Set<Int>] = [:]
    for session in Self.sessions {
      var script = Script()
      session.script(&script)
      judge.begin(file: session.testDescription)
      for event in script.events { event.withView { judge.consume($0) } }
      judge.endFile()
      frames[session.testDescription] = Set(script.events.map(\.context.frame))
    }
    for result in judge.report(toolVersion: "1").results {
      #expect(result.violated == result.findings.count)
      #expect(result.undecided == result.places.count)
      for finding in result.findings {
        #expect(frames[finding.file]?.contains(finding.frame) == true, "\(finding.file)")
        #expect(!finding.packet.isEmpty, "\(finding.file)")
        let actor = result.clause.actor
        #expect(
          actor == .both || finding.message.hasPrefix("the \(actor.rawValue)"),
          "\(finding.file): \(result.clause.id) \(finding.message)")
      }
    }
  }
}
