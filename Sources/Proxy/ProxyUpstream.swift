package import LiveClient
package import RepriseCore

/// The server behind a proxy: `broker:1883`, `mqtt://broker`, `mqtts://broker:8883`.
package struct ProxyUpstream: Sendable {
  /// How it was written.
  package let name: String
  /// The host, a name or an address.
  let host: String
  /// The port.
  let port: UInt16
  /// Whether TLS is spoken with it.
  package let isSecure: Bool
  /// Which servers are trusted, and what is shown, where TLS is spoken.
  private let tls: TLSOptions
  /// The port that decoders know what is said by, where the server's own tells them nothing or that it is encrypted.
  let shownPort: UInt16?
  /// The addresses, in the order in which they are tried.
  let addresses: [TCPAddress]

  /// What may stand in front of the host.
  private static let schemes: [String: (isSecure: Bool, base: String, shownPort: UInt16?)] = [
    "tcp": (false, "mqtt", nil), "tls": (true, "mqtts", nil),
    "mqtt": (false, "mqtt", 1_883), "mqtts": (true, "mqtts", 1_883),
    "ws": (false, "ws", 80), "wss": (true, "wss", 80),
  ]

  /// Reads where a server is and looks its host up, which blocks until a name server has answered.
  /// - Parameters:
  ///   - text: A URL without a path, or host and port.
  ///   - tls: Which servers are trusted, and what is shown, where TLS is spoken.
  /// - Throws: ``DataClientError`` that says what is wrong with it, or with the files of `tls`.
  package init(_ text: String, tls: TLSOptions = TLSOptions()) throws(DataClientError) {
    let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    let word = parts.count == 2 ? parts[0].lowercased() : "tcp"
    guard let scheme = Self.schemes[word], let rest = parts.last else {
      throw Self.error(text, "has an unknown scheme", "it takes mqtt, mqtts, ws, wss, tcp or tls")
    }
    let url: BrokerURL
    do throws(DataClientError) { url = try BrokerURL("\(scheme.base)://\(rest)") } catch {
      throw Self.error(
        Self.hidingUser(text), "names no host and port", "type HOST:PORT, or mqtts://HOST:PORT")
    }
    guard url.username == nil, url.password == nil else {
      throw Self.error(
        Self.hidingUser(text), "has a user", "leave it out: the client says who it is")
    }
    guard url.path == nil || url.path == "/" else {
      throw Self.error(text, "has a path", "leave it out: the client says what it wants")
    }
    let hasPort = rest.drop { $0 != "]" && rest.first == "[" }.contains(":")
    guard hasPort || !["tcp", "tls"].contains(word) else {
      throw Self.error(text, "has no port", "type HOST:PORT")
    }
    name = text
    host = url.host
    port = url.port
    isSecure = scheme.isSecure
    self.tls = tls
    // Where TLS ends here what is shown is plain; what passes as it is may be TLS, which the port says as well.
    let plain: [UInt16: UInt16] = scheme.isSecure ? [8_883: 1_883, 443: 80] : [:]
    shownPort = scheme.shownPort ?? plain[url.port] ?? (url.port == 0 ? nil : url.port)
    addresses = try TCPAddress.resolve(url.host, port: url.port)
    // A file that is not what it should be is found out now, and not by the first client.
    _ = try makeTLS()
  }

  /// Whether a text names a server that TLS is spoken with.
  /// - Parameter text: A URL, or host and port.
  /// - Returns: Whether it does; also where the rest of it can't be understood.
  package static func isSecure(_ text: String) -> Bool {
    let word = text.firstRange(of: "://").map { text[..<$0.lowerBound].lowercased() }
    return word.flatMap { schemes[$0] }?.isSecure ?? false
  }

  /// Makes what connections by TLS have in common, for one thread; nil where TLS is not spoken.
  func makeTLS() throws(DataClientError) -> TLSClientContext? {
    isSecure ? try TLSClientContext(host: host, tls) : nil
  }

  /// Says why the server is not reached, and what to do about it.
  func advice(_ trouble: String) -> String {
    // A handshake says itself what is to be done.
    guard !trouble.contains("; ") else { return "\(name) can't be reached: \(trouble)" }
    if let refusal = refusal(trouble) { return refusal }
    let remedy =
      trouble.lowercased().contains("refused")
      ? "check host and port, and whether a server runs there" : "check host, port and network"
    return "\(name) can't be reached: \(trouble.lowercased()); \(remedy)"
  }

  /// Says why the server breaks off a connection of TLS.
  /// - Parameter trouble: What went wrong, in OpenSSL's words.
  /// - Returns: What it is told by; nil where it says nothing.
  func refusal(_ trouble: String) -> String? {
    guard isSecure, trouble.contains(" alert ") else { return nil }
    let remedy =
      trouble.contains("certificate") || trouble.contains("handshake failure")
      ? "it may want --cert and --key" : "look what it says"
    return "\(name) ends the connection: \(trouble); \(remedy)"
  }

  private static func hidingUser(_ text: String) -> String {
    text.replacing(BrokerURL.user(in: text), with: "", maxReplacements: 1)
  }

  private static func error(_ text: String, _ what: String, _ remedy: String) -> DataClientError {
    DataClientError(.invalidAction, "'\(text)' \(what); \(remedy)")
  }
}
