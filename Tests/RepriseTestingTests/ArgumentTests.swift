import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import RepriseTesting

/// A recording for each case of a parameterised test, named the same in every run.
@Suite struct ArgumentTests {
  private static let live: @Sendable () async throws -> any DataClient = {
    InProcessBroker().client(named: "lamp")
  }

  /// As users write it: the recordings lie beside this file.
  @Test(.replay("order", on: live), arguments: ["on", "dim 50%"])
  func eachArgumentHasItsRecording(_ order: String) async throws {
    var lamp = Lamp(try TestClient.current)
    #expect(try await lamp.obey([order]) == [order])
  }

  enum Room: String, CaseIterable { case kitchen, bath }

  struct Shade: Sendable, CustomTestStringConvertible {
    var level: Int
    var testDescription: String { "shade \(level)" }
  }

  private func files(_ testCase: Test.Case?) async throws -> [String] {
    let folder = Scratch()
    let told = try await ToldIssues.running(
      .replay("lamp", mode: .once, in: folder.path, on: Self.live), as: testCase
    ) {
      var lamp = Lamp(try TestClient.current)
      _ = try await lamp.obey([])
    }
    #expect(told == ToldIssues())
    return folder.files
  }

  @Test(arguments: Room.allCases) func aRawValueNamesIt(_ room: Room) async throws {
    #expect(try await files(.current) == ["lamp-\(room.rawValue).jsonl"])
  }

  @Test(arguments: [Shade(level: 1), Shade(level: 20)])
  func aDescriptionForTestsNamesIt(_ shade: Shade) async throws {
    // What can't stand in the name of a file is replaced, and a hash tells it from what has the same name then.
    let hash = shade.level == 1 ? "e62c417d" : "92a3f41c"
    #expect(try await files(.current) == ["lamp-shade-\(shade.level)-\(hash).jsonl"])
  }

  @Test(arguments: zip([1, -2], [true, false]))
  func severalArgumentsNameItInTheirOrder(_ number: Int, _ flag: Bool) async throws {
    #expect(try await files(.current) == ["lamp-\(number),\(flag).jsonl"])
  }

  @Test(arguments: [1...3], [String?.none, "a"])
  func rangesAndOptionalsHaveNames(_ range: ClosedRange<Int>, _ text: String?) async throws {
    #expect(try await files(.current) == ["lamp-1-...-3-33c98bb7,\(text ?? "nil").jsonl"])
  }

  final class Nameless: Sendable {}

  @Test(arguments: [Nameless()]) func anArgumentWithoutANameIsTold(_ argument: Nameless)
    async throws
  {
    let told = try await ToldIssues.running(.replay("lamp"), as: .current) {}
    #expect(
      told.thrown == """
        lamp: an argument of type Nameless has no name that is the same in every run; let the type conform to \
        CustomTestStringConvertible
        """)
  }

  @Test(arguments: [
    ("a", "a"), ("A-b_c.9", "A-b_c.9"), ("", "811c9dc5"), ("..", "a3d4a70d"),
    ("a/b", "a-b-3a8e75c1"),
    ("a b", "a-b-10a3f9f2"), ("licht-ä", "licht-ä"), (".hidden", "hidden-4747f185"),
  ])
  func partsOfNamesAreThoseOfFiles(_ text: String, _ expected: String) {
    #expect(ArgumentName.part(text) == expected)
  }

  @Test func longTextsAreCutAndStayApart() {
    let long = String(repeating: "a", count: 100)
    let parts = [ArgumentName.part(long + "1"), ArgumentName.part(long + "2")]
    #expect(parts[0] != parts[1] && parts.allSatisfy { $0.count == 69 })
  }
}

/// A suite's trait gives each of its tests a recording of its own, named after the test.
@Suite(.replay { InProcessBroker().client(named: "lamp") }) struct SuiteTraitTests {
  @Test func turnsOnInASuite() async throws {
    var lamp = Lamp(try TestClient.current)
    #expect(try await lamp.obey(["on"]) == ["on"])
  }

  @Test func turnsOffInASuite() async throws {
    var lamp = Lamp(try TestClient.current)
    #expect(try await lamp.obey(["off"]) == ["off"])
  }
}
