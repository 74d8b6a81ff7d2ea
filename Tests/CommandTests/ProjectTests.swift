import Foundation
import RepriseCore
import TestSupport
import Testing

/// `reprise conform` in a project: this one, whose recordings show mistakes of others that are accepted.
@Suite struct ProjectTests {
  private static func run(_ words: [String]) throws -> RepriseProcess.Result {
    try RepriseProcess.run(["conform", "-q"] + words, directory: PackageFolder.url)
  }

  private static func report(_ words: [String]) throws -> (Int32, JSONValue) {
    let result = try run(words + ["--format", "json"])
    #expect(result.errors == "")
    return (result.status, try #require(JSONValue(parsing: Array(result.output.utf8))))
  }

  private static func specs(_ report: JSONValue) -> Set<String> {
    Set(report["clauses"]?.elements?.compactMap { $0["spec"]?.text } ?? [])
  }

  @Test func judgesRecordingsAndScenarios() throws {
    let loud = try RepriseProcess.run(["conform", "-o", "/dev/null"], directory: PackageFolder.url)
    #expect(loud.status == 0 && loud.errors == "")
    let (status, report) = try Self.report([])
    #expect(status == 0)
    #expect(Self.specs(report) == ["mqtt-3.1.1", "mqtt-5.0", "rfc6455", "sdk"])
    let ends = report["scenarios"]?.elements?.compactMap { $0["outcome"]?.text } ?? []
    #expect(ends.count == 542 && Set(ends) == ["passed"])
    #expect(report["totals"]?["failed"]?.integer == 0)
    #expect((report["totals"]?["accepted"]?.integer ?? 0) > 100)
    #expect(report["baseline"]?["remarks"]?.elements == [])
    let inputs = report["inputs"]?.elements?.compactMap(\.text) ?? []
    #expect(inputs.contains("Recordings/sdk/channel/publish.pcap"))
    #expect(inputs.contains("Recordings/account-bind/capture.pcap"))
  }

  /// Each finding in a recording of ours has somebody who has looked at it.
  @Test func acceptsNothingWithoutAReason() throws {
    let text = try Data(contentsOf: PackageFolder.recordings.appending(path: "accepted.json"))
    let baseline = try #require(JSONValue(parsing: [UInt8](text)))
    let entries = try #require(baseline["accepted"]?.elements)
    #expect(entries.count > 200)
    for entry in entries {
      #expect((entry["reason"]?.text ?? "").count > 20, "\(entry)")
    }
  }

  /// What is not accepted fails, and what is accepted in vain is told.
  @Test func failsByWhatIsNotAccepted() throws {
    let scratch = Scratch()
    let text = try String(
      contentsOf: PackageFolder.recordings.appending(path: "accepted.json"), encoding: .utf8)
    var lines = text.split(separator: "\n")
    let removed = try #require(lines.firstIndex { $0.contains("/MQTT-4.7.2-1\"") })
    lines.remove(at: removed)
    let extra = lines[1].replacing("\"subject\":\"a client\"", with: "\"subject\":\"a server\"")
    lines.insert(Substring(extra), at: 1)
    try scratch.write(lines.joined(separator: "\n"), to: "accepted.json")
    let (status, report) = try Self.report([
      "--spec", "mqtt-3.1.1", "--baseline", scratch.file("accepted.json"),
    ])
    #expect(status == 1)
    let failed = report["clauses"]?.elements?.filter { $0["verdict"]?.text == "failed" } ?? []
    #expect(failed.compactMap { $0["id"]?.text } == ["MQTT-4.7.2-1"])
    let remarks = report["baseline"]?["remarks"]?.elements ?? []
    let ofThisRun = remarks.filter { $0["clause"]?.text?.hasPrefix("mqtt-3.1.1/") == true }
    #expect(ofThisRun.compactMap { $0["line"]?.integer } == [2])
  }

  private static let choices: [([String], Set<String>)] = [
    (["--spec", "sdk"], ["sdk"]),
    (["--spec", "rfc6455"], ["rfc6455"]),
    (["--spec", "sdk,rfc6455"], ["rfc6455", "sdk"]),
    (["--clause", "SDK-link-3"], ["sdk"]),
    (["--clause", "MQTT-3.8.3-3"], ["mqtt-3.1.1", "mqtt-5.0"]),
    (["--clause", "2.3"], ["mqtt-3.1.1", "sdk"]),
    (["--clause", "2.3", "--spec", "mqtt-3.1.1"], ["mqtt-3.1.1"]),
    (["--subject", "server", "--spec", "mqtt-5.0"], ["mqtt-5.0"]),
  ]

  @Test(arguments: choices)
  func judgesByTheClausesThatAreAskedFor(_ words: [String], _ specs: Set<String>) throws {
    let (status, report) = try Self.report(words)
    #expect(status == 0, "\(words)")
    #expect(Self.specs(report) == specs)
    #expect((report["scenarios"] != nil) == specs.contains("sdk"))
    #expect((report["protocols"] != nil) == !specs.isSubset(of: ["sdk"]))
  }

  private static let mistakes: [([String], String)] = [
    (
      ["--spec", "sdk", "--client", "c"],
      "--client is about connections, and the clauses of the SDK are about scenarios; leave out "
    ),
    (["--clause", "SDK-linc-3"], "no clause or section is called SDK-linc-3; nearest: "),
    (
      ["--spec", "sdk", "--clause", "SDK-linc-3"],
      "no clause or section is called SDK-linc-3; nearest: SDK-link-3,"
    ),
    (
      ["trace", "--spec", "sdk", "x.pcap"],
      "the clauses of the SDK are judged by its scenarios, not by captures; type reprise conform sdk"
    ),
  ]

  @Test(arguments: mistakes)
  func saysWhatCanNotBeJudged(_ words: [String], _ message: String) throws {
    let result = try Self.run(words)
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors.hasPrefix("reprise: \(message)"), "\(result.errors)")
  }

