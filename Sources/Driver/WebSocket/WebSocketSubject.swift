import RepriseCore

/// What is driven by cases of WebSocket.
package enum WebSocketSubject {
  /// A server, at its place.
  case server(BrokerPlace)
  /// A client, which is started once for each case, or connects by itself where nothing starts it; and where it does.
  case client(ClientCommand?, ClientPlace)

  /// Which end it is.
  var peer: Peer {
    switch self {
    case .server: .server
    case .client: .client
    }
  }

  /// How it is called, for people.
  var name: String {
    switch self {
    case .server(let place): place.name
    case .client(let command, _): command?.text ?? "a client that connects by itself"
    }
  }
}
