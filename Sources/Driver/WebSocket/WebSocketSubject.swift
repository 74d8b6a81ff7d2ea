package import RepriseCore

/// What is driven by cases of WebSocket.
package enum WebSocketSubject {
  /// A server, at its place.
  case server(BrokerPlace)
  /// A client, which is started once for each case.
  case client(name: String, start: (UInt16) throws(DriverError) -> any StartedSubject)

  /// Which end it is.
  package var peer: Peer {
    switch self {
    case .server: .server
    case .client: .client
    }
  }

  /// How it is called, for people.
  var name: String {
    switch self {
    case .server(let place): place.name
    case .client(let name, _): name
    }
  }
}

/// A subject that was started for one case.
package protocol StartedSubject: AnyObject {
  /// How it ended, for people; nil as long as it runs.
  var end: String? { get }
  /// Stops it, if it still runs.
  func stop()
}
