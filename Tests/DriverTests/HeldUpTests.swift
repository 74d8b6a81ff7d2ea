import Glibc
import RepriseCore
import Testing

@testable import Driver

/// What is noted where the driver could not look at what came.
@Suite("A driver that is held up")
struct HeldUpTests {
  /// A world in which nothing happens until it is told that a case is over.
  private final class Silence: CaseWorld {
    var interests: [pollfd] { [] }
    var wakeTime: Timestamp? { nil }

    func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp) {}
    func goOn(_ now: Timestamp) {}
    func value(of name: Substring) -> JSONValue? { nil }
    func perform(
      _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
    ) throws(DriverError) -> CaseProgress { .done }
    func leave(_ now: Timestamp) -> CaseWait { .time(until: now) }
    func breakOff(_ now: Timestamp) {}
  }

  /// What comes of a case whose sockets were looked at after so many milliseconds each time.
  private static func result(turns: [Int]) throws -> CaseResult {
    let text =
      #"{"name":"x","title":"t","clauses":["c"],"steps":[{"do":"wait","seconds":600}],"seconds":600}"#
    let driven = try #require(try CaseLibrary.read(Array(text.utf8), .webSocket, "f.json").first)
    let plan = try #require(CasePlan.plans(of: driven, in: []).first)
    var now = Timestamp(nanoseconds: 1_000_000_000)
    let recorder = CaseRecorder(of: plan, "", by: "test", at: now)
    let run = CaseRun(plan, 0, Silence(), recorder, at: now)
    var buffer: [UInt8] = []
    for turn in turns {
      now = now.advanced(by: .milliseconds(turn))
      run.service([], &buffer, now)
    }
    run.breakOff(now)
    return run.result(recorder.finish(now))
  }

  @Test("The longest time between two looks counts, wherever it is")
  func longest() throws {
    for turns in [[100, 100, 1_001], [1_001, 100, 100], [100, 1_001, 900]] {
      let held = try Self.result(turns: turns)
      #expect(held.heldUp == .milliseconds(1_001))
      #expect(held.isHeldUp)
    }
  }

  @Test("Many short times between looks are none that is long")
  func short() throws {
    let result = try Self.result(turns: Array(repeating: 1_000, count: 90))
    #expect(result.heldUp == .seconds(1))
    #expect(!result.isHeldUp)
    #expect(result.outcome == .done)
  }
}
