import RepriseCore

/// How long a recorded client waited for its server to accept a connection, and to close it.
struct RecordedPatience: Sendable {
  /// The longest that a try took until it was accepted, or came to nothing.
  private(set) var longestTry = Duration.zero
  /// The longest from a goodbye to the end of the connection.
  private(set) var longestGoodbye = Duration.zero
  private var triedAt: Timestamp?
  private var leftAt: Timestamp?

  /// A connection is tried.
  mutating func noteTry(_ time: Timestamp) { triedAt = time }

  /// The client says goodbye.
  mutating func noteGoodbye(_ time: Timestamp) { leftAt = time }

  /// The connection is there, or is gone.
  mutating func noteAnswer(_ time: Timestamp) {
    if let triedAt { longestTry = max(longestTry, .nanoseconds(time.nanoseconds(since: triedAt))) }
    if let leftAt {
      longestGoodbye = max(longestGoodbye, .nanoseconds(time.nanoseconds(since: leftAt)))
    }
    (triedAt, leftAt) = (nil, nil)
  }

  /// Makes waiting times as long as they must have been.
  func apply(connect: inout Duration, close: inout Duration) {
    if longestTry >= connect { connect = longestTry + .seconds(1) }
    if longestGoodbye >= close { close = longestGoodbye + .seconds(1) }
  }
}
