import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// A file of exact tallies: a block each session, of its name and the lines of its tally.
struct GoldenTallies: Sendable {
  /// A session by its name.
  struct Session: Sendable {
    let name: String
    var version = MQTTVersion.v3_1_1
    let script: @Sendable (inout Script) -> Void

    var events: [Event] {
      var script = Script(version: version)
      self.script(&script)
      return script.events
    }
  }

  let sessions: [Session]
  private let file: GoldenFile

  /// Reads a file beside this one, which has a block for each of some sessions.
  init(_ file: String, _ sessions: [Session]) {
    self.sessions = sessions
    self.file = GoldenFile(file)
  }

  /// What the file says of each session, with its version.
  var expected: [(version: MQTTVersion, lines: [String])] {
    sessions.map { ($0.version, file.lines(of: $0.name)) }
  }

  /// What comes of each session, one by one.
  private var tallies: some Sequence<(name: String, lines: [String])> {
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
    if GoldenFile.isWritten { return try file.write(tallies) }
    #expect(Set(names) == file.names)
  }

  /// Checks that each session has its exact tally.
  func checkTallies() throws { file.check(try tallies) }
}
