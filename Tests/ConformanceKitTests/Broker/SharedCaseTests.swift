import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Sessions of several connections and all that comes of them")
struct SharedCaseTests {
  @Test("Each session gets its whole verdict", arguments: SharedCase.all)
  func verdict(_ session: SharedCase) throws {
    for version in session.versions { try session.check(version) }
  }

  @Test("A finding rests on the connection that granted the filter, which may be one before")
  func evidence() throws {
    let session = try #require(
      SharedCase.all.first {
        $0.testDescription
          == "a message above the QoS that a session was granted on the connection before"
      })
    let findings = try session.judged(.v3_1_1).flatMap(\.findings)
    let rests = findings.map { $0.evidence.map { "\($0.frame) \($0.connection) \($0.role)" } }
    #expect(rests == [["8 1 SUBACK of a filter that matches"]])
    #expect(findings.map(\.connection) == [3])
  }

  @Test("Each session has a name of its own")
  func names() { #expect(Set(SharedCase.all.map(\.testDescription)).count == SharedCase.all.count) }
}

extension SharedCase {
  static let all =
    routing + retaining + forwarding + ordering + identifying + acknowledging + resuming + numbering
    + willing
    + keeping + explained + absences + verbatim + replacing + reusing + namedWills + sharing
    + elsewhere + toldLate + unseenPublishers + crossing
}
