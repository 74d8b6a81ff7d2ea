import Foundation
import TestSupport
import Testing

@Suite struct ConformCommandTests {
  private static let wildcard = SampleRecording.line(
    #""type":"PUBLISH","qos":0,"topic":"a/#","payload":{"utf8":""}"#, second: 3)

  private let scratch = Scratch()
  private let good: String
  private let bad: String

  init() throws {
    good = try scratch.write(SampleRecording.text, to: "good.jsonl").path
    bad = try scratch.write(SampleRecording.text + Self.wildcard + "\n", to: "bad.jsonl").path
  }

  @Test func endsWithTheVerdict() throws {
    let passed = try RepriseProcess.run(["conform", "trace", good])
    #expect(passed.status == 0, "\(passed.output)")
    #expect(passed.errors == "")
    let failed = try RepriseProcess.run(["conform", "trace", good, bad])
    #expect(failed.status == 1)
    #expect(failed.output.contains("MQTT-3.3.2-2"))
  }

  @Test func writesJSON() throws {
    let report = scratch.file("report.json")
    let words = [
      "conform", "trace", "--clause=mqtt-3.1.1/MQTT-3.3.2-2", "--format", "json", bad, "-o", report,
    ]
    #expect(try RepriseProcess.run(words).status == 1)
    let data = try Data(contentsOf: URL(fileURLWithPath: report))
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect((object["tool"] as? [String: String])?["version"] == "0.1.0")
    #expect(object["inputs"] as? [String] == [bad])
    let clauses = try #require(object["clauses"] as? [[String: Any]])
    #expect(clauses.map { $0["verdict"] as? String } == ["failed"])
  }

  @Test func reportsTheConnectionsOfOneClient() throws {
    let path = "Recordings/keep-alive-expired/capture.pcap"
    func judge(_ client: String, _ more: String...) throws -> RepriseProcess.Result {
      try RepriseProcess.run(
        ["conform", "trace", "--client", client, "--clause", "3.1.2.10"] + more + [path])
    }
    // The other client of the same clauses is left to its own report.
    let silent = try judge("silent-mqttv311", "--assume", "complete")
    #expect(silent.status == 1)
    #expect(silent.output.contains("1× violated") && silent.output.contains("connection 2"))
    #expect(!silent.output.contains("connection 3") && silent.errors == "")
    let watching = try judge("watcher")
    #expect(watching.status == 0 && !watching.output.contains("violated"))
    let strange = try judge("nobody")
    #expect(strange.status == 2)
    #expect(
      strange.errors
        == "reprise: nothing was judged: there is no connection of the client \"nobody\"; reprise "
        + "inspect shows who is there\n")
    let piped = try RepriseProcess.run(["conform", "trace", "--client", "watcher", "-"])
    #expect(piped.status == 2)
    #expect(piped.errors.hasPrefix("reprise: --client reads its files twice, and standard input"))
  }

  @Test func reportsOnTheOtherFilesWhenOneCannotBeRead() throws {
    let result = try RepriseProcess.run(["conform", "trace", "/nowhere", good])
    #expect(result.status == 2)
    #expect(result.output != "")
    #expect(result.errors == "reprise: /nowhere: no such file; check the path\n")
  }

  @Test func endsWithTwoWhenNothingWasJudged() throws {
    let words = ["conform", "trace", "--spec", "rfc6455", good]
    let empty = try RepriseProcess.run(words)
    #expect(empty.status == 2)
    #expect(empty.output.hasPrefix("rfc6455: 0 of "))
    #expect(empty.output.contains(" clauses had anything to judge\n"))
    #expect(empty.errors.hasPrefix("reprise: nothing was judged: "))
    #expect(empty.errors.hasSuffix("or add --allow-empty\n"))
    let allowed = try RepriseProcess.run(words + ["--allow-empty"])
    #expect(allowed.status == 0 && allowed.output == empty.output && allowed.errors == "")
  }

  @Test func reportsNothingWhenNoFileCanBeRead() throws {
    let result = try RepriseProcess.run(["conform", "trace", "/nowhere"])
    #expect(result.status == 2)
    #expect(result.output == "")
  }

  @Test func judgesAllRecordingsOfADirectory() throws {
    let nothing = try RepriseProcess.run(["conform"], directory: scratch.directory)
    #expect(nothing.status == 2)
    #expect(nothing.errors.hasPrefix("reprise: there is no directory Recordings here; "))
    try scratch.write("notes", to: "Recordings/b/README.md")
    let empty = try RepriseProcess.run(["conform"], directory: scratch.directory)
    #expect(
      empty.errors.hasPrefix(
        "reprise: Recordings: no capture and no recording is in this folder; "))
    try scratch.write(SampleRecording.text, to: "Recordings/b/capture.jsonl")
    try scratch.write(SampleRecording.text + Self.wildcard, to: "Recordings/a.jsonl")
    let result = try RepriseProcess.run(
      ["conform", "--format=json"], directory: scratch.directory)
    #expect(result.status == 1)
    #expect(
      result.output.contains(#""inputs":["Recordings/a.jsonl","Recordings/b/capture.jsonl"]"#))
  }

  @Test func keepsItsVerdictWhenItsReaderGoes() throws {
    let file = RepriseProcess.quoted(bad)
    let result = try RepriseProcess.shell(
      "$reprise conform trace --format json \(file) | true; echo ${PIPESTATUS[0]}")
    #expect(result.output == "1\n")
    #expect(result.errors == "")
  }

  @Test func listsAndExplains() throws {
    let list = try RepriseProcess.run(["conform", "list", "--spec", "mqtt-3.1.1", "3.8"])
    #expect(list.status == 0)
    #expect(list.output.hasPrefix("MQTT-3.8.1-1 "))
    let explanation = try RepriseProcess.run(["conform", "explain", "mqtt-3.8.3-3"])
    #expect(explanation.status == 0)
    #expect(explanation.output.hasPrefix("MQTT-3.8.3-3 "))
    let section = try RepriseProcess.run(["conform", "explain", "mqtt-3.1.1/3.8.3"])
    let listed = try RepriseProcess.run(["conform", "list", "mqtt-3.1.1/3.8.3"])
    #expect(section.status == 0 && section.output == listed.output)
    #expect(section.output.split(separator: "\n").count > 3)
  }

  @Test(arguments: [
    (["explain", "MQTT-3.8.3-33"], "no clause or section is called MQTT-3.8.3-33; nearest: "),
    (["explain", "MQTT-QoS"], "no clause or section is called MQTT-QoS; nearest: "),
    (
      ["explain", "reserved bits"],
      "no clause or section is called reserved bits; 6 clauses speak of it: MQTT-2.2.2-1, "
        + "MQTT-3.14.1-1, MQTT-3.8.3-5, ...; type reprise conform list to see all that there are\n"
    ),
    (["list", "--spec", "mqtt-9"], "there is no catalogue of mqtt-9; "),
    (["list", "9.9"], "no clause or section is called 9.9; "),
    (["trace", "--clause", "9.9", "file"], "no clause or section is called 9.9; "),
    (["trcae", "x"], "unknown command 'conform trcae'; did you mean reprise conform trace? "),
    (["client"], "no client is named; type -- COMMAND with {port} in it"),
    (["--strict", "trace"], "conform trace needs FILE... or --interface NAME; "),
  ])
  func saysInOneLineWhatIsWrong(words: [String], start: String) throws {
    let result = try RepriseProcess.run(["conform"] + words)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("reprise: " + start))
    #expect(result.errors.count { $0 == "\n" } == 1)
  }
}
