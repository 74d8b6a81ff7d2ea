/// How a sub-device's line is: how far the cloud knows the device as this gateway's.
public enum LineState: String, Sendable, Hashable, CaseIterable {
  /// The sub-device has not said yet who it is.
  case new
  /// The sub-device is known here, and not known to be this gateway's in the cloud.
  case ready
  /// The cloud knows the sub-device as this gateway's; it is offline.
  case topology
  /// The sub-device is online: it sends and receives through the gateway.
  case online
}

/// What happens to a line.
package enum LineEvent: String, Sendable, Hashable, CaseIterable {
  /// The sub-device has said who it is.
  case setUp
  /// The cloud has added the topology, or says that it was added.
  case topologyAdded
  /// The gateway has deleted the topology.
  case topologyDeleted
  /// The topology is gone, though the gateway did not delete it: code 6401, a change, a deletion.
  case topologyLost
  /// The sub-device was logged in.
  case loggedIn
  /// The sub-device was logged out.
  case loggedOut
  /// The cloud has ended the session: codes 427, 520, 521 and 522.
  case sessionLost
  /// The gateway's own connection is gone, and all sessions with it.
  case gatewayLost
}

/// One line of the table of lines: in a state, an event leads to a state.
package struct LineTransition: Sendable, Hashable {
  /// The state before.
  package let from: LineState
  /// What happens.
  package let event: LineEvent
  /// The state after; the same as before when the event changes nothing.
  package let to: LineState
}

/// Whether a sub-device is disabled, which lies over the states of its line.
public enum LineOverlay: String, Sendable, Hashable, CaseIterable {
  /// The cloud has disabled it: code 522 or 6204, the command `disable`, a change with status 8.
  case disabled
  /// The cloud has enabled it: the command `enable`, a change with status 2, a login that succeeds.
  case enabled
}

/// What each event does to a line in each state, as data.
package enum LineTable {
  /// All pairs of a state and an event, each once.
  package static let transitions: [LineTransition] = rows.flatMap { state, cells in
    zip(LineEvent.allCases, cells).map { LineTransition(from: state, event: $0, to: $1) }
  }

  /// A row for each state, a cell for each event in the order of `LineEvent`.
  private static let rows: [(LineState, [LineState])] = [
    // setUp, topologyAdded, topologyDeleted, topologyLost, loggedIn, loggedOut, sessionLost, gatewayLost
    (.new, [.ready, .new, .new, .new, .new, .new, .new, .new]),
    (.ready, [.ready, .topology, .ready, .ready, .online, .ready, .ready, .ready]),
    (.topology, [.topology, .topology, .ready, .ready, .online, .topology, .topology, .topology]),
    (.online, [.online, .online, .ready, .ready, .online, .topology, .topology, .topology]),
  ]

  private static let index: [LineState: [LineEvent: LineState]] = transitions.reduce(into: [:]) {
    $0[$1.from, default: [:]][$1.event] = $1.to
  }

  /// Returns the state after an event.
  /// - Parameters:
  ///   - state: The state before.
  ///   - event: What happens.
  /// - Returns: The state after.
  package static func next(_ state: LineState, _ event: LineEvent) -> LineState {
    index[state]?[event] ?? state
  }
}
