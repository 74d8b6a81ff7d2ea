package import LiveClient
package import RepriseCore

/// Where the broker under test is, and how it lets clients in.
///
/// It belongs to one thread, as what its connections by TLS have in common does.
package struct BrokerPlace {
  /// How it was written, for people; without a password.
  package let name: String
  /// The address that is taken: the first one of the host's that answers, and the first one where none does.
  let address: TCPAddress
  /// What connections by TLS have in common; nil where there is none.
  let tls: TLSClientContext?
  /// Whether the MQTT is carried by WebSocket.
  package var isWebSocket: Bool { webSocket != nil }
  /// The port that decoders know what is said by.
  let shownPort: UInt16
  /// What carries MQTT there; nil where TCP or TLS does.
  let webSocket: WebSocketTarget?
  /// What is let in by; nil where nothing is asked for.
  package let credentials: Credentials

  /// What a client shows to be let in.
  package struct Credentials: Sendable, Hashable {
    /// The user name.
    var username: String?
    /// The password.
    var password: [UInt8]?
    /// What it shows by enhanced authentication in MQTT 5.0; nil where it has no method.
    var authentication: Authentication?

    /// Creates credentials.
    package init(
      username: String? = nil, password: [UInt8]? = nil, authentication: Authentication? = nil
    ) {
      self.username = username
      self.password = password
      self.authentication = authentication
    }
  }

  /// Looks a host up and for which of its addresses answers, which blocks until a name server and the broker have.
  /// - Parameters:
  ///   - url: The broker's URL.
  ///   - tls: Which servers are trusted, and what is shown, where TLS is spoken.
  ///   - credentials: What the clients are let in by.
  ///   - headers: Fields of the request for WebSocket.
  /// - Throws: ``DataClientError`` for a host that nobody knows, and for files of `tls` that are none.
  package init(
    _ url: BrokerURL, tls: TLSOptions, credentials: Credentials, headers: [String: String] = [:]
  ) throws(DataClientError) {
    name = url.description
    let addresses = try TCPAddress.resolve(url.host, port: url.port)
    // A name such as localhost may have one of IPv6, at which the broker need not be.
    let answering =
      addresses.count > 1 ? addresses.first { TCPSocket.answers($0, within: 5_000) } : nil
    guard let address = answering ?? addresses.first else {
      throw DataClientError(.transport, "\(url.host) has no address; check its name")
    }
    self.address = address
    self.tls = url.isSecure ? try TLSClientContext(host: url.host, tls) : nil
    shownPort = url.path == nil ? 1_883 : 80
    webSocket = WebSocketTarget(url, headers: headers)
    self.credentials = credentials
  }
}
