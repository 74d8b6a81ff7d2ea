import CWebSockets
import Glibc

/// What libwebsockets is told once, and the tables that it wants to stay where they are.
enum WebSocketLibrary {
  /// The name of the one protocol, for the library only.
  static let protocolName = "reprise"

  /// TLS is set up.
  static let options: UInt64 = 1 << 12
  /// A client must show a certificate, and TLS is set up.
  static let asksForCertificates: UInt64 = 1 << 1 | 1 << 12
  /// No host is made together with the context, so that each can be looked at.
  static let explicitVirtualHosts: UInt64 = 1 << 13
  /// Accepted sockets carry bytes that the library does not look into.
  static let acceptsRaw: UInt64 = 1 << 22
  /// The system's authorities are not trusted.
  static let distrustsSystem: UInt64 = 1 << 6

  /// The address of a context that does nothing for as long as the process lives, 0 when there is none.
  ///
  /// It is never used again: it is kept so that whoever looks for leaks finds where it belongs.
  private static let firstContext: UInt = {
    // Errors come as events; nothing is written to standard error.
    lws_set_log_level(0, nil)
    var info = lws_context_creation_info()
    info.options = options | explicitVirtualHosts
    info.gid = -1
    info.uid = -1
    return UInt(bitPattern: lws_create_context(&info))
  }()

  /// Makes a context of whoever calls, without a host, or nil.
  ///
  /// TLS is set up once, by the context that stays. Each context that does so gives libwebsockets 4.1 new
  /// indices for what it keeps in objects of OpenSSL, and handshakes of other threads then miss theirs.
  /// - Parameters:
  ///   - user: What `lws_context_user` is to return.
  ///   - policy: The rule for PING and PONG.
  /// - Returns: The context.
  static func makeContext(
    user: UnsafeMutableRawPointer? = nil, policy: UnsafePointer<lws_retry_bo_t>? = nil
  ) -> OpaquePointer? {
    guard firstContext != 0 else { return nil }
    var info = lws_context_creation_info()
    info.options = explicitVirtualHosts
    info.gid = -1
    info.uid = -1
    // How much is read from a socket at once.
    info.pt_serv_buf_size = 65_536
    info.user = user
    info.retry_and_idle_policy = policy
    return lws_create_context(&info)
  }

  /// Makes the list of protocols; to be deallocated when the context is gone.
  /// - Parameter strings: Keeps the name for at least as long.
  /// - Returns: The list, whose last element is empty.
  static func makeProtocols(
    _ strings: inout CStrings
  ) -> UnsafeMutablePointer<lws_protocols> {
    let list = UnsafeMutablePointer<lws_protocols>.allocate(capacity: 2)
    list.initialize(repeating: lws_protocols(), count: 2)
    list[0].name = strings.keep(protocolName)
    list[0].rx_buffer_size = 65_536
    return list
  }

  /// Makes the rule for PING and PONG; to be deallocated when the context is gone.
  static func makePolicy(_ options: WebSocketOptions) -> UnsafeMutablePointer<lws_retry_bo_t> {
    let policy = UnsafeMutablePointer<lws_retry_bo_t>.allocate(capacity: 1)
    policy.initialize(to: lws_retry_bo_t())
    let ping = seconds(options.pingInterval)
    policy.pointee.secs_since_valid_ping = ping
    policy.pointee.secs_since_valid_hangup = UInt16(
      clamping: Int(ping) + Int(seconds(options.pongTimeout)))
    return policy
  }

  /// A duration in whole seconds, as far as the library can count them: 1 to 65,535.
  static func seconds(_ duration: Duration) -> UInt16 {
    UInt16(clamping: max(1, duration.components.seconds))
  }
}

/// Texts for the library that stay where they are as long as this does.
struct CStrings: ~Copyable {
  private var kept: [UnsafeMutablePointer<CChar>] = []

  init() {}

  deinit { for text in kept { free(text) } }

  /// Keeps a text; nil stays nil.
  mutating func keep(_ text: String?) -> UnsafePointer<CChar>? {
    guard let text else { return nil }
    for known in kept where String(cString: known) == text { return UnsafePointer(known) }
    guard let copy = strdup(text) else { return nil }
    kept.append(copy)
    return UnsafePointer(copy)
  }
}