  /// A folder that has few of the scenarios, or something else, keeps nobody from the verdict on what is there.
  @Test func runsTheScenariosThatAreRecorded() throws {
    let scratch = Scratch()
    let folder = URL(filePath: scratch.file("Recordings/sdk/channel"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["publish.jsonl", "publish.pcap", "session.json"] {
      try FileManager.default.copyItem(
        at: PackageFolder.recordings.appending(path: "sdk/channel/\(name)"),
        to: folder.appending(path: name))
    }
    let few = try RepriseProcess.run(
      ["conform", "--format", "json"], directory: scratch.directory)
    #expect(few.status == 0)
    #expect(
      few.errors
        == "reprise: Recordings/sdk: note: 270 scenarios of the SDK have no recording there, and are "
        + "not run; --spec sdk asks for all\n")
    let report = try #require(JSONValue(parsing: Array(few.output.utf8)))
    let ends = report["scenarios"]?.elements?.compactMap { $0["outcome"]?.text }
    #expect(ends == ["passed", "passed"])
    let own = Scratch()
    try own.write(SampleRecording.text, to: "Recordings/sdk/own.jsonl")
    let other = try RepriseProcess.run(["conform", "-f", "json"], directory: own.directory)
    #expect(other.status == 0 && other.errors == "")
    #expect(!other.output.contains("\"scenarios\":"))
    let all = try RepriseProcess.run(
      ["conform", "--spec", "sdk"], directory: scratch.directory)
    #expect(all.status == 2)
    #expect(all.errors.contains("Recordings/sdk/channel/back-off.jsonl: no such file"))
  }

  /// Parts for several machines, joined, are the run on all.
  @Test func partsAreTogetherTheWhole() throws {
    let scratch = Scratch()
    let folder = URL(filePath: scratch.file("Recordings"))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["sdk", "account-bind", "rabbitmq-topics-v311", "keep-alive-ping"] {
      try FileManager.default.copyItem(
        at: PackageFolder.recordings.appending(path: "\(name)"), to: folder.appending(path: name))
    }
    func run(_ words: [String]) throws -> RepriseProcess.Result {
      try RepriseProcess.run(words, directory: scratch.directory)
    }
    let whole = try run(["conform", "-q", "--format", "json"])
    #expect(whole.status == 1 && whole.errors == "")
    let parts = (1...3).map { "\($0).json" }
    for (index, path) in parts.enumerated() {
      let part = ["--shard", "\(index + 1)/3", "--format", "json", "-o", path]
      let result = try run(["conform", "-q"] + part)
      #expect(result.errors == "" && [0, 1].contains(result.status))
    }
    let merged = try run(["report", "merge"] + parts.reversed() + ["--format", "json"])
    #expect(merged.status == 1 && merged.errors == "")
    #expect(merged.output == whole.output)
    let missing = try run(["report", "merge"] + parts.dropLast())
    #expect(missing.status == 2 && missing.errors.contains("is missing"))
    let trace = try run(["conform", "trace", "-q", "-f", "json", "-o", "t.json", "Recordings"])
    #expect(trace.status == 1)
    let compared = try run(["report", "compare", "1.json", "t.json"])
    #expect(
      compared.errors
        == "reprise: t.json: it is on captures and recordings, and 1.json on the recordings of a "
        + "project and on scenarios; compare reports of one sort\n")
    let same = try run(["report", "compare", "1.json", "1.json"])
    #expect(same.status == 0 && same.output == "no difference\n")
  }
}
