import Foundation
import TestSupport
import Testing

/// Recordings of scenarios of which some are damaged.
struct DamagedScenarios {
  private static let recordings = PackageFolder.recordings.appending(path: "sdk")

  let scratch = Scratch()

  /// Copies the recordings and captures of some scenarios.
  init(_ scenarios: [String]) throws {
    for name in scenarios.flatMap({ ["\($0).jsonl", "\($0).pcap"] }) { try restore(name) }
    for system in ["channel", "link", "requests"] { try restore("\(system)/session.json") }
  }

  /// Copies a file as it was recorded.
  func restore(_ name: String) throws {
    let bytes = [UInt8](try Data(contentsOf: Self.recordings.appending(path: name)))
    try scratch.write(bytes, to: "sdk/\(name)")
  }

  /// Writes something else in the place of a text of a recording.
  func change(_ name: String, _ old: String, _ new: String) throws {
    let text = try scratch.read("sdk/\(name)")
    try #require(text.contains(old))
    try scratch.write(text.replacing(old, with: new), to: "sdk/\(name)")
  }

  func run(_ words: [String]) throws -> RepriseProcess.Result {
    try RepriseProcess.run(words, directory: scratch.directory)
  }

  func judge(_ words: String...) throws -> RepriseProcess.Result {
    try run(["conform", "sdk", "--recordings", "sdk"] + words)
  }
}

/// Parts of the scenarios, run apart and joined.
@Suite struct ScenarioShardTests {
  private static let names = [
    "channel/publish", "channel/request", "channel/start", "channel/stop", "channel/topics",
    "link/link-login", "link/link-logout", "requests/ask", "requests/push",
  ]

  /// Scenarios of which two fail, a step of another does that shows no clause, one is cut, and one has no capture.
  private func damaged() throws -> DamagedScenarios {
    let files = try DamagedScenarios(Self.names)
    try files.change("channel/publish.jsonl", "app/up/a", "app/up/b")
    try files.change("link/link-login.jsonl", "ann/1/up/login", "ann/1/up/enter")
    try files.change("channel/topics.jsonl", #""username":"topics&a1pk""#, #""username":"x&a1pk""#)
    let cut = try Data(
      contentsOf: files.scratch.directory.appending(path: "sdk/channel/request.pcap"))
    try files.scratch.write([UInt8](cut.prefix(cut.count / 2)), to: "sdk/channel/request.pcap")
    try FileManager.default.removeItem(atPath: files.scratch.file("sdk/channel/start.pcap"))
    return files
  }

  private let words = names.compactMap { $0.split(separator: "/").last.map(String.init) }

  @Test(arguments: ["json", "text", "junit", "sarif", "html", "markdown", "github", "tap"])
  func partsAreTogetherTheWhole(format: String) throws {
    let files = try damaged()
    let command = ["conform", "sdk", "--recordings", "sdk"] + words
    let whole = try files.run(command + ["--format", format])
    #expect(whole.status == 2)
    let statuses = try (1...3).map { part in
      try files.run(command + ["--shard", "\(part)/3", "-f", "json", "-o", "\(part).json"]).status
    }
    #expect(Set(statuses).contains(1) || Set(statuses).contains(2))
    let merged = try files.run(
      ["report", "merge", "3.json", "1.json", "2.json", "--format", format])
    #expect(merged.status == 2)
    #expect(merged.output == whole.output)
    // What a run notes of files it notes when it reads them.
    let errors = whole.errors.split(separator: "\n").filter { !$0.contains(": note: ") }
    #expect(merged.errors.split(separator: "\n") == errors && errors.count == 2)
  }

  @Test func theReportIsTheSameHoweverManyAreRunAtATime() throws {
    let files = try damaged()
    let command = ["conform", "sdk", "--recordings", "sdk", "--client", "script,file,capture"]
    let results = try ["1", "2", "7"].map {
      try files.run(command + words + ["--jobs", $0, "--format", "json"])
    }
    #expect(results.allSatisfy { $0.status == 2 && $0.output.contains(#""outcome":"failed""#) })
    #expect(Set(results.map(\.output)).count == 1 && Set(results.map(\.errors)).count == 1)
  }

  private func list(_ words: String...) throws -> [Substring] {
    try RepriseProcess.run(["conform", "sdk", "--list"] + words).output.split(separator: "\n")
      .compactMap { $0.split(separator: " ").first }
  }

  @Test(arguments: [1, 4, 50])
  func eachScenarioIsInOnePart(count: Int) throws {
    let all = try list()
    #expect(all.count > 200)
    let parts = try (1...count).map { try list("--shard", "\($0)/\(count)") }
    #expect(parts.joined().sorted() == all.sorted())
    #expect(parts.allSatisfy { part in all.filter(Set(part).contains) == part })
    // None has much more to do than others.
    if count == 4 { #expect(parts.allSatisfy { $0.count > all.count / 8 }) }
  }

  @Test func othersDecideNothing() throws {
    let part = Set(try list("--shard", "2/3"))
    let links = try list("link")
    #expect(try list("link", "--shard", "2/3") == links.filter(part.contains))
    #expect(!part.isDisjoint(with: links) && !part.isSuperset(of: links))
  }

  @Test func aPartOfNothingCanBeJoined() throws {
    let files = try DamagedScenarios(["channel/publish"])
    let empty = try #require(
      try (1...2).first { try list("publish", "--shard", "\($0)/2").isEmpty })
    let none = try files.judge("publish", "--shard", "\(empty)/2", "-f", "json", "-o", "0.json")
    #expect(none.status == 0)
    #expect(none.errors == "reprise: --shard: note: none of the scenarios is of this part\n")
    let rest = try files.judge(
      "publish", "--shard", "\(3 - empty)/2", "-f", "json", "-o", "1.json")
    #expect(rest.status == 0 && rest.errors == "")
    let merged = try files.run(["report", "merge", "0.json", "1.json"])
    #expect(merged.status == 0)
    #expect(try merged.output == files.judge("publish").output)
    let alone = try files.run(["report", "merge", "1.json"])
    #expect(alone.status == 2 && alone.output == "")
    #expect(
      alone.errors
        == "reprise: 1.json: it is part \(3 - empty) of 2, of which \(empty) is missing; "
        + "name its report as well\n")
  }

