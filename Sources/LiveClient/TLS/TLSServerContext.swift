import CTLS
package import RepriseCore

/// What connections by TLS from clients have in common: an authority, a key, and a certificate for each name.
///
/// It belongs to one thread.
package final class TLSServerContext {
  private let context: OpaquePointer
  private let authority: CertificateAuthority
  private let key: OpaquePointer
  /// The certificates that were issued, by names.
  private var issued: [String: OpaquePointer] = [:]

  /// How many certificates are kept: clients may ask for any name.
  private static let mostIssued = 1_000

  /// Prepares to answer clients.
  /// - Parameter authority: What vouches for the names that they ask for.
  /// - Throws: ``DataClientError`` when OpenSSL can't.
  package init(_ authority: CertificateAuthority) throws(DataClientError) {
    TLSError.clear()
    guard let context = SSL_CTX_new(TLS_server_method()) else {
      throw TLSError.failure("TLS can't be begun")
    }
    guard let key = ctls_make_key() else {
      SSL_CTX_free(context)
      throw TLSError.failure("no key can be made")
    }
    self.context = context
    self.key = key
    self.authority = authority
    ctls_prepare_server(context)
    try KeyLog.attach(context)
  }

  deinit {
    for certificate in issued.values { X509_free(certificate) }
    EVP_PKEY_free(key)
    SSL_CTX_free(context)
  }

  /// Makes a channel that speaks TLS as a server; its beginning waits where the client has said what it wants.
  /// - Parameter socket: What it speaks on.
  /// - Returns: The channel.
  /// - Throws: ``DataClientError`` when there is no memory for it.
  package func channel(on socket: TCPSocket) throws(DataClientError) -> TLSChannel {
    guard let session = SSL_new(context) else { throw TLSError.failure("no TLS") }
    // From here on the channel frees it.
    let channel = TLSChannel(session, on: socket, peer: nil)
    guard SSL_set_fd(session, socket.number) == 1 else { throw TLSError.failure("no TLS") }
    SSL_set_accept_state(session)
    return channel
  }

  /// Lets the handshake of a client go on, with a certificate for the name that it asks for.
  /// - Parameters:
  ///   - channel: The channel to the client.
  ///   - address: The address that it has connected to, which it gets a certificate for if it asks for no name.
  ///   - application: The protocol that the server has chosen, as ALPN has it; nothing where it has not.
  /// - Returns: Whether there is a certificate.
  package func answer(_ channel: TLSChannel, at address: String, _ application: [UInt8]) -> Bool {
    let asked = channel.askedName
    let name = asked.isEmpty ? address : asked
    // RFC 6066 section 3 has no address for a name, but some clients ask for one.
    guard let certificate = certificate(name, isAddress: IPText.isAddress(name)) else {
      return false
    }
    return channel.goOn(certificate, key, application)
  }

  private func certificate(_ name: String, isAddress: Bool) -> OpaquePointer? {
    if let known = issued[name] { return known }
    guard let certificate = authority.issue(name, isAddress: isAddress, key: key) else {
      return nil
    }
    if issued.count >= Self.mostIssued {
      for certificate in issued.values { X509_free(certificate) }
      issued = [:]
    }
    issued[name] = certificate
    return certificate
  }
}
