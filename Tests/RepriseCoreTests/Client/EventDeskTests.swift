import RepriseCore
import Testing

/// What all worlds in virtual time promise about reading, once for all of them.
@Suite struct EventDeskTests {
  private struct Source: EventSource {
    /// Whether no time passes for a reader.
    var isHeld = false
    var now = Timestamp(nanoseconds: 0)
    var events = Fifo<ClientEvent>()

    mutating func take(before deadline: Timestamp?) -> ClientEvent? {
      if let event = events.popFirst() { return event }
      guard let deadline, !isHeld || deadline <= now else { return nil }
      now = max(now, deadline)
      return .deadline
    }
  }

  private let desk = EventDesk(Source())

  /// Begins to read, and goes on with a body once the reader waits.
  private func whileReading(
    before deadline: Timestamp? = nil, _ body: () async throws -> Void
  ) async throws -> Result<ClientEvent, any Error> {
    let desk = desk
    let reader = Task { try await desk.next(before: deadline) }
    while !desk.isAwaited { await Task.yield() }
    do { try await body() } catch {
      reader.cancel()
      throw error
    }
    return await reader.result
  }

  @Test func givesWhatIsThereInItsOrder() async throws {
    desk.change { $0.events.append(.text("a")) }
    desk.change { $0.events.append(.text("b")) }
    desk.wake()
    let end = Timestamp(nanoseconds: 7)
    var events: [ClientEvent] = []
    for _ in 0..<4 { events.append(try await desk.next(before: end)) }
    #expect(events == [.woken, .text("a"), .text("b"), .deadline])
    #expect(desk.read { $0.now } == end)
  }

  @Test(arguments: [ClientEvent.woken, .text("late")])
  func givesAWaitingReaderWhatComes(_ event: ClientEvent) async throws {
    let given = try await whileReading {
      if event == .woken { desk.wake() } else { desk.change { $0.events.append(event) } }
    }
    #expect(try given.get() == event)
    // It was given once.
    #expect(try await desk.next(before: desk.read { $0.now }) == .deadline)
  }

  /// Where time does not pass by itself, it passes for a waiting reader when its deadline has come, and not before.
  @Test func aDeadlineMayComeWhileAReaderWaits() async throws {
    desk.change { $0.isHeld = true }
    let given = try await whileReading(before: Timestamp(nanoseconds: 7)) {
      desk.change { $0.now = Timestamp(nanoseconds: 6) }
      #expect(desk.isAwaited)
      desk.change { $0.now = Timestamp(nanoseconds: 7) }
      #expect(!desk.isAwaited)
    }
    #expect(try given.get() == .deadline)
  }

  @Test func whatFailsGivesNothing() async throws {
    let error = #expect(throws: DataClientError.self) {
      try desk.change { _ throws(DataClientError) in throw DataClientError(.noAnswer, "test") }
    }
    #expect(error?.code == .noAnswer)
    #expect(try await desk.next(before: desk.read { $0.now }) == .deadline)
  }

  @Test func onlyOneTaskCanWait() async throws {
    let given = try await whileReading {
      let error = await #expect(throws: DataClientError.self) { try await desk.next(before: nil) }
      #expect(error?.code == .invalidAction)
      desk.change { $0.events.append(.text("for the first")) }
    }
    #expect(try given.get() == .text("for the first"))
  }

  @Test func aCancelledReaderTakesNothing() async throws {
    let desk = desk
    let reader = Task { try await desk.next(before: nil) }
    while !desk.isAwaited { await Task.yield() }
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    desk.change { $0.events.append(.text("kept")) }
    await #expect(throws: CancellationError.self) {
      try await withThrowingTaskGroup(of: ClientEvent.self) { group in
        group.cancelAll()
        group.addTask { try await desk.next(before: nil) }
        _ = try await group.next()
      }
    }
    #expect(try await desk.next(before: nil) == .text("kept"))
  }
}
