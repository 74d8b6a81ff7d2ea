/// Which client of a session is replayed.
public enum ReplaySelection: Sendable, Hashable {
  /// The only one there is.
  case only
  /// The client of this client identifier or user name, with all its connections.
  case client(String)
  /// The client of this connection, on this connection alone.
  case connection(Int)
}
