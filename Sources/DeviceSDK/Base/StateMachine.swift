package import RepriseCore

/// One of the SDK's machines: a value that turns what happened into what to do.
///
/// A machine never waits, reads no clock and does no I/O. The same inputs at the same times give the
/// same outputs.
package protocol StateMachine: Sendable {
  /// What the application can ask for.
  associatedtype Call: Sendable
  /// What a call results in.
  associatedtype Value: Sendable
  /// What the application is told without having asked.
  associatedtype Effect: Sendable
  /// Why a call fails.
  associatedtype Failure: Error

  /// When the machine wants to be asked again if nothing happens before; nil is never.
  var deadline: Timestamp? { get }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When; never before the time of an earlier input.
  /// - Returns: What to do, in this order.
  mutating func handle(
    _ input: MachineInput<Call>, now: Timestamp
  ) -> [MachineOutput<Value, Effect, Failure>]
}

/// Names a call of the application from its start to its completion.
package struct CallID: Sendable, Hashable, Comparable {
  /// The number; later calls have larger ones.
  package let rawValue: UInt64

  /// Creates an identifier.
  package init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Tells whether one call is earlier than another.
  package static func < (lhs: CallID, rhs: CallID) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// What happened, as a machine hears of it.
package enum MachineInput<Call: Sendable>: Sendable {
  /// The client told something.
  case received(ClientEvent)
  /// The client refused an action; nothing was sent.
  case refused(ClientAction.ID, DataClientError)
  /// The application called.
  case called(CallID, Call)
  /// The application does not wait for a call any more; it is not to be completed.
  case cancelled(CallID)
}

/// What a machine wants done.
package enum MachineOutput<Value: Sendable, Effect: Sendable, Failure: Error>: Sendable {
  /// Hand an action to the client.
  case perform(ClientAction)
  /// Complete a call; each is completed once, unless it was cancelled.
  case complete(CallID, Result<Value, Failure>)
  /// Tell the application.
  case tell(Effect)
}
