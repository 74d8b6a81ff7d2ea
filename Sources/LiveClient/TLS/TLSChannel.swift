import CTLS

/// TLS on a socket (OpenSSL), whose handshake, bytes and end never wait.
///
/// OpenSSL writes by `write`, so a process that it is used in must not die of SIGPIPE.
package final class TLSChannel: ByteChannel {
  private let session: OpaquePointer
  private let socket: TCPSocket
  /// The server at the other end, for people; nil for a client.
  private let peer: String?
  /// What is noted of the handshake; C has its address.
  private let notes = UnsafeMutablePointer<ctls_notes>.allocate(capacity: 1)
  /// Whether reading ended for another reason than that nothing was there.
  private var isDue = false

  /// Takes a session over, which it frees.
  init(_ session: OpaquePointer, on socket: TCPSocket, peer: String?) {
    self.session = session
    self.socket = socket
    self.peer = peer
    ctls_take_notes(session, notes)
  }

  deinit {
    SSL_free(session)
    notes.deallocate()
  }

  package var number: Int32 { socket.number }

  package var hasMore: Bool { isDue || SSL_pending(session) > 0 }

  /// How the bytes are protected, for people.
  package var protection: String? {
    guard let version = SSL_get_version(session) else { return nil }
    let cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(session))
    return String(cString: version) + (cipher.map { " and " + String(cString: $0) } ?? "")
  }

  package func begin() -> ChannelBeginning {
    TLSError.clear()
    let code = SSL_do_handshake(session)
    guard code != 1 else {
      // What came behind the handshake may lie there already.
      isDue = true
      return .done
    }
    switch SSL_get_error(session, code) {
    case SSL_ERROR_WANT_READ: return .wantsReading
    case SSL_ERROR_WANT_WRITE: return .wantsWriting
    case SSL_ERROR_WANT_CLIENT_HELLO_CB: return .wantsAnswer
    default:
      guard let peer else { return .failed(TLSFailure.ofClient()) }
      return .failed(TLSFailure.text(session, peer, Self.text(notes.pointee.certified)))
    }
  }

  // MARK: What is said in the handshake

  /// A text in an array of C, up to its NUL.
  private static func text(_ bytes: some Any) -> String {
    withUnsafeBytes(of: bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The name that a client asks for; nothing when it asks for none.
  package var askedName: String { Self.text(notes.pointee.asked) }

  /// The protocols that a client offers, as ALPN has them.
  package var offeredApplications: [UInt8] {
    withUnsafeBytes(of: notes.pointee.offered) { Array($0.prefix(Int(notes.pointee.offered_size))) }
  }

  /// The protocol that both ends have agreed on, as ALPN has it without its length; nothing when they have not.
  package var application: [UInt8] {
    var bytes: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(session, &bytes, &count)
    return bytes.map { Array(UnsafeBufferPointer(start: $0, count: Int(count))) } ?? []
  }

  /// The subject that the other end's certificate names, for people; nil when it shows none.
  package var shownSubject: String? {
    guard let certificate = SSL_get0_peer_certificate(session),
      let text = X509_NAME_oneline(X509_get_subject_name(certificate), nil, 0)
    else { return nil }
    defer { CRYPTO_free(text, "", 0) }
    return String(cString: text)
  }

  /// Lets the handshake of a client go on that waits for an answer.
  /// - Parameters:
  ///   - certificate: The certificate to show.
  ///   - key: Its key.
  ///   - application: The protocol that is chosen, as ALPN has it without its length; nothing for none.
  /// - Returns: Whether the certificate is taken.
  func goOn(_ certificate: OpaquePointer, _ key: OpaquePointer, _ application: [UInt8]) -> Bool {
    let count = UInt8(clamping: application.count)
    withUnsafeMutableBytes(of: &notes.pointee.chosen) {
      $0.copyBytes(from: application.prefix(Int(count)))
    }
    notes.pointee.chosen_size = count
    notes.pointee.goes_on = 1
    TLSError.clear()
    return SSL_use_certificate(session, certificate) == 1 && SSL_use_PrivateKey(session, key) == 1
  }

  package func read(into buffer: inout [UInt8]) -> TCPSocket.Reading {
    var count = 0
    while count < buffer.count {
      TLSError.clear()
      let step = buffer.withUnsafeMutableBytes { bytes in
        let rest = bytes[count...]
        return SSL_read(
          session, UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress,
          Int32(clamping: rest.count))
      }
      if step > 0 {
        count += Int(step)
        continue
      }
      let code = SSL_get_error(session, step)
      isDue = code != SSL_ERROR_WANT_READ && code != SSL_ERROR_WANT_WRITE
      // What comes behind the bytes is told behind them.
      if count > 0 { return .bytes(count) }
      defer { isDue = false }
      if !isDue { return .later }
      return code == SSL_ERROR_ZERO_RETURN
        ? .end : .failed(TLSError.text() ?? "the connection was broken off")
    }
    isDue = true
    return .bytes(count)
  }

  package func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard !bytes.isEmpty else { return 0 }
    TLSError.clear()
    let step = bytes.withUnsafeBytes {
      SSL_write(session, $0.baseAddress, Int32(clamping: $0.count))
    }
    guard step <= 0 else { return Int(step) }
    let code = SSL_get_error(session, step)
    return code == SSL_ERROR_WANT_WRITE || code == SSL_ERROR_WANT_READ ? 0 : nil
  }

  package func shutdownWriting() -> Bool? {
    TLSError.clear()
    let step = SSL_shutdown(session)
    if step < 0, SSL_get_error(session, step) == SSL_ERROR_WANT_WRITE { return nil }
    return socket.shutdownWriting()
  }

  package func breakOffWhenClosed() { socket.breakOffWhenClosed() }
}
