import Foundation
import TestSupport
import Testing

/// A command that fails costs nobody what an earlier one has written.
@Suite struct UntouchedOutputTests {
  private let scratch = Scratch()

  static let commands: [[String]] = [
    ["convert", "INPUT", "--force"], ["inspect", "INPUT"], ["inspect", "INPUT", "-f", "jsonl"],
    ["conform", "trace", "INPUT"], ["replay", "sdk", "INPUT"],
    ["conform", "sdk", "publish", "--recordings", "/no"],
    ["conform", "sdk", "publish", "--client", "live", "--broker", "mqtt://127.0.0.1:2"],
  ]

  /// The input is none: there is no file, or it is no capture and no recording.
  @Test(arguments: commands, [nil, "\u{89}PNG and so on"])
  func staysWhenACommandFails(_ command: [String], _ input: String?) throws {
    let file = try input.map { try scratch.write($0, to: "input").path } ?? scratch.file("none")
    let old = try scratch.write("precious\n", to: "old").path
    let new = scratch.file("new")
    let words = command.map { $0 == "INPUT" ? file : $0 }
    for output in [old, new] {
      let result = try RepriseProcess.run(words + ["-o", output])
      #expect(result.status == 2)
      #expect(result.output == "")
    }
    #expect(try String(contentsOfFile: old, encoding: .utf8) == "precious\n")
    #expect(!FileManager.default.fileExists(atPath: new))
  }

  /// Nothing is a result too.
  @Test func isEmptiedByAnEmptyResult() throws {
    let input = try scratch.write(SampleRecording.text, to: "a.jsonl").path
    let old = try scratch.write("precious\n", to: "old").path
    let result = try RepriseProcess.run(["inspect", input, "--filter", "frame < 0", "-o", old])
    #expect(result.status == 0)
    #expect(try String(contentsOfFile: old, encoding: .utf8) == "")
  }

  /// A recording of nothing has its header.
  @Test func isARecordingWithoutEvents() throws {
    let input = try scratch.write(SampleRecording.header + "\n", to: "a.jsonl").path
    let output = scratch.file("b.jsonl")
    let result = try RepriseProcess.run(["convert", input, "-o", output])
    #expect(result.status == 0)
    #expect(try String(contentsOfFile: output, encoding: .utf8).hasPrefix(#"{"reprise":1,"#))
  }
}
