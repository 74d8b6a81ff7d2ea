package import RepriseCore

/// How a connection ended, as far as its capture shows it.
package struct ConnectionEnd: Sendable, Hashable {
  /// What ended it.
  package var cause: Cause
  /// The peer that did; nil where it is nobody, or not known.
  package var peer: Peer?
  /// The return code, reason code, status code or alert that says why; nil without one.
  package var code: Int?

  /// What can end a connection.
  package enum Cause: String, Sendable, Hashable, CaseIterable {
    /// The end sent DISCONNECT.
    case disconnected = "disconnect"
    /// The server refused it by CONNACK.
    case refused = "refused"
    /// The server ended it, as the client had connected again with the same identifier.
    case takenOver = "taken-over"
    /// The server ended it, as nothing came for one and a half times the keep-alive.
    case keepAlive = "keep-alive"
    /// The end closed it behind a message of the other one that can't be read or breaks the format.
    case fault = "fault"
    /// The end sent a Close frame.
    case webSocketClose = "websocket-close"
    /// The end sent a fatal alert of TLS.
    case alert = "alert"
    /// The end closed it by FIN, without DISCONNECT where the connection carries MQTT.
    case fin = "fin"
    /// The end reset it.
    case reset = "reset"
    /// The capture ends first.
    case endOfCapture = "end-of-capture"
    /// It was closed, but the capture lacks bytes that may say why.
    case unknown = "unknown"
    /// There was no connection: a try of a recorded client.
    case failedAttempt = "failed-attempt"
  }
}

/// Another connection of the same client to the same server.
package struct Rival: Sendable, Hashable {
  /// The number of the newer connection.
  package var connection: Int
  /// The frame of its CONNECT.
  package var frame: Int
  /// The time of its CONNECT.
  package var time: Timestamp
}
