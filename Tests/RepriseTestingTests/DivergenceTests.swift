import RepriseCore
import Testing

@testable import RepriseTesting

/// What a test is told that does something else than its recording has, and at which line.
@Suite struct DivergenceTests {
  /// A file of the folder of recordings, as messages name it.
  private static func path(_ name: String, _ source: String = #filePath) -> String {
    source.replacing("DivergenceTests.swift", with: "Recordings/\(name)")
  }

  /// The lines at which a call may be told that only the stack tells: of code that is optimized the stack lacks some.
  private static func lines(_ call: Int, in test: Test) -> ClosedRange<Int> {
    #if DEBUG
      call...call
    #else
      test.sourceLocation.line...call
    #endif
  }

  @Test func anotherActionIsToldAtTheCall() async throws {
    let test = try #require(Test.current)
    let told = try await ToldIssues.running(.replay("lamp")) {
      var lamp = Lamp(try TestClient.current)
      _ = try await lamp.obey(["on", "blue"])
    }
    let lines = Self.lines(#line - 2, in: test)
    #expect(told.issues.map(\.line).allSatisfy(lines.contains))
    #expect(
      told.issues.map(\.text) == [
        """
        the replay diverged: the session has another action here
          at:       frame 11, connection 1, 2026-01-01T00:00:00.000000Z
          expected: PUBLISH home/lamp, QoS 1, payload {"utf8":"off"}
          actual:   PUBLISH home/lamp, QoS 1, payload {"utf8":"blue"}
          differs:  payload from byte 0: expected 6f 66 66, actual 62 6c 75 65
          differs:  payload length: expected 3, actual 4
          next:     reprise inspect \(Self.path("lamp.jsonl")) --filter 'connection == 1 and \
        frame >= 6 and frame <= 16'
          or:       if payloads don't matter: match .topic (reprise replay sdk --match topic)
          or:       if the application is right: record the session anew
          record:   REPRISE_RECORD=all swift test --filter anotherActionIsToldAtTheCall
        """
      ])
    #expect(told.issues.map(\.isFailure) == [true] && told.thrown == nil)
  }

  @Test func sayingThatPayloadsDoNotMatterMakesItNone() async throws {
    let told = try await ToldIssues.running(.replay("lamp", match: .topic)) {
      var lamp = Lamp(try TestClient.current)
      #expect(try await lamp.obey(["on", "blue"]) == ["on", "off"])
    }
    #expect(told == ToldIssues())
  }

  @Test func aCallOfTheTestItselfIsToldThere() async throws {
    let told = try await ToldIssues.running(.replay("lamp")) {
      let client = try TestClient.current
      let other = ConnectOptions(clientID: "other")
      try await client.perform(ClientAction(.init(rawValue: 1), .connect(other)))
    }
    #expect(told.issues.map(\.line) == [#line - 2] && told.thrown == nil)
    let text = try #require(told.issues.first?.text)
    #expect(text.contains(#"actual:   CONNECT as "other","#))
  }

  @Test func aStepIsToldOfWhatAnotherTaskDoes() async throws {
    let told = try await ToldIssues.running(.replay("lamp")) {
      let client = try TestClient.current
      try await client.step {
        try await Task {
          var lamp = Lamp(client)
          _ = try await lamp.obey(["blue"])
        }.value
      }
    }
    #expect(told.issues.map(\.line) == [#line - 7] && told.thrown == nil)
  }

  @Test(arguments: [1, 2]) func ofSeveralStepsNoneIsTold(_ count: Int) async throws {
    let test = try #require(Test.current)
    let told = try await ToldIssues.running(.replay("lamp")) {
      let client = try TestClient.current
      try await client.step {
        guard count == 2 else { return try await Lamp.obeyApart(client) }
        try await client.step { try await Lamp.obeyApart(client) }
      }
    }
    #expect(told.issues.map(\.line) == [count == 1 ? #line - 5 : test.sourceLocation.line])
    #expect(told.thrown == nil)
  }

