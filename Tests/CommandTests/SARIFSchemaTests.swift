import Foundation
import TestSupport
import Testing

/// Reports in SARIF, held to the schema of the standard by an implementation that is not ours.
@Suite struct SARIFSchemaTests {
  private let scratch = Scratch()

  /// What does not fit, a line each.
  private func complaints(about report: String) throws -> [String] {
    let file = try scratch.write(Array(report.utf8), to: "report.sarif")
    let words = [
      PackageFolder.path(".build/venv/bin/python"),
      PackageFolder.path("Tests/CommandTests/Recipes/sarif.py"), file.path,
    ]
    let command = words.map(RepriseProcess.quoted).joined(separator: " ")
    let result = try RepriseProcess.shell("\(command) || true")
    #expect(result.errors == "")
    return result.output.split(separator: "\n").map(String.init)
  }

  /// Findings with evidence, accepted and new ones, what is mended, and a file that can't be read.
  private func report(_ words: [String]) throws -> String {
    let recordings = PackageFolder.path("Recordings")
    let result = try RepriseProcess.run(
      ["conform", "trace", recordings] + words, directory: scratch.directory)
    #expect(!result.output.isEmpty, "\(result.errors)")
    return result.output
  }

  @Test func fits() throws {
    let plain = try report(["--format", "sarif"])
    #expect(try complaints(about: plain) == [])
    #expect(plain.contains(#""relatedLocations":"#))
    let baseline = scratch.directory.appending(path: "accepted.json").path
    let before = scratch.directory.appending(path: "before.jsonl").path
    try scratch.write(SampleRecording.text + Self.wildcard + "\n", to: "before.jsonl")
    _ = try report([before, "--write-baseline", baseline])
    try scratch.write(SampleRecording.text, to: "before.jsonl")
    let all = try report(
      [before, "/nowhere/at all.pcap", "--baseline", baseline, "--format", "sarif"])
    #expect(all.contains(#""suppressions":[{"#) && all.contains("toolExecutionNotifications"))
    #expect(try complaints(about: all) == [])
  }

  private static let wildcard = SampleRecording.line(
    #""type":"PUBLISH","qos":0,"topic":"a/#","payload":{"utf8":""}"#, second: 3)

  /// The check notices what is missing, strange, or of another kind.
  @Test(arguments: [
    (#""level":"error""#, #""level":"fatal""#), (#""ruleIndex":"#, #""ruleNumber":"#),
    (#""version":"2.1.0""#, #""version":"2.2.0""#), (#""exitCode":1"#, #""exitCode":"1x""#),
  ])
  func doesNotFit(old: String, new: String) throws {
    let text = try report(["--format", "sarif"])
    let changed = text.replacing(old, with: new, maxReplacements: 1)
    try #require(changed != text)
    #expect(try !complaints(about: changed).isEmpty)
  }
}
