import CTLS
package import RepriseCore

/// What connections by TLS to a server have in common: whom is trusted, and what is shown.
///
/// It belongs to one thread.
package final class TLSClientContext {
  private let context: OpaquePointer
  private let host: String
  private let isVerified: Bool
  private let verifiesHost: Bool

  /// Reads the files.
  /// - Parameters:
  ///   - host: The server, a name or an address.
  ///   - options: Which servers are trusted, and what is shown.
  /// - Throws: ``DataClientError`` when a file is not what it should be.
  package init(host: String, _ options: TLSOptions) throws(DataClientError) {
    guard options.preSharedKey == nil else {
      throw DataClientError(.unsupported, "a pre-shared key is not taken here; use certificates")
    }
    TLSError.clear()
    guard let context = SSL_CTX_new(TLS_client_method()) else {
      throw TLSError.failure("TLS can't be begun")
    }
    self.context = context
    self.host = host
    isVerified = options.verifiesCertificate
    verifiesHost = options.verifiesHostName
    ctls_prepare(context)
    try KeyLog.attach(context)
    try trust(options.authorityFile)
    try show(options.certificateFile, options.keyFile)
    SSL_CTX_set_verify(context, isVerified ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
  }

  deinit { SSL_CTX_free(context) }

  private func trust(_ file: String?) throws(DataClientError) {
    guard let file else {
      SSL_CTX_set_default_verify_paths(context)
      return
    }
    guard SSL_CTX_load_verify_file(context, file) == 1 else {
      throw TLSError.failure("\(file): no certificates of authorities")
    }
  }

  private func show(_ certificate: String?, _ key: String?) throws(DataClientError) {
    guard let certificate, let key else { return }
    guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
      throw TLSError.failure("\(certificate): no certificate")
    }
    guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
      throw TLSError.failure("\(key): not the key of \(certificate)")
    }
  }

  /// Makes a channel that speaks TLS as a client.
  /// - Parameters:
  ///   - socket: What it speaks on.
  ///   - applications: The protocols to offer, as ALPN has them; nothing for none.
  /// - Returns: The channel.
  /// - Throws: ``DataClientError`` when there is no memory for it.
  package func channel(
    on socket: TCPSocket, offering applications: [UInt8]
  ) throws(DataClientError) -> TLSChannel {
    guard let session = SSL_new(context) else { throw TLSError.failure("no TLS") }
    // From here on the channel frees it.
    let channel = TLSChannel(session, on: socket, peer: host)
    guard SSL_set_fd(session, socket.number) == 1 else {
      throw TLSError.failure("no TLS")
    }
    SSL_set_connect_state(session)
    if !applications.isEmpty {
      // Unlike others, this function returns 0 when it is done.
      let code = SSL_set_alpn_protos(session, applications, UInt32(clamping: applications.count))
      guard code == 0 else { throw TLSError.failure("no ALPN") }
    }
    let isAddress = IPText.isAddress(host)
    // RFC 6066 section 3: no address is named.
    if !isAddress { ctls_ask_for(session, host) }
    if isVerified, verifiesHost {
      let parameters = SSL_get0_param(session)
      let isSet =
        isAddress
        ? X509_VERIFY_PARAM_set1_ip_asc(parameters, host)
        : X509_VERIFY_PARAM_set1_host(parameters, host, 0)
      guard isSet == 1 else { throw TLSError.failure("\(host) can't be verified") }
    }
    return channel
  }
}
