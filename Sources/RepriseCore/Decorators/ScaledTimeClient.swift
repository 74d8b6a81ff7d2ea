/// Lets the time of a client pass faster for its user: minutes of back-off in seconds.
///
/// The user's time is the client's at the beginning, or at a given moment, and runs so many times as fast from then on, both
/// in what ``now`` tells and in the deadlines that it takes. What goes on the wire, keep-alive among
/// it, keeps the client's own time. A recorder belongs inside, so that recordings have true times.
public final class ScaledTimeClient: DataClient {
  private let client: any DataClient
  private let speed: Int64
  private let epoch: Timestamp

  /// Wraps a client.
  /// - Parameters:
  ///   - client: The client.
  ///   - speed: How many times as fast the user's time runs, 1 to 1,000.
  ///   - start: The moment from which on it does; nil is now. Clients that are recorded to be replayed in one
  ///     ``SharedTime`` have the same, as well as the same speed.
  /// - Throws: ``DataClientError/Code/invalidAction`` for another speed.
  public init(
    _ client: any DataClient, speed: Int, since start: Timestamp? = nil
  ) throws(DataClientError) {
    guard (1...1_000).contains(speed) else {
      throw DataClientError(.invalidAction, "time runs 1 to 1,000 times as fast, not \(speed)")
    }
    self.client = client
    self.speed = Int64(speed)
    epoch = start ?? client.now
  }

  /// Those of the client.
  public var capabilities: Capabilities { client.capabilities }

  /// The user's time.
  public var now: Timestamp { userTime(client.now) }

  /// Performs an action.
  /// - Parameter action: What to do.
  /// - Throws: What the client throws.
  public func perform(_ action: ClientAction) async throws { try await client.perform(action) }

  /// Returns the client's next event, or the passing of a deadline of the user's time.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the client throws.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline.map(clientTime))
  }

  /// Wakes the client.
  public func wake() { client.wake() }

  /// The moment of the user at a moment of the client.
  private func userTime(_ moment: Timestamp) -> Timestamp {
    let (scaled, overflow) = moment.nanoseconds(since: epoch)
      .multipliedReportingOverflow(by: speed)
    return epoch.advanced(by: .nanoseconds(overflow ? .max : scaled))
  }

  /// The first moment of the client at which a moment of the user is reached.
  private func clientTime(_ moment: Timestamp) -> Timestamp {
    let (whole, rest) = moment.nanoseconds(since: epoch).quotientAndRemainder(dividingBy: speed)
    return epoch.advanced(by: .nanoseconds(rest > 0 ? whole + 1 : whole))
  }
}

extension ScaledTimeClient: HeardTime {
  package var heard: Timestamp { userTime(client.lastHeard) }
}
