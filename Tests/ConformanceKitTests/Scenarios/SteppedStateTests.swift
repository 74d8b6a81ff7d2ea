import RepriseCore
import Testing

@testable import ConformanceKit

/// What a stepped client lets through, and when.
@Suite final class SteppedStateTests {
  private static let start = Timestamp(nanoseconds: 1_000_000_000)
  private var state = SteppedState(now: start, patience: nil)

  private static func moment(_ seconds: Int64) -> Timestamp {
    Timestamp(nanoseconds: start.nanoseconds + seconds * 1_000_000_000)
  }

  private func message(_ payload: UInt8, qos: QoS = .atLeastOnce) -> Message {
    Message(topic: "t", payload: [payload], qos: qos)
  }

  /// What the reader is told; nil when it has to ask the world or to wait.
  private func told(
    before deadline: Timestamp? = nil, at moment: Timestamp = start
  ) -> ClientEvent? {
    guard case .tell(let event) = state.move(deadline, at: moment) else { return nil }
    return event
  }

  private func performed(_ kind: ClientAction.Kind) -> Bool {
    state.take(ClientAction(ClientAction.ID(rawValue: 1), kind))
  }

  @Test func nothingComesThatNobodyPermitted() {
    state.take(.connected(.init()))
    #expect(told() == nil && state.isIdle)
    state.begin(.events(1), at: Self.start)
    #expect(!state.isIdle)
    #expect(told() == .connected(.init()))
    #expect(told() == nil && state.isIdle)
  }

  @Test func whatIsWrittenWithoutAReceiptIsToldAtOnce() {
    let id = ClientAction.ID(rawValue: 1)
    #expect(performed(.publish(Message(topic: "t", payload: []))))
    guard case .read(nil) = state.move(Self.moment(1), at: Self.start) else {
      Issue.record("the world is not asked")
      return
    }
    #expect(!state.isIdle)
    // Nothing else comes with it, and no time passes.
    state.take(.message(message(1)))
    state.take(.published(id))
    #expect(told() == .published(id) && state.now == Self.start)
    #expect(told() == nil && state.isIdle)
    // One with a receipt waits for its step, one that is lost for nothing.
    #expect(performed(.publish(message(2))) && state.isIdle)
    #expect(performed(.publish(Message(topic: "t", payload: []))) && !state.isIdle)
    state.take(.closed(.lost("")))
    #expect(state.isIdle)
  }

  @Test func aClockThatJumpsMakesDeadlinesLate() {
    state.begin(.jump(.seconds(60)), at: Self.moment(100))
    #expect(state.now == Self.moment(60))
    #expect(told(before: Self.moment(1), at: Self.moment(100)) == .deadline)
    #expect(told(before: Self.moment(60), at: Self.moment(100)) == .deadline)
    #expect(state.elapsed == 60_000_000_000 && state.now == Self.moment(60))
    #expect(told(before: Self.moment(61), at: Self.moment(100)) == nil && state.isIdle)
  }

  @Test func timeGoesFromDeadlineToDeadline() {
    // The world is 100 s ahead, and wakes up late.
    state.begin(.time(.seconds(3)), at: Self.moment(100))
    guard case .read(let limit) = state.move(Self.moment(1), at: Self.moment(100)) else {
      Issue.record("the world is not asked")
      return
    }
    #expect(limit == Self.moment(101))
    state.take(.deadline)
    #expect(told(before: Self.moment(1), at: Self.moment(102)) == .deadline)
    #expect(state.now == Self.moment(1) && state.elapsed == 1_000_000_000)
    // A deadline at the end belongs to the wait, one behind it does not.
    state.take(.deadline)
    #expect(told(before: Self.moment(3), at: Self.moment(103)) == .deadline)
    #expect(told(before: Self.moment(4), at: Self.moment(200)) == nil)
    #expect(state.isIdle && state.now == Self.moment(3) && state.elapsed == nil)
  }

