/// What can bring a link into another state.
package enum LinkTrigger: String, Sendable, Hashable, CaseIterable {
  /// The application logs in, and was not logged in before.
  case login
  /// The application logs in once more.
  case relogin
  /// The application joins a stream channel.
  case join
  /// The application joins a stream channel once more, after it failed.
  case rejoin
  /// The server accepts the link for the first time in this session.
  case accepted
  /// The server accepts the link again.
  case acceptedAgain
  /// The server refuses the link.
  case rejected
  /// A try to connect failed, less than two minutes after the loss.
  case attemptFailed
  /// A try to connect failed, two minutes after the loss or later.
  case attemptFailedLate
  /// It is time for the next try.
  case retryDue
  /// Two minutes have passed since the loss.
  case twoMinutesPassed
  /// A login took longer than the reconnect time-out.
  case loginTimedOut
  /// Connecting again took longer than the reconnect time-out, or than a stream channel is tried.
  case reconnectTimedOut
  /// A heartbeat was not answered in time.
  case heartbeatMissed
  /// The connection broke.
  case connectionLost
  /// The device's network is another, or gone.
  case networkLost
  /// The server throws the user out.
  case kicked
  /// The token is known to be too old before it is shown.
  case tokenFoundExpired
  /// The message service failed, on which stream channels depend.
  case serviceFailed
  /// The application logs out.
  case logout
  /// The application leaves a stream channel.
  case leave
}

/// A row of a table of transitions: what a trigger does to a link in a state.
package struct LinkTransition: Sendable, Hashable {
  /// The state before.
  package let from: LinkState
  /// What happens.
  package let trigger: LinkTrigger
  /// The state after.
  package let to: LinkState
  /// What the application is told as the operation.
  package let operation: LinkOperation
  /// What the application is told as the reason; where there are several, the server says which.
  package let reasons: [LinkReason]

  init(
    _ from: LinkState, _ trigger: LinkTrigger, _ to: LinkState, _ operation: LinkOperation,
    _ reasons: LinkReason...
  ) {
    self.from = from
    self.trigger = trigger
    self.to = to
    self.operation = operation
    self.reasons = reasons
  }
}

/// All transitions of a kind of link; the machines have no others.
package struct LinkTable: Sendable {
  /// The rows; of one state and one trigger there is at most one.
  package let rows: [LinkTransition]

  init(_ rows: [LinkTransition]) { self.rows = rows }

  /// Returns what a trigger does to a link in a state.
  /// - Parameters:
  ///   - state: The state.
  ///   - trigger: What happens.
  /// - Returns: The row; nil when the trigger does nothing there.
  package func row(_ state: LinkState, _ trigger: LinkTrigger) -> LinkTransition? {
    rows.first { $0.from == state && $0.trigger == trigger }
  }
}

extension LinkTransition: CustomStringConvertible {
  /// The row in one line: `idle, login: connecting (login)`.
  package var description: String { "\(from), \(trigger): \(to) (\(operation))" }
}

extension LinkTable: CustomStringConvertible {
  /// How many rows there are.
  package var description: String { "\(rows.count) transitions" }
}
