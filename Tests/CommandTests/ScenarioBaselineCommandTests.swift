import Foundation
import TestSupport
import Testing

/// A team's way with scenarios of which it knows that they fail.
@Suite struct ScenarioBaselineCommandTests {
  private let files: DamagedScenarios

  init() throws {
    files = try DamagedScenarios(["channel/publish", "channel/topics", "channel/stop"])
    try files.change("channel/publish.jsonl", "app/up/a", "app/up/b")
    try files.change("channel/topics.jsonl", #""username":"topics&a1pk""#, #""username":"x&a1pk""#)
  }

  private func judge(_ words: String...) throws -> RepriseProcess.Result {
    try files.run(["conform", "sdk", "publish", "topics", "stop", "--recordings", "sdk"] + words)
  }

  /// The entries, of which the files that they were found in are no text.
  private func baseline() throws -> [[String: String]] {
    let data = Data(try files.scratch.read("b.json").utf8)
    let root = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    let entries = try #require(root["accepted"] as? [[String: Any]])
    #expect(entries.allSatisfy { ($0["files"] as? [String])?.isEmpty == false })
    return entries.map { $0.compactMapValues { $0 as? String } }
  }

  @Test func acceptsWhatIsKnown() throws {
    #expect(try judge().status == 1)
    let written = try judge("--write-baseline", "b.json")
    #expect(written.status == 0 && written.errors == "")
    let entries = try baseline()
    #expect(
      entries.map { [$0["clause"], $0["subject"], $0["reason"]] } == [
        ["sdk/SDK-channel-40", "scenario publish in file", ""],
        ["sdk/step", "scenario topics in file", ""],
      ])
    let reason = try files.scratch.read("b.json").replacing(
      #""reason":"""#, with: #""reason":"the next release has it","owner":"us""#)
    try files.scratch.write(reason, to: "b.json")
    // In another folder, with other times and line numbers, it is the same.
    let moved = files.scratch.directory.appending(path: "moved")
    try FileManager.default.copyItem(at: files.scratch.directory.appending(path: "sdk"), to: moved)
    let text = try files.scratch.read("moved/channel/publish.jsonl")
    try files.scratch.write(
      text.replacing(#""time":"2026-11-21T13:"#, with: #""time":"2026-11-22T15:"#),
      to: "moved/channel/publish.jsonl")
    for folder in ["sdk", "moved"] {
      let known = try files.run(
        ["conform", "sdk", "publish", "topics", "stop", "--recordings", folder]
          + ["--baseline", "b.json"])
      #expect(known.status == 0 && known.errors == "")
      let marks = known.output.matches(of: /accepted: the next release has it \(owner us\)/)
      #expect(marks.count == 2)
      #expect(!known.output.contains("\nFailed\n"))
    }
    // What is known of a world says nothing of another one, nor of another scenario.
    let elsewhere = try judge("--client", "script,capture", "--baseline", "b.json")
    #expect(elsewhere.status == 0)
    #expect(
      elsewhere.output.contains(
        "line 2: sdk/SDK-channel-40, scenario publish in file\n    nothing matches it this time"))
    #expect(
      elsewhere.output.contains(
        "line 3: sdk/step, scenario topics in file\n    nothing matches it this time"))
  }

  @Test func failsForWhatIsNew() throws {
    #expect(try judge("--write-baseline", "b.json").status == 0)
    try files.restore("channel/publish.jsonl")
    try files.change("channel/publish.jsonl", "app/up/a", "app/up/c")
    let other = try judge("--baseline", "b.json")
    #expect(other.status == 1)
    #expect(
      other.output.contains("\nFailed\n  SDK-channel-40 ") && other.output.contains("app/up/c"))
    // Whether what was accepted is still there behind it is not known.
    #expect(
      other.output.contains(
        "line 2: sdk/SDK-channel-40, scenario publish in file\n    nothing matches it this time"))
    #expect(try judge("--write-baseline", "b.json", "--force").status == 0)
    #expect(try baseline().count == 3)
    #expect(try judge("--baseline", "b.json").status == 0)
  }

  @Test func failsForWhatIsMended() throws {
    #expect(try judge("--write-baseline", "b.json").status == 0)
    try files.restore("channel/publish.jsonl")
    let mended = try judge("--baseline", "b.json")
    #expect(mended.status == 1)
    #expect(
      mended.output.contains(
        """

        Baseline b.json
          line 2: sdk/SDK-channel-40, scenario publish in file
            mended: nothing matches it any more, so remove this line

        """))
    #expect(!mended.output.contains("\nFailed\n"))
    // A part, or a run that could not be finished, mends nothing.
    let part = try files.judge("stop", "--baseline", "b.json")
    #expect(part.status == 0 && !part.output.contains("mended:"))
    try FileManager.default.removeItem(atPath: files.scratch.file("sdk/channel/stop.pcap"))
    let cut = try judge("--baseline", "b.json")
    #expect(cut.status == 2 && !cut.output.contains("mended:"))
    let unwritten = try judge("--write-baseline", "c.json")
    #expect(unwritten.status == 2)
    #expect(
      unwritten.errors.hasSuffix(
        "reprise: c.json: not written, because not everything could be judged\n"))
    #expect(!FileManager.default.fileExists(atPath: files.scratch.file("c.json")))
    try files.restore("channel/stop.pcap")
    #expect(try judge("--write-baseline", "b.json", "--force").status == 0)
    #expect(try baseline().map { $0["clause"] } == ["sdk/step"])
  }

  @Test(arguments: [
    (["--baseline", "no.json"], "--baseline no.json: no such file or directory; check the path"),
    (
      ["--force"],
      "--force replaces recordings of live, or a baseline; "
        + "add --client live, or --write-baseline FILE"
    ),
    (
      ["--baseline", "b.json", "--write-baseline", "c.json"],
      "--write-baseline accepts what --baseline would judge; type one of them"
    ),
    (
      ["--write-baseline", "sdk/channel/stop.jsonl", "--force"],
      "sdk/channel/stop.jsonl: it is one of the files to read; name another"
    ),
    (
      ["--write-baseline", "a", "-o", "a"],
      "a: two reports go to this file; name another for one of them"
    ),
  ])
  func saysWhatIsWrong(words: [String], message: String) throws {
    try files.scratch.write(#"{"reprise-baseline":1,"accepted":[]}"#, to: "b.json")
    let result = try files.run(["conform", "sdk", "stop", "--recordings", "sdk"] + words)
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors == "reprise: \(message)\n")
  }
}
