import Foundation
import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// A file of exact tallies: a block each session, of its name and the lines of its tally.
///
/// A change that is meant is put in place by `WRITE_GOLDEN=1 swift test --filter SessionTallyTests`, and read
/// line by line before it is kept.
struct GoldenTallies: Sendable {
  /// A session by its name.
  struct Session: Sendable {
    let name: String
    var version = MQTTVersion.v3_1_1
    let script: @Sendable (inout Script) -> Void
  }

  static let isWritten = ProcessInfo.processInfo.environment["WRITE_GOLDEN"] == "1"

  let sessions: [Session]
  private let file: URL
  private let expected: [String: [String]]

  /// Reads a file beside this one, which has a block for each of some sessions.
  init(_ file: String, _ sessions: [Session]) {
    self.sessions = sessions
    self.file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: file)
    let text = (try? String(contentsOf: self.file, encoding: .utf8)) ?? ""
    let blocks = text.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init) }
    expected = Dictionary(blocks.map { ($0[0], Array($0.dropFirst())) }) { first, _ in first }
  }

  /// What comes of each session, one by one.
  private var lines: some Sequence<(name: String, lines: [String])> {
    get throws {
      let fresh = try Dictionary(
        uniqueKeysWithValues: MQTTJudge.versions.map { ($0, try SessionTally.freshJudge(of: $0)) }
      )
      return sessions.lazy.compactMap { session in
        fresh[session.version].map {
          (session.name, SessionTally(session.script, by: $0, in: session.version).lines)
        }
      }
    }
  }

  /// Checks that each session has a name of its own, and each name is of a session; or writes the file.
  func checkNames() throws {
    let names = sessions.map(\.name)
    #expect(Set(names).count == names.count)
    guard Self.isWritten else {
      #expect(Set(names) == Set(expected.keys))
      return
    }
    let blocks = try lines.map { name, lines in
      ([name] + lines).joined(separator: "\n")
    }
    try (blocks.joined(separator: "\n\n") + "\n").write(
      to: file, atomically: true, encoding: .utf8)
  }

  /// Checks that each session has its exact tally.
  func checkTallies() throws {
    var wrong: [String] = []
    for (name, lines) in try lines {
      guard wrong.count < 10 else { break }
      let expected = expected[name] ?? []
      guard lines != expected else { continue }
      let missing = expected.filter { !lines.contains($0) }
      let surplus = lines.filter { !expected.contains($0) }
      wrong.append("\(name): without \(missing), but with \(surplus)")
    }
    #expect(wrong == [], "the first ones")
  }
}
