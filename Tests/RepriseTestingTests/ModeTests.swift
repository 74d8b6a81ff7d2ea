import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import RepriseTesting

/// What each mode does with a recording that is missing, is there, or is another one.
@Suite struct ModeTests {
  private static func live() -> @Sendable () async throws -> any DataClient {
    { InProcessBroker().client(named: "lamp") }
  }

  /// How a mode is said.
  enum Saying: CaseIterable { case inCode, byEnvironment }

  private static func run(
    _ mode: RecordingMode, _ saying: Saying, in folder: String, _ orders: String...
  ) async throws -> ToldIssues {
    let code: RecordingMode = saying == .inCode ? mode : .none
    let variables = saying == .inCode ? [:] : ["REPRISE_RECORD": mode.rawValue, "CI": "true"]
    return try await ToldIssues.running(
      .replay("lamp", mode: code, in: folder, on: live()), variables
    ) {
      // A step has a line that needs no stack to be looked through.
      let client = try TestClient.current
      let heard = try await client.step {
        var lamp = Lamp(client)
        return try await lamp.obey(orders)
      }
      #expect(heard == orders)
    }
  }

  @Test(arguments: RecordingMode.allCases, Saying.allCases)
  func withoutARecording(_ mode: RecordingMode, _ saying: Saying) async throws {
    let folder = Scratch()
    let told = try await Self.run(mode, saying, in: folder.path, "on")
    switch mode {
    case .none, .verify:
      #expect(folder.files == [])
      #expect(
        told
          == ToldIssues(
            thrown: """
              \(folder.path)/lamp.jsonl: there is no such recording; make it by REPRISE_RECORD=once swift test \
              --filter withoutARecording
              """))
    case .once, .new, .all:
      #expect(told == ToldIssues())
      #expect(folder.files == ["lamp.jsonl"])
      // What was recorded is replayed without a client.
      let again = try await ToldIssues.running(.replay("lamp", in: folder.path), [:]) {
        #expect(try TestClient.current.isReplaying)
        var lamp = Lamp(try TestClient.current)
        #expect(try await lamp.obey(["on"]) == ["on"])
      }
      #expect(again == ToldIssues())
    }
  }

  @Test(arguments: RecordingMode.allCases, Saying.allCases)
  func withTheRecording(_ mode: RecordingMode, _ saying: Saying) async throws {
    let folder = Scratch()
    _ = try await Self.run(.all, .inCode, in: folder.path, "on")
    // A word that no recorder writes shows whether the file was written.
    let marked = try folder.read("lamp.jsonl").replacing(
      #""redacted""#, with: #""mark":1,"redacted""#)
    try folder.write(marked, to: "lamp.jsonl")
    let told = try await Self.run(mode, saying, in: folder.path, "on")
    #expect(told == ToldIssues())
    #expect(try folder.read("lamp.jsonl").contains("mark") == (mode != .all))
    #expect(folder.files == ["lamp.jsonl"])
  }

  @Test(arguments: RecordingMode.allCases, Saying.allCases)
  func withAnotherRecording(_ mode: RecordingMode, _ saying: Saying) async throws {
    let folder = Scratch()
    _ = try await Self.run(.all, .inCode, in: folder.path, "on", "off")
    let recorded = try folder.read("lamp.jsonl")
    let told = try await Self.run(mode, saying, in: folder.path, "on", "dim")
    let isReplaced = mode == .new || mode == .all
    #expect(try folder.read("lamp.jsonl").contains("dim") == isReplaced)
    #expect(try folder.read("lamp.jsonl").contains("off") != isReplaced)
    #expect(folder.files == ["lamp.jsonl"])
    switch mode {
    case .new, .all: #expect(told == ToldIssues())
    case .none, .once:
      #expect(told.thrown == nil && told.issues.map(\.isFailure) == [true])
      #expect(told.issues.first?.text.hasPrefix("the replay diverged:") ?? false)
      #expect(try folder.read("lamp.jsonl") == recorded)
    case .verify:
      let test = try #require(Test.current)
      #expect(try folder.read("lamp.jsonl") == recorded)
      #expect(
        told
          == ToldIssues(issues: [
            .init(
              line: test.sourceLocation.line, isFailure: true,
              text: """
                \(folder.path)/lamp.jsonl: the live run is another than the recorded one (- recorded, + now)
                  → CONNECT lamp
                  → DISCONNECT
                - → PUBLISH home/lamp qos 1 "off"
                + → PUBLISH home/lamp qos 1 "dim"
                  → PUBLISH home/lamp qos 1 "on"
                  → SUBSCRIBE home/lamp qos 1
                  ← message home/lamp qos 1 "on"
                - ← message home/lamp qos 1 "off"
                + ← message home/lamp qos 1 "dim"
                  record:   REPRISE_RECORD=all swift test --filter withAnotherRecording
                """)
          ]))
    }
  }

  /// What is left over makes a recording another one, too.
  @Test func newRecordsWhatIsShorterNow() async throws {
    let folder = Scratch()
    _ = try await Self.run(.all, .inCode, in: folder.path, "on", "off")
    let told = try await ToldIssues.running(
      .replay("lamp", mode: .new, in: folder.path, on: Self.live())
    ) {
      try await TestClient.current.perform(
        ClientAction(.init(rawValue: 1), .connect(.init(clientID: "lamp"))))
    }
    #expect(told == ToldIssues())
    #expect(try !folder.read("lamp.jsonl").contains("PUBLISH"))
  }

  /// What fails before anything diverges fails in the first of both runs.
  @Test func newKeepsWhatFailedBefore() async throws {
    let folder = Scratch()
    _ = try await Self.run(.all, .inCode, in: folder.path, "on")
    let told = try await ToldIssues.running(
      .replay("lamp", mode: .new, in: folder.path, on: Self.live())
    ) {
      if try TestClient.current.isReplaying { Issue.record("before") }
      var lamp = Lamp(try TestClient.current)
      _ = try await lamp.obey(["dim"])
    }
    #expect(told.issues.map(\.text) == ["before"] && told.thrown == nil)
  }

  @Test(
    arguments: [
      (nil, nil, .once), (nil, "true", .none), (nil, "1", .none), (nil, "false", .once),
      (nil, "0", .once), (nil, "", .once), ("", "true", .none), ("all", "true", .all),
      ("verify", nil, .verify), ("none", nil, .none),
    ] as [(String?, String?, RecordingMode)])
  func theEnvironmentIsAboveTheCode(
    _ variable: String?, _ ci: String?, _ expected: RecordingMode
  ) throws {
    var environment: [String: String] = [:]
    environment["REPRISE_RECORD"] = variable
    environment["CI"] = ci
    #expect(try RecordingMode.resolved(.once, environment) == expected)
  }

  @Test func aModeThatIsNoneIsTold() async throws {
    let told = try await ToldIssues.running(.replay("lamp"), ["REPRISE_RECORD": "always"]) {}
    #expect(
      told.thrown
        == "REPRISE_RECORD: \"always\" is no mode of recording; it is one of none, once, new, all, verify"
    )
  }

  @Test func withoutALiveClientNothingIsRecorded() async throws {
    let folder = Scratch()
    let told = try await ToldIssues.running(.replay("lamp", mode: .once, in: folder.path)) {}
    #expect(
      told.thrown == """
        \(folder.path)/lamp.jsonl: there is no live client to record from; name one by on: { … }, or replay by \
        REPRISE_RECORD=none
        """)
  }

  @Test func aCaptureIsNotRecorded() async throws {
    let folder = Scratch()
    let told = try await ToldIssues.running(
      .replay("lamp.pcap", mode: .once, in: folder.path, on: Self.live())
    ) {}
    #expect(
      told.thrown
        == "\(folder.path)/lamp.pcap: a capture can't be recorded by a test; name a recording, without .pcap"
    )
  }
}
