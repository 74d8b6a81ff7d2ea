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

  @Test("Each session has a name of its own")
  func names() { #expect(Set(SharedCase.all.map(\.testDescription)).count == SharedCase.all.count) }
}

extension SharedCase {
  static let all =
    routing + retaining + forwarding + ordering + identifying + acknowledging + resuming + numbering
    + willing
    + keeping + explained
}
