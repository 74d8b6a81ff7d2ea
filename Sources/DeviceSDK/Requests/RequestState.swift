public import RepriseCore

/// How the connection of requests is.
public enum RequestConnectionState: String, Sendable, Hashable, CaseIterable {
  /// Not opened, or closed by the application.
  case idle
  /// Being opened.
  case connecting
  /// Open.
  case open
  /// Lost, or not accepted; the next try comes later.
  case waiting
  /// Wanted, but the network is not there.
  case unreachable
  /// Being closed.
  case closing
  /// Tried too often; nothing happens until it is opened again, or the network is back.
  case gaveUp
}

/// A change of the connection's state.
public struct RequestStateChange: Sendable, Hashable {
  /// The new state.
  public var state: RequestConnectionState
  /// Why, if something went wrong.
  public var error: RequestError?
  /// When.
  public var time: Timestamp
}

/// A message of the server that answers no open request.
public enum ServerMessage: Sendable, Hashable {
  /// A text that is an object of JSON.
  case json(JSONValue)
  /// Any other text.
  case text(String)
  /// Bytes.
  case binary([UInt8])
}

/// What was counted since the machine began.
public struct RequestStatistics: Sendable, Hashable {
  /// Answers that came after their request was completed.
  public var lateAnswers = 0
  /// Answers that came again.
  public var duplicateAnswers = 0
  /// Messages that answer nothing.
  public var pushes = 0
  /// Connections that were lost.
  public var lostConnections = 0
  /// Requests that were sent again.
  public var resent = 0
}
