import Synchronization

/// A client whose time may be ahead of what its user knows of.
///
/// A replay that waits for an action has gone to the moment of that action, so that calls which bring it about are made
/// at their recorded time. But a task that is only about to wait for that moment has to count from what it heard last.
package protocol HeardTime: DataClient {
  /// The time of what the user has heard or done last.
  var heard: Timestamp { get }
}

extension DataClient {
  /// The time of what the user has heard or done last; ``now`` of a client that is never ahead of it.
  package var lastHeard: Timestamp { (self as? any HeardTime)?.heard ?? now }
}

extension ReplayClient: HeardTime {
  package var heard: Timestamp {
    state.withLock { state in
      state.catchUp()
      return state.machine.heard
    }
  }
}
