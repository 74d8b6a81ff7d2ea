import RepriseCore

/// How far a channel's connection is, in more steps than ``ChannelState`` tells applications.
package enum ChannelPhase: String, Sendable, Hashable, CaseIterable {
  /// Not started, stopped, or given up.
  case idle
  /// Started, and nobody has said yet who the channel is.
  case identifying
  /// CONNECT was sent.
  case connecting
  /// A new connection was accepted, and the subscriptions of the old one are on their way.
  case restoring
  /// All is well.
  case connected
  /// The connection was lost, or not accepted; the next try comes later.
  case backingOff
  /// DISCONNECT was sent on a connection that does not do what it should; a new try follows.
  case breakingOff
  /// DISCONNECT was sent because the application stops the channel.
  case closing
  /// The world has no more events.
  case ended
}

/// What brings a channel's connection into another phase.
package enum ChannelTrigger: String, Sendable, Hashable, CaseIterable {
  /// The application starts the channel, which knows who it is.
  case started
  /// The application starts the channel before anybody has said who it is.
  case startedUnknown
  /// The application says who the channel is.
  case identified
  /// The cloud accepts the connection, and there is nothing to restore.
  case accepted
  /// The cloud accepts the connection, and subscriptions are to be restored.
  case acceptedAgain
  /// The cloud has answered for the subscriptions.
  case restored
  /// The connection was closed, or could not be opened.
  case closed
  /// The connection was refused for good: another try would be refused as well.
  case refused
  /// Another client with the same identity takes the connection again and again.
  case kicked
  /// It is time for the next try.
  case retryDue
  /// An answer took too long.
  case timedOut
  /// An action was not taken, or came to nothing.
  case failed
  /// The application stops the channel.
  case stopped
  /// The world ends: the client has no more events.
  case worldEnded
}

/// A row of the table of channels: in a phase, a trigger leads to a phase.
package struct ChannelTransition: Sendable, Hashable {
  /// The phase before.
  package let from: ChannelPhase
  /// What happens.
  package let trigger: ChannelTrigger
  /// The phase after.
  package let to: ChannelPhase
}

/// Every transition of a channel's connection; its machine has no others.
package enum ChannelTable {
  /// The rows; of one phase and one trigger there is at most one.
  package static let transitions: [ChannelTransition] =
    opening + answered + late + stopping + ending

  private static func row(
    _ from: ChannelPhase, _ trigger: ChannelTrigger, _ to: ChannelPhase
  ) -> ChannelTransition { ChannelTransition(from: from, trigger: trigger, to: to) }

  private static let opening = [
    row(.idle, .started, .connecting), row(.idle, .startedUnknown, .identifying),
    row(.identifying, .identified, .connecting), row(.backingOff, .retryDue, .connecting),
  ]

  private static let answered = [
    row(.connecting, .accepted, .connected), row(.connecting, .acceptedAgain, .restoring),
    row(.connecting, .closed, .backingOff), row(.connecting, .refused, .idle),
    row(.restoring, .restored, .connected), row(.restoring, .closed, .backingOff),
    row(.restoring, .kicked, .idle), row(.connected, .closed, .backingOff),
    row(.connected, .kicked, .idle), row(.breakingOff, .closed, .backingOff),
    row(.closing, .closed, .idle),
  ]

  private static let late = [
    row(.connecting, .timedOut, .breakingOff), row(.connecting, .failed, .backingOff),
    row(.restoring, .timedOut, .breakingOff), row(.restoring, .failed, .breakingOff),
    row(.breakingOff, .timedOut, .backingOff), row(.breakingOff, .failed, .backingOff),
    row(.closing, .timedOut, .idle), row(.closing, .failed, .idle),
  ]

  private static let stopping = [
    row(.identifying, .stopped, .idle), row(.backingOff, .stopped, .idle),
    row(.connecting, .stopped, .closing), row(.restoring, .stopped, .closing),
    row(.connected, .stopped, .closing), row(.breakingOff, .stopped, .closing),
  ]

  private static let ending = ChannelPhase.allCases.filter { $0 != .ended }
    .map { row($0, .worldEnded, .ended) }

  /// Returns the phase after a trigger.
  /// - Parameters:
  ///   - phase: The phase before.
  ///   - trigger: What happens.
  /// - Returns: The phase after; nil when the trigger can't come in that phase.
  package static func next(_ phase: ChannelPhase, _ trigger: ChannelTrigger) -> ChannelPhase? {
    transitions.first { $0.from == phase && $0.trigger == trigger }?.to
  }
  /// Whether one input to a channel can bring its connection from a phase to another; it can leave it as it is.
  static func leads(from: ChannelPhase, to: ChannelPhase) -> Bool {
    from == to || transitions.contains { $0.from == from && $0.to == to }
  }
}

extension ConnectionKeeper.Link {
  /// The phase that it is of a channel's connection.
  var phase: ChannelPhase {
    switch self {
    case .idle: .idle
    case .identifying: .identifying
    case .connecting: .connecting
    case .restoring: .restoring
    case .open: .connected
    case .backingOff: .backingOff
    case .closing(_, .some): .breakingOff
    case .closing: .closing
    case .ended: .ended
    }
  }
}
