package import Glibc
import LiveClient
package import RepriseCore

/// The ends of connections that are replayed together, on one thread.
package protocol ReplayParty: AnyObject {
  /// The sockets to wait for; as many as there are until it is serviced.
  var interests: [pollfd] { get }
  /// What there is to tell of it.
  var news: ReplayNews { get set }

  /// Does what sockets are ready for.
  /// - Parameters:
  ///   - events: What `poll` said of each of its interests.
  ///   - buffer: Where to read to.
  ///   - now: The time.
  func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp)

  /// Does what is due.
  /// - Parameter now: The time.
  /// - Returns: When something is due next; nil where nothing is.
  func goOn(_ now: Timestamp) -> Timestamp?

  /// Whether a client that was started has still to end.
  var isAwaited: Bool { get }

  /// Ends all connections.
  /// - Parameter now: The time.
  func breakOff(_ now: Timestamp)

  /// Stops what was started.
  func stop()
}

extension ReplayParty {
  /// How it ended; nil as long as it goes on.
  var ending: ReplayEnding? { news.ending }

  package var isAwaited: Bool { false }

  package func stop() {}

  /// Replays until it ends, on the thread that calls it.
  /// - Parameters:
  ///   - isStopped: Whether to break off.
  ///   - tell: Takes each packet of either end.
  /// - Returns: How it ended; nil where it was broken off.
  /// - Throws: What `tell` throws.
  package func run(
    isStopped: () -> Bool, _ tell: (Event) throws -> Void
  ) throws -> ReplayEnding? {
    let clock = LiveClock()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // So often it is looked whether it is to end.
    let pace: Int32 = 100
    defer { leave(clock, isStopped: isStopped, &buffer) }
    while true {
      let next = goOn(clock.now)
      for event in news.take() { try tell(event) }
      if let ending { return ending }
      if isStopped() { return nil }
      var files = interests
      let wait = next.map { clock.milliseconds(until: $0) } ?? pace
      _ = poll(&files, nfds_t(files.count), min(wait, pace))
      service(files[...], &buffer, clock.now)
    }
  }

  /// Ends all connections and what was started, which first has the time to end by itself: it may have more to tell.
  private func leave(_ clock: LiveClock, isStopped: () -> Bool, _ buffer: inout [UInt8]) {
    let deadline = clock.now.advanced(by: ReplayLink.grace)
    breakOff(clock.now)
    while isAwaited, !isStopped(), clock.now < deadline {
      var files = interests
      // A process that ends wakes nobody.
      _ = poll(&files, nfds_t(files.count), 10)
      service(files[...], &buffer, clock.now)
    }
    stop()
  }
}
