import RepriseCore

/// Where a WebSocket leads: `ws://user:password@host:port/path?query`, or `wss://…` for TLS (RFC 6455
/// section 3); a ``BrokerURL`` with what the opening request says of it.
struct WebSocketURL: Sendable, Hashable {
  /// Whether TLS is spoken.
  let isSecure: Bool
  /// A host name, or an address without brackets.
  let host: String
  /// The port; 80, or 443 with TLS, when none is given.
  let port: UInt16
  /// The path with its query; at least `/`.
  let path: String
  /// What the Basic scheme has for credentials (RFC 7617 section 2): user name, colon and password; nil without a
  /// user name.
  let credentials: [UInt8]?
  /// The host and the port, as the Host field has them.
  let authority: String

  /// Reads a URL.
  /// - Parameter text: The URL.
  /// - Throws: ``DataClientError`` that says what is wrong with it, without the password.
  init(_ text: String) throws(DataClientError) {
    let place: BrokerURL
    let path: String
    do throws(BrokerURL.Problem) {
      place = try BrokerURL(parsing: text)
      guard let found = place.path else {
        throw BrokerURL.Problem("is one of MQTT over TCP, where ws:// or wss:// is needed")
      }
      path = found
    } catch {
      throw DataClientError(.unreadable, "the URL \(error.text)")
    }
    isSecure = place.isSecure
    host = place.host
    port = place.port
    self.path = path
    credentials = place.username.map { name in
      Array(name.utf8) + (place.password.map { [UInt8(ascii: ":")] + $0 } ?? [])
    }
    authority = String(BrokerURL.authority(in: text))
  }
}
