import CTLS
import LiveClient

/// TLS on a socket (OpenSSL), whose handshake, bytes and end never wait.
///
/// OpenSSL writes by `write`, so a process that it is used in must not die of SIGPIPE.
final class TLSChannel: ByteChannel {
  private let session: OpaquePointer
  private let socket: TCPSocket
  /// Who is at the other end, for people.
  private let peer: String
  /// Whom the other end's certificate is for, if that is not accepted; C has its address.
  private let names = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CTLS_NAMES_SIZE))
  /// Whether reading ended for another reason than that nothing was there.
  private var isDue = false

  /// Takes a session over, which it frees.
  init(_ session: OpaquePointer, on socket: TCPSocket, peer: String) {
    self.session = session
    self.socket = socket
    self.peer = peer
    ctls_note_names(session, names)
  }

  deinit {
    SSL_free(session)
    names.deallocate()
  }

  var number: Int32 { socket.number }

  var hasMore: Bool { isDue || SSL_pending(session) > 0 }

  /// How the bytes are protected, for people.
  var protection: String? {
    guard let version = SSL_get_version(session) else { return nil }
    let cipher = SSL_CIPHER_get_name(SSL_get_current_cipher(session))
    return String(cString: version) + (cipher.map { " and " + String(cString: $0) } ?? "")
  }

  func begin() -> ChannelBeginning {
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
    default: return .failed(TLSFailure.text(session, peer, String(cString: names)))
    }
  }

  func read(into buffer: inout [UInt8]) -> TCPSocket.Reading {
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

  func write(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard !bytes.isEmpty else { return 0 }
    TLSError.clear()
    let step = bytes.withUnsafeBytes {
      SSL_write(session, $0.baseAddress, Int32(clamping: $0.count))
    }
    guard step <= 0 else { return Int(step) }
    let code = SSL_get_error(session, step)
    return code == SSL_ERROR_WANT_WRITE || code == SSL_ERROR_WANT_READ ? 0 : nil
  }

  func shutdownWriting() -> Bool? {
    TLSError.clear()
    let step = SSL_shutdown(session)
    if step < 0, SSL_get_error(session, step) == SSL_ERROR_WANT_WRITE { return nil }
    return socket.shutdownWriting()
  }

  func breakOffWhenClosed() { socket.breakOffWhenClosed() }
}
