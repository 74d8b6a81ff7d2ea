import Synchronization

/// A clock that is moved by hand, or that moves when somebody sleeps by it.
final class HandClock: Clock {
  struct Instant: InstantProtocol {
    var offset: Swift.Duration
    func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
    static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
  }

  private let time = Mutex<Swift.Duration>(.zero)
  /// How much too long every sleep takes; nil for one that ends only when its task is cancelled.
  private let lateness: Swift.Duration?
  private let slept = AsyncStream<Swift.Duration>.makeStream()

  init(late lateness: Swift.Duration? = .zero) { self.lateness = lateness }

  var now: Instant { time.withLock { Instant(offset: $0) } }
  let minimumResolution = Swift.Duration.nanoseconds(1)

  /// Until when was slept, one sleep after the other.
  var sleeps: AsyncStream<Swift.Duration> { slept.stream }

  func move(by duration: Swift.Duration) { time.withLock { $0 += duration } }

  /// Time passes here at once, or never: nothing waits.
  func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
    try Task.checkCancellation()
    slept.continuation.yield(deadline.offset)
    guard let lateness else {
      for await _ in AsyncStream<Never>.makeStream().stream {}
      throw CancellationError()
    }
    time.withLock { $0 = max($0, deadline.offset) + lateness }
  }
}
