import Foundation
import TestSupport
import Testing

@Suite struct ConformSDKCommandTests {
  /// The recordings of this package.
  private static let recordings = PackageFolder.path("Recordings/sdk")

  private let scratch = Scratch()
  /// How many clauses the catalogues have of which scenarios judge.
  private let judged: Int
  /// How many clauses the catalogues have.
  private let clauses: Int

  init() throws {
    let catalogues = PackageFolder.url.appending(path: "Conformance/sdk")
    var entries: [[String: Any]] = []
    for system in try FileManager.default.contentsOfDirectory(
      at: catalogues, includingPropertiesForKeys: [.isDirectoryKey])
    where try system.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
      let data = try Data(contentsOf: system.appendingPathExtension("json"))
      entries += try #require(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }
    clauses = entries.count
    judged = entries.count { ($0["check"] as? String)?.contains("scenario") == true }
    try #require(judged >= 43)
  }

  private func sdk(_ words: String...) throws -> RepriseProcess.Result {
    try RepriseProcess.run(["conform", "sdk"] + words)
  }

  @Test func judgesRecordingsAndCaptures() throws {
    let result = try sdk("--recordings", Self.recordings, "--client", "script,file,capture")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.hasPrefix("sdk: \(judged) of \(clauses) clauses checked\n"))
  }

  @Test func judgesTheCasesThatAreNamed() throws {
    let result = try sdk("publish", "topics", "--client", "script", "--format", "json")
    #expect(result.status == 0)
    let report = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let object = try #require(report as? [String: Any])
    #expect(object["inputs"] as? [String] == ["script"])
    let clauses = try #require(object["clauses"] as? [[String: Any]])
    let passed = clauses.filter { $0["verdict"] as? String == "passed" }
    #expect(
      passed.compactMap { $0["id"] as? String } == [
        "SDK-channel-21", "SDK-channel-22", "SDK-channel-40",
      ])
    #expect(clauses.count { $0["verdict"] as? String == "not-exercised" } == judged - passed.count)
  }

  @Test(arguments: [
    ["--broker", "mqtt://127.0.0.1"], ["--save", "x"], ["--speed", "2"], ["--gate", "127.0.0.1"],
    ["--client", "file,capture", "--broker", "mqtt://127.0.0.1"],
  ])
  func saysWhatIsForLiveAlone(words: [String]) throws {
    let result = try RepriseProcess.run(["conform", "sdk", "publish"] + words)
    #expect(result.status == 2)
    #expect(result.output == "")
    let option = words.count > 2 ? "--broker" : words[0]
    #expect(result.errors == "reprise: \(option) is for --client live; add --client live\n")
  }

  @Test func judgesRequestsLiveWithoutABroker() throws {
    let result = try sdk("ask", "server-hangs-up", "--client", "live", "--format", "json")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let report = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let object = try #require(report as? [String: Any])
    #expect(object["inputs"] as? [String] == ["live"])
  }

  @Test func failsWhenTheSessionIsAnother() throws {
    for name in ["channel/publish.jsonl", "channel/session.json"] {
      let file = URL(filePath: Self.recordings).appending(path: name)
      try scratch.write(Array(try Data(contentsOf: file)), to: name)
    }
    let changed = try scratch.read("channel/publish.jsonl").replacing("app/up/a", with: "app/up/b")
    try scratch.write(changed, to: "channel/publish.jsonl")
    let result = try sdk(
      "publish", "--client", "file", "--recordings", scratch.directory.path, "--format", "json")
    #expect(result.status == 1)
    #expect(result.output.contains(#""scenario":"publish","step":4,"action":"call publish""#))
    #expect(result.output.contains("level 7: expected b, actual a"))
    let text = try sdk("publish", "--client", "file", "--recordings", scratch.directory.path)
    // The recording's line and connection, as the replay expected another topic there.
    #expect(
      text.output.contains(
        "publish.jsonl scenario publish, step 4, call publish, frame 7, connection 1, 2026-"))
    #expect(text.errors == "")
  }

  /// A session that is not whole accuses nobody.
  @Test(arguments: [("jsonl", "file"), ("pcap", "capture")])
  func tellsThatASessionIsCut(_ ending: String, _ world: String) throws {
    let name = "channel/publish.\(ending)"
    let whole = try Data(contentsOf: URL(filePath: Self.recordings).appending(path: name))
    let file = try scratch.write(Array(whole.prefix(whole.count / 2)), to: name)
    let result = try sdk(
      "publish", "--client", world, "--recordings", scratch.directory.path)
    #expect(result.status == 2)
    #expect(result.errors.hasPrefix("reprise: \(file.path): note: "), "\(result.errors)")
    #expect(result.errors.contains("ends inside"), "\(result.errors)")
    #expect(!result.output.contains("\nFailed\n"))
    #expect(
      result.output.contains(
        "SDK-channel-40  not reached: the scenario could not be run to its end\n"))
  }

  @Test func tellsWhyADescriptionOfRecordingsCannotBeRead() throws {
    let folder = scratch.directory.path
    try scratch.write([], to: "channel/session.json/file")
    let result = try sdk("publish", "--client", "file", "--recordings", folder)
    #expect(result.status == 2)
    #expect(
      result.errors.hasSuffix("\(folder)/channel/session.json: is a directory; check the path\n"))
  }

  @Test func reportsOnTheOthersWhenARecordingIsMissing() throws {
    let file = URL(filePath: Self.recordings).appending(path: "channel/publish.pcap")
    try scratch.write(Array(try Data(contentsOf: file)), to: "channel/publish.pcap")
    let folder = scratch.directory.path
    let result = try sdk("publish", "start", "--client=capture", "--recordings", folder)
    #expect(result.status == 2)
    #expect(
      result.errors == "reprise: \(folder)/channel/start.pcap: no such file; check the path\n")
    #expect(result.output.contains("sdk: \(judged) of \(clauses) clauses checked"))
  }

  @Test func listsScenariosAndTheirClauses() throws {
    let all = try sdk("--list")
    #expect(all.status == 0 && all.output.count { $0 == "\n" } >= 42)
    let some = try sdk("--list", "--clause", "SDK-channel-40")
    #expect(some.output.hasPrefix("publish  A message at QoS 1 is done with its PUBACK.  SDK-ch"))
    let clauses = try RepriseProcess.run(["conform", "list", "--spec", "sdk", "1.5"])
    #expect(clauses.status == 0 && clauses.output.hasPrefix("SDK-channel-27 "))
    let clause = try RepriseProcess.run(["conform", "explain", "SDK-channel-40"])
    #expect(clause.output.contains("by the scenarios publish, topics"))
  }

  @Test(arguments: [
    (["pubish"], "no scenario is called pubish; did you mean publish?; type reprise conform sdk "),
    (["--clause", "9.9"], "no clause or section is called 9.9; "),
    (
      ["--clause", "SDK-channel-1"],
      "no scenario is bound to SDK-channel-1, which tests of the SDK judge; type reprise conform sdk "
    ),
    (
      ["publish", "--clause", "SDK-channel-9"],
      "none of the scenarios that were named is bound to SDK-channel-9; type reprise conform sdk "
    ),
    (["--client", "wire"], "--client can't be 'wire'; it takes one of: script, "),
    (["--client", "live"], "--client live needs a broker; add --broker mqtt://127.0.0.1:1883"),
    (["ask", "publish", "--client", "live"], "--client live needs a broker; add --broker mqtt"),
    (["--gate", "10.0.0.1"], "--gate can't be '10.0.0.1'; type a loopback address such as "),
    (["--speed", "0"], "--speed can't be '0'; type a whole number from 1 to 1000"),
    (["--recordings", "/nowhere"], "there is no folder /nowhere with recordings of the "),
    (
      ["--client", "live", "--broker", "mqtts://127.0.0.1"],
      "--broker mqtts://127.0.0.1: the gate reads what the broker answers, so it can't be encrypted"
    ),
    (["--client", "live", "--broker", "mqtt://127.0.0.1:1"], "--broker mqtt://127.0.0.1:1: "),
    (["--client", "live", "--broker", "http://a"], "--broker http://a: "),
  ])
  func saysInOneLineWhatIsWrong(words: [String], start: String) throws {
    let result = try RepriseProcess.run(["conform", "sdk"] + words)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(result.errors.hasPrefix("reprise: " + start), "\(result.errors)")
    #expect(result.errors.count { $0 == "\n" } == 1)
  }

  @Test func optionsMayStandInFrontOfTheSecondWord() throws {
    let result = try RepriseProcess.run(["conform", "--strict", "sdk", "nothing"])
    #expect(result.errors.hasPrefix("reprise: no scenario is called nothing"))
  }
}
