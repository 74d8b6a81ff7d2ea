import Testing

@testable import Capture

/// Where the clock of a capture was set, as connections show it, and which others it concerns.
@Suite struct ClockStepsTests {
  private static let second: Int64 = 1_000_000_000

  /// Segments at 0, 10, 11 and 40 s: two pauses.
  private func steps(shown: [(Int64, Int64)]) -> ClockSteps {
    var steps = ClockSteps()
    for (earlier, time) in [(0, 10), (10, 11), (11, 40)] as [(Int64, Int64)] {
      steps.take(time * Self.second, behind: earlier * Self.second)
    }
    for (from, to) in shown { steps.note(from: from * Self.second, to: to * Self.second) }
    return steps
  }

  @Test(
    arguments: [
      // What shows it, and whether one that is open from and to is concerned.
      ([(0, 10)], 0, 40, true), ([(0, 10)], 9, 40, true), ([(0, 10)], 10, 40, false),
      ([(0, 10)], 0, 1, true), ([(11, 40)], 0, 11, false), ([(11, 40)], 0, 12, true),
      // One that shows it for longer than there was nothing, and one that shows it for less.
      ([(0, 40)], 10, 11, false), ([(0, 40)], 10, 12, true), ([(0, 9)], 0, 40, false),
      ([(1, 40)], 0, 11, false), ([], 0, 40, false),
    ] as [([(Int64, Int64)], Int64, Int64, Bool)])
  func concernsWhatWasOpen(shown: [(Int64, Int64)], from: Int64, to: Int64, isSet: Bool) {
    let steps = steps(shown: shown)
    #expect(steps.isSet(from: from * Self.second, to: to * Self.second) == isSet)
  }

  /// A pause of two seconds is none yet.
  @Test(arguments: [(2_000_000_000, false), (2_000_000_001, true)] as [(Int64, Bool)])
  func leavesOutWhatIsShort(pause: Int64, isSet: Bool) {
    var steps = ClockSteps()
    steps.take(pause, behind: 0)
    steps.note(from: 0, to: pause)
    #expect(steps.isSet(from: 0, to: pause) == isSet)
  }

  /// Of more pauses than are kept those go first in which no clock was set.
  @Test func keepsThoseThatWereSet() {
    var steps = ClockSteps()
    steps.take(10 * Self.second, behind: 0)
    steps.note(from: 0, to: 10 * Self.second)
    for place in 1...200 as ClosedRange<Int64> {
      steps.take((place + 1) * 10 * Self.second, behind: place * 10 * Self.second)
    }
    #expect(steps.isSet(from: 0, to: 10 * Self.second))
    // The oldest of the others is forgotten, the latest is not.
    steps.note(from: 0, to: 3_000 * Self.second)
    #expect(!steps.isSet(from: 11 * Self.second, to: 20 * Self.second))
    #expect(steps.isSet(from: 2_001 * Self.second, to: 2_010 * Self.second))
  }
}
