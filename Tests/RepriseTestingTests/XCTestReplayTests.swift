import CloudSimulator
import Foundation
import TestSupport
import Testing
import XCTest

@testable import RepriseTesting

/// What a test of XCTest is told that does something else than its recording has.
@Suite(.serialized) struct XCTestReplayTests {
  /// Runs a test of XCTest on a thread of its own, as it blocks the one that it runs on.
  /// - Returns: Its failures, with their lines.
  private static func failures(
    _ body: @escaping @Sendable (XCTestCase) async throws -> Void
  ) async -> [Failure] {
    await withCheckedContinuation { continuation in
      let thread = Thread {
        let watch = Watch()
        let test = XCTestCase(name: "inner") { test in
          // What the process was started with, as by a server of continuous integration, decides nothing here.
          try asyncTest { (test: XCTestCase) in
            { try await Surroundings.$replaced.withValue([:]) { try await body(test) } }
          }(test)()
        }
        XCTestObservationCenter.shared.addTestObserver(watch)
        test.run()
        XCTestObservationCenter.shared.removeTestObserver(watch)
        continuation.resume(returning: watch.failures)
      }
      thread.start()
    }
  }

  struct Failure: Sendable, Equatable {
    var line: Int
    var text: String
  }

  private final class Watch: XCTestObservation {
    var failures: [Failure] = []
    func testBundleWillStart(_ testBundle: Bundle) {}
    func testBundleDidFinish(_ testBundle: Bundle) {}
    func testSuiteWillStart(_ testSuite: XCTestSuite) {}
    func testSuiteDidFinish(_ testSuite: XCTestSuite) {}
    func testCaseWillStart(_ testCase: XCTestCase) {}
    func testCaseDidFinish(_ testCase: XCTestCase) {}
    func testCase(
      _ testCase: XCTestCase, didFailWithDescription description: String, inFile file: String?,
      atLine line: Int
    ) {
      failures.append(Failure(line: line, text: description))
    }
  }

  @Test func anotherActionFailsItOnceAtItsLine() async {
    let failures = await Self.failures { test in
      try await test.replaying("lamp") { client in
        try await client.step {
          var lamp = Lamp(client)
          _ = try await lamp.obey(["blue"])
        }
      }
    }
    #expect(failures.map(\.line) == [#line - 6])
    let text = failures.first?.text ?? ""
    #expect(text.hasPrefix("failed - the replay diverged: the session has another action here\n"))
    #expect(
      text.hasSuffix(
        "\n  record:   REPRISE_RECORD=all swift test --filter 'XCTestCase.inner'"))
  }

  @Test func whatIsLeftOverFailsItAtItsLine() async {
    let failures = await Self.failures { test in
      try await test.replaying("lamp") { _ in }
    }
    #expect(failures.map(\.line) == [#line - 2])
    let start = "failed - the replay ended before the session did\n"
    #expect(failures.first?.text.hasPrefix(start) ?? false)
  }

  @Test func anErrorOfTheAppFailsItByItself() async {
    struct Broken: Error {}
    let failures = await Self.failures { test in
      try await test.replaying("lamp") { _ in throw Broken() }
    }
    #expect(failures.map(\.text) == ["threw error \"Broken()\""])
  }

  @Test(arguments: [false, true]) func aTestThatFailedIsNotRecorded(_ fails: Bool) async throws {
    let folder = Scratch()
    let failures = await Self.failures { test in
      try await test.replaying(
        "lamp", mode: .once, in: folder.path, on: { InProcessBroker().client(named: "lamp") }
      ) { client in
        var lamp = Lamp(client)
        _ = try await lamp.obey(["on"])
        if fails { XCTFail("not like this") }
      }
    }
    #expect(failures.map(\.text) == (fails ? ["failed - not like this"] : []))
    #expect(folder.files == (fails ? [] : ["lamp.jsonl"]))
  }
}
