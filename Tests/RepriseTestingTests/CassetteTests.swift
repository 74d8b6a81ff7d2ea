import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import RepriseTesting

/// A recording where there is no trait.
@Suite struct CassetteTests {
  private static func cassette(
    _ folder: Scratch, _ mode: RecordingMode, isLive: Bool = true
  ) throws -> Cassette {
    try Surroundings.$replaced.withValue([:]) {
      guard isLive else { return try Cassette("lamp", record: mode, in: folder.path) }
      return try Cassette("lamp", record: mode, in: folder.path) {
        InProcessBroker().client(named: "lamp")
      }
    }
  }

  /// Runs a lamp outside of any test, as a program does.
  private static func run(_ cassette: Cassette, _ orders: [String]) async throws -> [String] {
    try await Task.detached {
      try await cassette.withClient { client in
        var lamp = Lamp(client)
        return try await lamp.obey(orders)
      }
    }.value
  }

  @Test func recordsOnceAndReplaysThen() async throws {
    let folder = Scratch()
    let cassette = try Self.cassette(folder, .once)
    #expect(cassette.mode == .once && cassette.path == "\(folder.path)/lamp.jsonl")
    #expect(try await Self.run(cassette, ["on"]) == ["on"])
    #expect(folder.files == ["lamp.jsonl"])
    #expect(try await Self.run(try Self.cassette(folder, .none, isLive: false), ["on"]) == ["on"])
  }

  @Test func liesBesideTheFileThatNamesIt() throws {
    let cassette = try Cassette("lamp")
    #expect(cassette.path.hasSuffix("/Tests/RepriseTestingTests/Recordings/lamp.jsonl"))
  }

  @Test func outsideOfATestADivergenceIsThrown() async throws {
    let folder = Scratch()
    _ = try await Self.run(try Self.cassette(folder, .once), ["on", "off"])
    let other = await #expect(throws: DataClientError.self) {
      try await Self.run(try Self.cassette(folder, .none), ["on", "dim"])
    }
    #expect(other?.code == .diverged)
    let shorter = await #expect(throws: DataClientError.self) {
      try await Task.detached {
        try await Self.cassette(folder, .none).withClient { _ in }
      }.value
    }
    #expect(shorter?.message.hasPrefix("the replay ended before the session did") ?? false)
    #expect(shorter?.message.hasSuffix("record:   REPRISE_RECORD=all and this again") ?? false)
    // Even where the app took it in hand.
    let handled = await #expect(throws: DataClientError.self) {
      try await Task.detached {
        try await Self.cassette(folder, .none).withClient { client in
          var lamp = Lamp(client)
          _ = try? await lamp.obey(["dim"])
        }
      }.value
    }
    #expect(handled?.code == .diverged)
  }

  @Test func outsideOfATestAnotherServerIsThrown() async throws {
    let folder = Scratch()
    _ = try await Self.run(try Self.cassette(folder, .once), ["on"])
    #expect(try await Self.run(try Self.cassette(folder, .verify), ["on"]) == ["on"])
    let error = await #expect(throws: CassetteError.self) {
      try await Self.run(try Self.cassette(folder, .verify), ["dim"])
    }
    #expect(error?.code == .differs)
  }

  @Test func newRunsTwiceWhatDiverges() async throws {
    let folder = Scratch()
    _ = try await Self.run(try Self.cassette(folder, .once), ["on"])
    #expect(try await Self.run(try Self.cassette(folder, .new), ["dim"]) == ["dim"])
    #expect(try await Self.run(try Self.cassette(folder, .none), ["dim"]) == ["dim"])
  }

  /// In a test the run that is given up is no issue.
  @Test func newTellsNothingOfTheFirstRun() async throws {
    let folder = Scratch()
    _ = try await Self.run(try Self.cassette(folder, .once), ["on"])
    let told = try await ToldIssues.gathering {
      try await Self.cassette(folder, .new).withClient { client in
        var lamp = Lamp(client)
        _ = try await lamp.obey(["dim"])
      }
    }
    #expect(told == ToldIssues())
    #expect(try folder.read("lamp.jsonl").contains("dim"))
  }

  @Test func inATestADivergenceIsAnIssueAtItsLine() async throws {
    let told = try await ToldIssues.gathering {
      try await Cassette("lamp").withClient { client in
        await client.step {
          var lamp = Lamp(client)
          _ = try? await lamp.obey(["dim"])
        }
      }
    }
    #expect(told.issues.map(\.line) == [#line - 6] && told.thrown == nil)
  }

  @Test func aTestMayHaveSeveral() async throws {
    try await Cassette("lamp").withClient { first in
      try await Cassette("order-on").withClient { second in
        var (one, other) = (Lamp(first), Lamp(second))
        let heard = (try await other.obey(["on"]), try await one.obey(["on", "off"]))
        #expect(heard == (["on"], ["on", "off"]))
      }
    }
  }
}
