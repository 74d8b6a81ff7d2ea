import CTLS

/// Why a handshake failed, and what to do about it.
enum TLSFailure {
  /// Says it of a handshake with a server.
  /// - Parameters:
  ///   - session: The session.
  ///   - host: The server.
  ///   - names: The names that its certificate is for, if that was not accepted.
  /// - Returns: Half a line: what is wrong; what to do.
  static func text(_ session: OpaquePointer, _ host: String, _ names: String) -> String {
    let verification = SSL_get_verify_result(session)
    switch Int32(truncatingIfNeeded: verification) {
    case X509_V_OK: return handshake()
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "its certificate is for \(names.isEmpty ? "nobody" : names), not for \(host); "
        + "use the host name that it is for, or, in a test, add --insecure"
    default:
      let reason = X509_verify_cert_error_string(verification).map { String(cString: $0) }
      return "its certificate is not trusted: \(reason ?? "error \(verification)"); "
        + "name the file of its authority's certificate by --ca-file, or, in a test, add --insecure"
    }
  }

  /// Says it of a handshake with a client.
  static func ofClient() -> String {
    guard let text = TLSError.text() else {
      return "it ended the connection in the TLS handshake; it may not trust the certificate: "
        + "have it trust that of reprise ca"
    }
    if text.contains("unknown ca") || text.contains("certificate unknown")
      || text.contains("bad certificate")
    {
      return "it does not trust the certificate (\(text)); have it trust that of reprise ca"
    }
    if text.contains("http request") || text.contains("wrong version number")
      || text.contains("packet length too long")
    {
      return "it speaks without TLS; have it use TLS, or leave --tls out"
    }
    return "the TLS handshake fails: \(text); look what the client says"
  }

  private static func handshake() -> String {
    guard let text = TLSError.text() else {
      return "it ended the connection in the TLS handshake; check the port: there may be no TLS"
    }
    if text.contains("wrong version number") || text.contains("packet length too long") {
      return
        "it answers something else than TLS; check the port, or leave the s out: mqtt://, ws://"
    }
    if text.contains("certificate required") || text.contains("handshake failure") {
      return "it refuses the TLS handshake: \(text); it may want --cert and --key"
    }
    return "the TLS handshake fails: \(text); check the port, and whether it wants --cert and --key"
  }
}
