import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import ConformanceKit

@Suite struct ScenarioTests {
  static let all = (try? ScenarioSuite.bundled().scenarios) ?? []
  private static let scripted = all.filter { $0.cloud == nil }.map(\.name)

  @Test(arguments: scripted)
  func happensLineByLine(name: String) async throws {
    let scenario = try scenario(name)
    let outcome = try await scenario.run(in: ScriptedWorld())
    #expect(outcome.findings.isEmpty, "\(outcome.findings)")
    #expect(outcome.transcript == scenario.steps.map(\.expected))
  }

  @Test(arguments: scripted)
  func happensAgainFromItsRecording(name: String) async throws {
    let scenario = try scenario(name)
    let world = try RecordedWorld(ScriptedWorld(for: scenario.system))
    let first = try await scenario.run(in: world)
    let second = try await scenario.run(in: ReplayWorld(world.replay()))
    #expect(second.findings.isEmpty, "\(second.findings)")
    #expect(second.transcript == first.transcript)
  }

  @Test(arguments: all.map(\.name), ["jsonl", "pcap"])
  func happensAgainFromTheRecordingsOfThePackage(name: String, ending: String) async throws {
    let scenario = try scenario(name)
    let world = try RecordedScenarios.world(of: scenario, ending)
    let outcome = try await scenario.run(in: world)
    #expect(outcome.findings.isEmpty, "\(outcome.findings)")
    #expect(outcome.transcript == scenario.steps.map(\.expected))
  }

  @Test(arguments: Scenario.System.allCases, ["jsonl", "pcap"])
  func everyScenarioIsRecorded(system: Scenario.System, ending: String) throws {
    let names = Self.all.filter { $0.system == system }.map(\.name).sorted()
    #expect(try RecordedScenarios.names(of: system, ending) == names)
  }

  /// A recording shows no secret and no signature, and is replayed all the same; captures show what was
  /// made with secrets that were made up.
  @Test(arguments: all.map(\.name))
  func hidesSecrets(name: String) throws {
    let text = try RecordedScenarios.text(of: scenario(name))
    let shown = /(?i)(sign|signature|devicesecret|password|iottoken|token)\\?":\\?"(?!\*\*\*)/
    #expect(text.firstMatch(of: shown) == nil)
  }

