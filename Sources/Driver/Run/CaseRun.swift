import Glibc
import RepriseCore

/// A case while it is run: its world, its recording, and the step that it is at.
///
/// Everything in it happens on the driver's thread, and nothing waits: a step that has to is gone on with when what it
/// waits for has come, or its time is over. That something did not come is no failure of the case: the clauses say
/// what it means.
final class CaseRun<World: CaseWorld> {
  let plan: CasePlan
  /// The number of the run among all.
  let index: Int
  let world: World
  let recorder: CaseRecorder
  private var position = 0
  private var wait: CaseWait?
  /// When it has taken too long.
  private let end: Timestamp
  /// What stands in the way of its steps; nil as long as nothing does.
  private(set) var trouble: DriverError?
  /// Whether its time was over before its steps were.
  private(set) var isLate = false
  private(set) var isOver = false
  private var isEnding = false
  /// When its sockets were last looked at.
  private var lastTurn: Timestamp
  /// How long they were not looked at, at most.
  private(set) var heldUp = Duration.zero

  /// Prepares a case.
  /// - Parameters:
  ///   - plan: What is run.
  ///   - index: The number of the run among all.
  ///   - world: What does its steps.
  ///   - recorder: Keeps what is said, which the world has as well.
  ///   - now: The time.
  init(_ plan: CasePlan, _ index: Int, _ world: World, _ recorder: CaseRecorder, at now: Timestamp)
  {
    (self.plan, self.index, self.world, self.recorder) = (plan, index, world, recorder)
    end = now.advanced(by: .seconds(plan.driven.seconds))
    lastTurn = now
  }

  /// The sockets to wait for.
  var interests: [pollfd] { world.interests }

  /// When there is something to do, whatever comes until then.
  var deadline: Timestamp {
    [world.wakeTime, wait?.until].compactMap(\.self).reduce(end, min)
  }

  /// Does what sockets are ready for, and goes on as far as it can.
  /// - Parameters:
  ///   - events: What `poll` said of each of its interests.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp) {
    heldUp = max(heldUp, .nanoseconds(now.nanoseconds(since: lastTurn)))
    lastTurn = now
    world.service(events, &buffer, now)
    advance(now)
  }

  /// Goes on as far as it can.
  func advance(_ now: Timestamp) {
    world.goOn(now)
    while !isOver {
      if let wait {
        guard isDone(wait, now) || now >= end else { return }
        self.wait = nil
      }
      // An end that is left then does not go of itself.
      if isEnding { return breakOff(now) }
      if now >= end {
        isLate = true
        return breakOff(now)
      }
      guard position < plan.steps.count else {
        isEnding = true
        wait = world.leave(now)
        continue
      }
      step(now)
    }
  }

  private func step(_ now: Timestamp) {
    let step = plan.steps[position]
    position += 1
    do throws(DriverError) {
      switch try perform(step, step.filled(find), now) {
      case .done: break
      case .waiting(let wait): self.wait = wait
      case .again(let wait):
        self.wait = wait
        position -= 1
      }
    } catch {
      trouble = error
      breakOff(now)
    }
    if recorder.isFull {
      trouble = DriverError(.refused, "it said more than \(CaseRecorder.limit >> 20) MiB")
      breakOff(now)
    }
  }

  private func perform(
    _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    guard step.action == .wait else { return try world.perform(step, fields, now) }
    return .waiting(.time(until: now.advanced(by: try fields.seconds(orElse: 1))))
  }

  private func find(_ name: Substring) -> JSONValue? {
    plan.value(of: name) { plan.versionValue($0) ?? world.value(of: $0) }
  }

  private func isDone(_ wait: CaseWait, _ now: Timestamp) -> Bool {
    if wait.isOver() { return true }
    guard now >= wait.until else { return false }
    guard let next = wait.proof?(now) else { return true }
    self.wait = next
    return false
  }

  /// What came of it, once it is over.
  /// - Parameter recording: What was said.
  /// - Returns: What came of it.
  func result(_ recording: [UInt8]) -> CaseResult {
    let outcome: CaseResult.Outcome =
      trouble.map { .stopped($0.message) } ?? (isLate ? .late : .done)
    return CaseResult(plan, outcome, recording, heldUp: heldUp)
  }

  /// Breaks everything off.
  func breakOff(_ now: Timestamp) {
    world.breakOff(now)
    (isEnding, isOver, wait) = (true, true, nil)
  }
}
