import RepriseCore
import Testing

@testable import LiveClient

/// What the port promises about `next(before:)`.
@Suite struct EventQueueTests {
  /// A queue with its timer.
  private final class Fixture: Sendable {
    let queue: EventQueue
    let thread: WorkerThread
    let roomed = Counter()

    init(limit: Int = 10) throws {
      let queue = try EventQueue(limit: limit, byteLimit: .max) { [roomed] in roomed.add() }
      self.queue = queue
      thread = try WorkerThread { queue.runTimer() }
    }

    deinit {
      queue.stop()
      thread.join()
    }

    /// Waits until the time is behind a moment.
    ///
    /// It is the deadline of another queue, as this one is not to be touched; both follow the monotonic clock.
    func passes(_ moment: Timestamp) async throws {
      let left = moment.nanoseconds(since: queue.clock.now) + 1
      let other = try Fixture()
      let deadline = Timestamp(nanoseconds: other.queue.clock.now.nanoseconds + left)
      #expect(try await other.queue.next(before: deadline) == .deadline)
      #expect(queue.clock.now > moment)
    }

    func soon(_ milliseconds: Int64) -> Timestamp {
      Timestamp(nanoseconds: queue.clock.now.nanoseconds + milliseconds * 1_000_000)
    }
  }

  private static func event(_ number: UInt32) -> ClientEvent {
    .published(ClientAction.ID(rawValue: number))
  }

  @Test func keepsTheOrder() async throws {
    let fixture = try Fixture()
    var written: UInt32 = 0
    var read: UInt32 = 0
    for round in 0..<200 {
      for _ in 0..<(round % 7) {
        fixture.queue.append([Self.event(written), Self.event(written + 1)])
        written += 2
      }
      for _ in 0..<(round % 11) where read < written {
        #expect(try await fixture.queue.next(before: nil) == Self.event(read))
        read += 1
      }
    }
  }

  @Test func tellsDeadlines() async throws {
    let fixture = try Fixture()
    for milliseconds: Int64 in [20, 1, 0, -5] {
      let deadline = fixture.soon(milliseconds)
      #expect(try await fixture.queue.next(before: deadline) == .deadline)
      #expect(fixture.queue.now >= deadline)
      #expect(fixture.queue.clock.now >= deadline)
    }
  }

  @Test func tellsADeadlineBeforeAnEventThatCameLater() async throws {
    let fixture = try Fixture()
    let start = fixture.queue.now
    let deadline = Timestamp(nanoseconds: start.nanoseconds + 1)
    try await fixture.passes(deadline)
    fixture.queue.append([Self.event(1)])
    // The time stands where the user left it, as long as an event waits.
    let moment = fixture.queue.now
    #expect(try await fixture.queue.next(before: moment) == Self.event(1))
    let other = try Fixture()
    let early = Timestamp(nanoseconds: other.queue.now.nanoseconds + 1_000_000)
    try await other.passes(early)
    other.queue.append([Self.event(2)])
    #expect(try await other.queue.next(before: early) == .deadline)
    #expect(other.queue.now == early)
    #expect(try await other.queue.next(before: early) == Self.event(2))
    #expect(other.queue.now > early)
  }

  @Test func standsStillWhileEventsWait() async throws {
    let fixture = try Fixture()
    fixture.queue.append([Self.event(1)])
    fixture.queue.append([Self.event(2)])
    _ = try await fixture.queue.next(before: nil)
    let moment = fixture.queue.now
    let later = fixture.queue.clock.now
    try await fixture.passes(later)
    #expect(fixture.queue.now == moment)
    _ = try await fixture.queue.next(before: nil)
    #expect(fixture.queue.now >= moment)
  }

  @Test func wakes() async throws {
    let fixture = try Fixture()
    fixture.queue.wake()
    fixture.queue.wake()
    fixture.queue.append([Self.event(1)])
    #expect(try await fixture.queue.next(before: nil) == .woken)
    #expect(try await fixture.queue.next(before: nil) == Self.event(1))
    for _ in 0..<100 {
      async let event = fixture.queue.next(before: nil)
      fixture.queue.wake()
      #expect(try await event == .woken)
    }
    #expect(try await fixture.queue.next(before: fixture.soon(1)) == .deadline)
  }

  @Test func losesNothingByCancellation() async throws {
    let fixture = try Fixture()
    var expected: UInt32 = 0
    for number in 0..<300 as Range<UInt32> {
      let outcome = try await withThrowingTaskGroup(of: ClientEvent?.self) { group in
        group.addTask { [queue = fixture.queue] in
          do { return try await queue.next(before: nil) } catch is CancellationError { return nil }
        }
        if number.isMultiple(of: 3) { await Task.yield() }
        if number.isMultiple(of: 2) { fixture.queue.append([Self.event(number)]) }
        group.cancelAll()
        if !number.isMultiple(of: 2) { fixture.queue.append([Self.event(number)]) }
        return try await group.next() ?? nil
      }
      if let outcome {
        #expect(outcome == Self.event(expected))
        expected += 1
      }
      while expected <= number {
        #expect(try await fixture.queue.next(before: nil) == Self.event(expected))
        expected += 1
      }
    }
  }

  @Test func refusesASecondReader() async throws {
    let fixture = try Fixture()
    await withTaskGroup(of: ClientEvent?.self) { group in
      for _ in 0..<2 {
        group.addTask { [queue = fixture.queue] in try? await queue.next(before: nil) }
      }
      #expect(await group.next() == .some(nil))
      fixture.queue.append([Self.event(7)])
      #expect(await group.next() == Self.event(7))
    }
  }

  @Test func tellsOfRoomOnce() async throws {
    let fixture = try Fixture(limit: 4)
    fixture.queue.append((0..<6).map(Self.event))
    #expect(fixture.queue.takeRoom() == (0, 0))
    for _ in 0..<3 { _ = try await fixture.queue.next(before: nil) }
    #expect(fixture.roomed.count == 0)
    _ = try await fixture.queue.next(before: nil)
    #expect(fixture.roomed.count == 1)
    #expect(fixture.queue.takeRoom().events == 2)
    while fixture.roomed.count < 1 { _ = try await fixture.queue.next(before: nil) }
    #expect(fixture.roomed.count == 1)
  }
}
