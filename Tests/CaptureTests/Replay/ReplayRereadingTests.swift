import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing

/// Files that are read again instead of being kept.
@Suite struct ReplayFileRereadingTests {
  /// What is said on each connection of a file, in lines.
  private static func dialogues(_ path: String, keeping limit: Int?) throws -> [[String]] {
    let connections = Set(try EventList.events(of: path).events.map(\.context.connection))
    return try connections.sorted().compactMap { connection in
      let source = limit == nil ? nil : SessionFile(path)
      var events = ReplayEvents(
        of: .connection(connection), rereading: source, keeping: limit ?? 0)
      _ = try SessionInput.read(path, into: &events)
      guard let dialogue = try? events.dialogue() else { return nil }
      return dialogue.map { "\($0.place) \($0.content)" }
    }
  }

  @Test(arguments: PackageFolder.captured) func recordingsOfOursSayTheSameAgain(_ name: String)
    throws
  {
    let path = PackageFolder.capture(name)
    let kept = try Self.dialogues(path, keeping: nil)
    #expect(!kept.isEmpty)
    #expect(try Self.dialogues(path, keeping: 0) == kept)
  }

  @Test func recordingsAreReadAgain() async throws {
    let path = PackageFolder.path("Recordings/account-bind/session.jsonl")
    let kept = try Self.dialogues(path, keeping: nil)
    #expect(kept.first?.isEmpty == false)
    #expect(try Self.dialogues(path, keeping: 0) == kept)
  }

  @Test func standardInputCannotBeReadAgain() {
    #expect(SessionFile("-") == nil)
  }
}
