import Foundation
import RepriseCore
import TestSupport
import Testing

/// Files that recordings are written to.
@Suite struct FileSinkTests {
  /// A folder for one test.
  private let folder = Scratch()

  private func inFolder(_ body: (String) async throws -> Void) async throws {
    try await body(folder.file("session.jsonl"))
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }

  private func write(_ text: String, to sink: FileSink) throws {
    try Array(text.utf8).withUnsafeBytes { try sink.write($0.bytes) }
  }

  @Test func holdsAtOnceWhatWasWritten() async throws {
    try await inFolder { path in
      let sink = try FileSink(path)
      try write("a\n", to: sink)
      #expect(try text(path) == "a\n")
      try write("", to: sink)
      try write("b\n", to: sink)
      #expect(try text(path) == "a\nb\n")
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func replacesNothingUnlessItIsTold() async throws {
    try await inFolder { path in
      try Data("old, and longer".utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
      let error = #expect(throws: DataClientError.self) { try FileSink(path) }
      #expect(error?.code == .notRecorded)
      #expect(
        error?.message
          == "\(path): it exists; name another file, or replace it by replacing: true")
      #expect(try text(path) == "old, and longer")
      try write("new", to: FileSink(path, replacing: true))
      #expect(try text(path) == "new")
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test func saysWhyItCannotBeWritten() throws {
    let missing = folder.file("no/session.jsonl")
    let error = #expect(throws: DataClientError.self) { try FileSink(missing) }
    #expect(
      error?.message
        == "\(missing): can't be written: no such file or directory; check the path")
    let full = try FileSink("/dev/full", replacing: true)
    let later = #expect(throws: DataClientError.self) { try write("a", to: full) }
    #expect(later?.code == .notRecorded)
    #expect(
      later?.message
        == "/dev/full: can't be written on: no space left on device; what was written before stays")
  }

  @Test func takesTheRecordingOfAClient() async throws {
    try await inFolder { path in
      let client = try RecordingClient(
        ScriptedClient.everySecond([.connected(.init()), .closed(.byUser)]), toFile: path)
      var user = Actor(client)
      try await user.connect()
      _ = try await client.next(before: nil)
      try await user.do(.disconnect)
      _ = try await client.next(before: nil)
      try client.finish()
      let memory = try RecordingClient(
        ScriptedClient.everySecond([.connected(.init()), .closed(.byUser)]), to: MemorySink())
      user = Actor(memory)
      try await user.connect()
      _ = try await memory.next(before: nil)
      try await user.do(.disconnect)
      _ = try await memory.next(before: nil)
      try memory.finish()
      #expect(try text(path) == String(decoding: memory.sink.bytes, as: UTF8.self))
    }
  }
}