  @Test func reportsOfOneSortBelongTogether() throws {
    let files = try DamagedScenarios(["channel/publish", "channel/stop"])
    #expect(try files.judge("publish", "-f", "json", "-o", "a.json").status == 0)
    #expect(try files.judge("publish", "stop", "-f", "json", "-o", "b.json").status == 0)
    try files.scratch.write(SampleRecording.text, to: "c.jsonl")
    #expect(
      try files.run(["conform", "trace", "c.jsonl", "-f", "json", "-o", "c.json"]).status == 0)
    for (words, error) in [
      (
        ["report", "merge", "a.json", "b.json"],
        "b.json: the scenario publish in file was run in a.json as well; run each scenario in one part only"
      ),
      (
        ["report", "merge", "a.json", "c.json"],
        "c.json: it is on captures and recordings, and a.json on scenarios; join reports of one sort"
      ),
      (
        ["report", "compare", "c.json", "a.json"],
        "a.json: it is on scenarios, and c.json on captures and recordings; compare reports of one sort"
      ),
    ] {
      let result = try files.run(words)
      #expect(result.status == 2 && result.output == "")
      #expect(result.errors == "reprise: \(error)\n")
    }
    try files.change("channel/publish.jsonl", "app/up/a", "app/up/b")
    #expect(try files.judge("publish", "-f", "json", "-o", "d.json").status == 1)
    let worse = try files.run(["report", "compare", "a.json", "d.json"])
    #expect(worse.status == 1)
    #expect(worse.output.hasPrefix("Worse\n  sdk/SDK-channel-40: passed → failed\nNew findings\n"))
    #expect(try files.run(["report", "compare", "d.json", "a.json"]).status == 0)
    #expect(try files.run(["report", "badge", "d.json"]).output.contains(">1 failed<"))
  }

  @Test func partsOfFilesAreKnownToBeParts() throws {
    let files = try DamagedScenarios([])
    try files.scratch.write(SampleRecording.text, to: "c.jsonl")
    let part = try #require(
      try (1...2).first { part in
        let words = ["conform", "trace", "c.jsonl", "--shard", "\(part)/2", "-f", "json"]
        let result = try files.run(words)
        try files.scratch.write(result.output, to: "\(part).json")
        return result.output.contains(#""inputs":["c.jsonl"]"#)
      })
    let alone = try files.run(["report", "merge", "\(part).json"])
    #expect(alone.status == 2 && alone.output == "")
    #expect(
      alone.errors
        == "reprise: \(part).json: it is part \(part) of 2, of which \(3 - part) is missing; "
        + "name its report as well\n")
  }

  @Test(arguments: [
    (["--shard=4/3"], "--shard can't be '4/3'; type which part of how many, counted from 1: 3/16"),
    (["--jobs", "0"], "--jobs can't be '0'; type a whole number, 1 or more: 1000"),
    (
      ["-o", "sdk/channel/publish.jsonl"],
      "sdk/channel/publish.jsonl: it is one of the files to read; name another"
    ),
  ])
  func saysWhatIsWrong(words: [String], message: String) throws {
    let files = try DamagedScenarios(["channel/publish"])
    let result = try files.run(["conform", "sdk", "publish", "--recordings", "sdk"] + words)
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors == "reprise: \(message)\n")
  }
}