  @Test func aJumpTellsDeadlinesAtItsEnd() {
    state.begin(.jump(.seconds(100)), at: Self.start)
    #expect(told(before: Self.moment(2)) == .deadline)
    #expect(state.now == Self.moment(100) && state.elapsed == 100_000_000_000)
    #expect(told(before: Self.moment(60)) == .deadline)
    // The world is not waited for, and what comes later does not belong to the jump.
    #expect(told(before: Self.moment(101)) == nil)
    #expect(state.isIdle && state.now == Self.moment(100) && state.elapsed == nil)
  }

  @Test func aDeadlineThatWasMissedComesFirst() {
    state.begin(.time(.seconds(5)), at: Self.start)
    #expect(told(before: Self.moment(-1)) == .deadline)
    #expect(state.now == Self.start)
  }

  @Test func eventsOfAWaitAreHeld() {
    state.begin(.time(.seconds(1)), at: Self.start)
    state.take(.message(message(1)))
    #expect(told() == nil && !state.isIdle)
    state.take(.deadline)
    #expect(told(at: Self.moment(1)) == nil && state.isIdle)
    state.begin(.events(1), at: Self.moment(1))
    #expect(told() == .message(message(1)))
  }

  @Test func timePassesInAWorldThatIsOver() {
    state.take(.ended)
    state.begin(.time(.seconds(60)), at: Self.start)
    #expect(told(before: Self.moment(2)) == .deadline)
    #expect(told() == nil && state.now == Self.moment(60) && state.failure == nil)
    state.begin(.events(1), at: Self.start)
    #expect(told() == nil && state.failure == .ended)
  }

  /// A broker may send a message once for each subscription that it matches.
  @Test func copiesOfAMessageAreNoEvents() {
    state.expect(message(1))
    for qos in [QoS.atLeastOnce, .atMostOnce] { state.take(.message(message(1, qos: qos))) }
    state.take(.closed(.byUser))
    state.begin(.events(2), at: Self.start)
    #expect(told() == .message(message(1)))
    #expect(told() == .closed(.byUser))
  }

  @Test func aMessageThatIsSentTwiceComesTwice() {
    for _ in 1...2 { state.expect(message(1)) }
    for _ in 1...4 { state.take(.message(message(1))) }
    state.take(.message(message(2)))
    state.begin(.events(3), at: Self.start)
    #expect(told() == .message(message(1)))
    #expect(told() == .message(message(1)))
    #expect(told() == .message(message(2)))
  }

  /// No step lets it be published, as no cloud answers it.
  @Test func aMessageAtQoS0IsPublishedWhenItIsWritten() {
    #expect(performed(.publish(message(1, qos: .atMostOnce))))
    state.take(.published(ClientAction.ID(rawValue: 1)))
    #expect(told() == .published(ClientAction.ID(rawValue: 1)))
    #expect(performed(.publish(message(2))))
    state.take(.published(ClientAction.ID(rawValue: 1)))
    state.take(.closed(.byUser))
    state.begin(.events(2), at: Self.start)
    #expect(told() == .published(ClientAction.ID(rawValue: 1)))
    #expect(told() == .closed(.byUser))
  }

  @Test func patienceEnds() {
    state = SteppedState(now: Self.start, patience: .seconds(10))
    state.begin(.events(1), at: Self.start)
    guard case .read(let limit) = state.move(nil, at: Self.start) else {
      Issue.record("the world is not asked")
      return
    }
    #expect(limit == Self.moment(10))
    state.take(.deadline)
    #expect(told(at: Self.moment(10)) == nil && state.failure == .silent(.seconds(10)))
  }

  @Test func theGoodbyeWaitsForTheEndOfTheConnection() {
    #expect(performed(.connect(ConnectOptions())))
    #expect(performed(.disconnect) && state.isLeaving)
    state.take(.published(.init(rawValue: 7)))
    state.take(.closed(.byUser))
    state.begin(.closing, at: Self.start)
    #expect(told() == .closed(.byUser) && !state.isLeaving)
    state.isEnded = true
    #expect(told() == .ended)
    #expect(!performed(.connect(ConnectOptions())))
  }
}
