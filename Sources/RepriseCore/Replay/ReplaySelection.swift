/// Which client of a session is replayed.
public enum ReplaySelection: Sendable, Hashable {
  /// The only one there is.
  case only
  /// The client of this client identifier or user name, with all its connections.
  case client(String)
  /// The client of this connection, on this connection alone.
  case connection(Int)
}

extension ReplaySelection {
  /// Whether a connection is of the client, where clients have no names: only MQTT gives them some.
  func takesUnnamed(_ connection: Int) -> Bool {
    switch self {
    case .only: true
    case .connection(let number): number == connection
    case .client: false
    }
  }
}