  @Test func repeatsStepsWithTheirNumber() throws {
    let repeated = ScenarioStep.steps([
      "repeat": 2, "from": 7,
      "steps": [["wait": 1, "expect": ["+1 {i}"]], ["cloud": "sends", "payload": ["a": "#{i}"]]],
    ])
    #expect(
      repeated == [
        ScenarioStep(["wait": 1, "expect": ["+1 7"]]),
        ScenarioStep(["cloud": "sends", "payload": ["a": "#7"]]),
        ScenarioStep(["wait": 1, "expect": ["+1 8"]]),
        ScenarioStep(["cloud": "sends", "payload": ["a": "#8"]]),
      ])
    #expect(ScenarioStep.steps(["wait": 1]) == [ScenarioStep(["wait": 1])])
  }

  @Test func noticesALineThatIsMissing() async throws {
    let outcome = try await scenario("publish").expecting([]).run(in: ScriptedWorld())
    #expect(outcome.findings.count == 4)
    let first = try #require(outcome.findings.first)
    #expect(first.step == 1 && first.action == "call start" && first.expected == "nothing")
    #expect(first.actual == "CONNECT {client} | state connecting")
  }

  @Test func stopsWhereTheCloudCannotAnswer() async throws {
    let scenario = try Scenario(
      [
        "name": "odd", "title": "", "clauses": [],
        "steps": [["cloud": "accepts"], ["call": "start"]],
      ], of: .channel)
    let outcome = try await scenario.run(in: ScriptedWorld())
    #expect(outcome.findings.map(\.message) == ["the subject has no CONNECT open"])
    #expect(outcome.transcript.count == 1)
  }

  @Test func saysWhatASessionHasThatDidNotHappen() async throws {
    let world = try RecordedWorld(ScriptedWorld())
    _ = try await scenario("publish").run(in: world)
    let short = try scenario("publish").upTo(step: 3)
    let outcome = try await short.run(in: ReplayWorld(world.replay()))
    let finding = try #require(outcome.findings.first)
    #expect(finding.step == 4)
    #expect(finding.message.contains("the replay diverged: the session has another action here"))
  }

  @Test func endsWithItsTask() async throws {
    let scenario = try scenario("publish")
    await withThrowingTaskGroup(of: ScenarioOutcome.self) { group in
      group.addTask { try await scenario.run(in: DeadWorld()) }
      group.cancelAll()
      await #expect(throws: CancellationError.self) { _ = try await group.next() }
    }
  }

  // MARK: The files

  @Test func bundlesEveryFile() throws {
    for system in Scenario.System.allCases {
      let folder = Self.folder.appending(path: system.rawValue)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".json") }.sorted()
      let bundled = Self.all.filter { $0.system == system }
      #expect(bundled.map { $0.name + ".json" }.sorted() == files)
      for scenario in bundled {
        let file = folder.appending(path: scenario.name + ".json")
        let value = try JSONValue.read(Array(try Data(contentsOf: file)))
        #expect(try Scenario(value, of: system) == scenario, "build anew: \(scenario.name) is old")
      }
    }
    #expect(Self.all.count >= 34)
  }

  @Test func bindsEveryScenarioToClauses() throws {
    let ids = Set(try ScenarioSuite.bundled().catalogue.clauses.map(\.id))
    #expect(Set(Self.all.map(\.name)).count == Self.all.count, "names are those of one scenario")
    for scenario in Self.all {
      #expect(!scenario.clauses.isEmpty && !scenario.title.isEmpty)
      #expect(ids.isSuperset(of: scenario.clauses), "\(scenario.name) names a foreign clause")
      #expect(scenario.steps.allSatisfy { $0.summary != "nothing" })
    }
  }

  @Test func bindsEveryClauseToAScenarioThatSaysSo() throws {
    let used = Set(Self.all.flatMap(\.clauses))
    for system in Scenario.System.allCases {
      let file = Self.folder.appending(path: "\(system.rawValue).json")
      let value = try JSONValue.read(Array(try Data(contentsOf: file)))
      guard case .array(let clauses) = value else {
        Issue.record("\(system) has no catalogue")
        continue
      }
      for (index, clause) in clauses.enumerated() {
        let id = clause["id"]?.text ?? "-"
        let check = clause["check"]?.text ?? ""
        #expect(id == "SDK-\(system.rawValue)-\(index + 1)")
        #expect(check.hasPrefix("scenario") == used.contains(id), "\(id) says \(check)")
      }
      #expect(clauses.count >= 50)
    }
  }

  @Test func namesTestsThatThereAre() throws {
    let clauses = try ScenarioSuite.bundled().catalogue.clauses.filter { $0.status == .tested }
    #expect(clauses.count == 57)
    let tests = try Self.testNames()
    for clause in clauses {
      let words = try #require(clause.check?.split(separator: " "), "\(clause.id)")
      #expect(words.prefix(3) == ["by", "the", "tests"])
      #expect(words.count > 3)
      for word in words.dropFirst(3) {
        let name = String(word.prefix { $0 != "," })
        if !tests.contains(name) { Issue.record("\(clause.id) names \(name)") }
      }
    }
    #expect(!tests.contains("ScenarioTests.isNoTest"))
    #expect(!tests.contains("ScenarioTests.testNames"))
  }

  /// `SUITE.TEST` of each test in the sources.
  private static func testNames() throws -> Set<String> {
    var names: Set<String> = []
    let files = FileManager.default.enumerator(
      at: PackageFolder.url.appending(path: "Tests"), includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      var suite: Substring?
      // The attribute stands before the function, on its line or on lines of its own.
      var isTest = false
      for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
        if let declared = line.firstMatch(of: /(?:struct|class|extension) (\w+Tests)\b/)?.1 {
          suite = declared
        }
        if line.contains(/^ *(@MainActor )?@Test\b/) { isTest = true }
        if let suite, let test = line.firstMatch(of: /\bfunc (\w+)\(/)?.1 {
          if isTest { names.insert("\(suite).\(test)") }
          isTest = false
        }
      }
    }
    return names
  }

  private static let folder = PackageFolder.url.appending(path: "Conformance/sdk")

  private func scenario(_ name: String) throws -> Scenario {
    try #require(Self.all.first { $0.name == name })
  }
}

extension Scenario {
  /// The same with other lines for every step.
  func expecting(_ lines: [String]) throws -> Scenario {
    try changed { step in
      var members = step.filter { $0.key != "expect" }
      members.append(JSONMember("expect", .array(lines.map(JSONValue.string))))
      return members
    }
  }

  /// The first steps.
  func upTo(step count: Int) throws -> Scenario {
    try Scenario(
      [
        "name": .string(name), "title": "", "clauses": shown(by: steps.prefix(count)),
        "configuration": configuration, "steps": .array(steps.prefix(count).map(\.fields)),
      ], of: system)
  }

  private func changed(_ change: ([JSONMember]) -> [JSONMember]) throws -> Scenario {
    let steps = steps.map { step -> JSONValue in
      guard case .object(let members) = step.fields else { return step.fields }
      return .object(change(members))
    }
    return try Scenario(
      [
        "name": .string(name), "title": "", "clauses": .array(clauses.map(JSONValue.string)),
        "configuration": configuration, "steps": .array(steps),
      ], of: system)
  }

  /// The clauses that steps show.
  private func shown(by steps: ArraySlice<ScenarioStep>) -> JSONValue {
    let shown = Set(steps.flatMap(\.binding.clauses))
    return .array(clauses.filter(shown.contains).map(JSONValue.string))
  }
}
