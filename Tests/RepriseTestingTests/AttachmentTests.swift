import TestSupport

#if os(Linux)
  import Foundation
  import Testing

  /// What a report has of a divergence: a run of its own of one of these tests, whose attachments lie in a folder.
  @Suite struct AttachmentTests {
    /// Runs one test of this program.
    /// - Returns: What the program ended with, and the attachments by name.
    private static func run(_ test: String) async throws -> (status: Int32, [String: String]) {
      let folder = Scratch()
      let (status, _) = try await TestProgram.run(
        test, [:], ["--attachments-path", folder.path])
      var attachments: [String: String] = [:]
      for name in folder.files { attachments[name] = try folder.read(name) }
      return (status, attachments)
    }

    @Test func aDivergenceHasTheRecordingAndThatOfTheRun() async throws {
      let (status, attachments) = try await Self.run(
        "RepriseTestingTests.DivergenceTests/aStepIsToldOfWhatAnotherTaskDoes")
      #expect(status == 0)
      #expect(attachments.keys.sorted() == ["lamp.jsonl", "this-run-lamp.jsonl"])
      let recorded = try String(
        contentsOfFile: #filePath.replacing("AttachmentTests.swift", with: "Recordings/lamp.jsonl"),
        encoding: .utf8)
      #expect(attachments["lamp.jsonl"] == recorded)
      // The run came as far as the first order, which was another one.
      let run = try #require(attachments["this-run-lamp.jsonl"])
      #expect(run.hasPrefix(#"{"reprise":1,"#))
      #expect(run.contains(#""type":"SUBACK""#) && !run.contains(#""type":"PUBLISH""#))
    }

    @Test func aRunThatFitsHasNone() async throws {
      let (status, attachments) = try await Self.run("RepriseTestingTests.LampTests/takesOrders")
      #expect(status == 0 && attachments.isEmpty)
    }
  }
#endif
