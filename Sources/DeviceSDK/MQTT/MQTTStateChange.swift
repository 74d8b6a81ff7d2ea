public import RepriseCore

/// What became of the connection of an ``MQTTSession``.
public struct MQTTStateChange: Sendable, Hashable {
  /// The states of a connection.
  public enum State: Sendable, Hashable {
    /// It is being opened.
    case connecting
    /// It is open, and what was subscribed to is granted again.
    case connected(isSessionPresent: Bool)
    /// There is none.
    case disconnected
  }

  /// The new state.
  public var state: State
  /// Why there is no connection.
  public var error: MQTTError?
  /// Whether no new one is tried.
  public var isFinal: Bool
  /// When it was, in the client's world.
  public var time: Timestamp

  /// Creates a change.
  public init(
    _ state: State, error: MQTTError? = nil, isFinal: Bool = false, time: Timestamp
  ) {
    self.state = state
    self.error = error
    self.isFinal = isFinal
    self.time = time
  }
}