  @Test func aTaskOfNoTestIsToldAtTheTest() async throws {
    let test = try #require(Test.current)
    let options = ReplayOptions(actors: .readerOnly)
    let told = try await ToldIssues.running(.replay("lamp", options: options)) {
      let client = try TestClient.current
      _ = try await Task.detached { try await client.next(before: nil) }.value
    }
    #expect(told.issues.map(\.line) == [test.sourceLocation.line] && told.thrown == nil)
  }

  @Test func whatIsLeftOverIsToldAtTheTest() async throws {
    let test = try #require(Test.current)
    let told = try await ToldIssues.running(.replay("lamp")) {
      _ = try TestClient.current
    }
    #expect(
      told
        == ToldIssues(issues: [
          .init(
            line: test.sourceLocation.line, isFailure: true,
            text: """
              the replay ended before the session did
                at:       frame 3, connection 1, 2026-01-01T00:00:00.000000Z
                expected: CONNECT as "lamp", cleanStart true, keepAlive 60
                actual:   12 events are left over, the first is this
                next:     reprise inspect \(Self.path("lamp.jsonl")) --filter 'connection == 1 and \
              frame >= 1 and frame <= 8'
                record:   REPRISE_RECORD=all swift test --filter whatIsLeftOverIsToldAtTheTest
              """)
        ]))
  }

  @Test func finishingTellsItAtItsOwnLine() async throws {
    let told = try await ToldIssues.running(.replay("lamp")) {
      try TestClient.current.finish()
    }
    #expect(told.issues.map(\.line) == [#line - 2] && told.thrown == nil)
  }

  @Test func anErrorOfTheAppIsNotReplaced() async throws {
    struct Broken: Error {}
    let told = try await ToldIssues.running(.replay("lamp")) { throw Broken() }
    // What it left over is no news then.
    #expect(told == ToldIssues(thrown: "Broken()"))
  }

  @Test func anErrorAfterADivergenceIsToldBesides() async throws {
    struct Broken: Error {}
    let told = try await ToldIssues.running(.replay("lamp")) {
      let client = try TestClient.current
      try await client.step {
        var lamp = Lamp(client)
        do { _ = try await lamp.obey(["blue"]) } catch { throw Broken() }
      }
    }
    #expect(told.issues.count == 1 && told.thrown == "Broken()")
  }

  @Test(.replay("lamp")) func knownIssuesMayDiverge() async throws {
    try await withKnownIssue("The lamp knows no colours yet.") {
      var lamp = Lamp(try TestClient.current)
      _ = try await lamp.obey(["on", "blue"])
    } matching: { issue in
      (issue.error as? DataClientError)?.code == .diverged
    }
  }

  @Test func aTranscriptThatIsAnotherIsToldAtItsLine() async throws {
    let told = try await ToldIssues.running(.replay("lamp")) {
      let client = try TestClient.current
      var lamp = Lamp(client)
      _ = try await lamp.obey(["on", "off"])
      client.expect(
        transcript: client.transcript.joined(separator: "\n")
          .replacing("home/lamp qos 1 \"off\"", with: "home/lamp qos 0 \"off\""))
    }
    #expect(
      told.issues == [
        .init(
          line: #line - 4, isFailure: true,
          text: """
            the test saw something else (- expected, + actual):
              → PUBLISH home/lamp qos 1 "on"
              ← message home/lamp qos 1 "on"
            - → PUBLISH home/lamp qos 0 "off"
            - ← message home/lamp qos 0 "off"
            + → PUBLISH home/lamp qos 1 "off"
            + ← message home/lamp qos 1 "off"
              → DISCONNECT
              ← closed by the user
            """)
      ])
  }

  @Test func outsideOfATestThereIsNoClient() async throws {
    #expect(throws: CassetteError.self) { try TestClient.current }
  }
}
