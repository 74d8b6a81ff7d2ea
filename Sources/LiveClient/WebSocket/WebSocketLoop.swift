import CWebSockets
import Glibc
import RepriseCore

/// What the thread of a ``WebSocketClient`` does: it owns the library's context, carries actions there and
/// events back.
///
/// Everything in it happens on that thread, so it needs no lock. The context keeps an unretained reference
/// to each ``WebSocketLink``, which stays in ``links`` until the library says that it is done with it.
final class WebSocketLoop {
  let setup: WebSocketSetup
  let orders: WebSocketOrders
  let events: EventQueue
  private var links: [ObjectIdentifier: WebSocketLink] = [:]
  private var current: WebSocketLink?
  private var context: OpaquePointer?
  private var host: OpaquePointer?
  /// What the library wants to stay where it is.
  private var strings = CStrings()

  /// Creates the work of a thread.
  init(_ setup: WebSocketSetup, orders: WebSocketOrders, events: EventQueue) {
    self.setup = setup
    self.orders = orders
    self.events = events
  }

  /// Works until the client is gone; a connection that is still open is cut.
  func run() {
    let extensions = WebSocketDeflate.makeList(
      isOffered: setup.options.offersDeflate, &strings)
    let protocols = WebSocketLibrary.makeProtocols(&strings)
    protocols[0].callback = { WebSocketLoop.callback($0, $1, $2, $3, $4) }
    let policy = WebSocketLibrary.makePolicy(setup.options)
    defer {
      extensions.deallocate()
      protocols.deallocate()
      policy.deallocate()
    }
    context = WebSocketLibrary.makeContext(policy: policy)
    host = makeHost(context, protocols, extensions, policy)
    orders.serve(context)
    work(policy)
    // From here on nobody wakes the context, which may then go.
    orders.serve(nil)
    if let context { lws_context_destroy(context) }
    context = nil
    host = nil
    links = [:]
  }

  private func work(_ policy: UnsafePointer<lws_retry_bo_t>) {
    while true {
      let orders = self.orders.take()
      guard !orders.isStopped else { return }
      if let link = current, link.attempt != orders.attempt { abandon(link) }
      if orders.opens { open(orders.attempt, policy) }
      current?.resume(hasRoom: current?.isPaused == true && events.takeRoom().events > 0)
      if let bytes = orders.closesBehind { current?.limitClosing(behind: bytes) }
      if orders.writes { current?.askToWrite() }
      guard let context else {
        // Without a context nothing ever happens but the end.
        usleep(100_000)
        continue
      }
      if lws_service(context, 0) < 0 { return fail() }
    }
  }

  /// Tells that nothing works any more; connections that are open are told of when the context goes.
  private func fail() {
    guard let attempt = orders.fail(), orders.closed(attempt) != nil else { return }
    events.append([.closed(.unreached("libwebsockets failed"))])
  }

  // MARK: - Opening and closing

  /// Makes the one host of a context, which keeps what its connections have in common.
  private func makeHost(
    _ context: OpaquePointer?, _ protocols: UnsafePointer<lws_protocols>,
    _ extensions: UnsafePointer<lws_extension>, _ policy: UnsafePointer<lws_retry_bo_t>
  ) -> OpaquePointer? {
    guard let context else { return nil }
    var info = lws_context_creation_info()
    info.port = CONTEXT_PORT_NO_LISTEN
    info.protocols = protocols
    info.extensions = extensions
    info.retry_and_idle_policy = policy
    info.options = WebSocketLibrary.options
    if setup.tls.authorityFile != nil { info.options |= WebSocketLibrary.distrustsSystem }
    info.client_ssl_ca_filepath = strings.keep(setup.tls.authorityFile)
    info.client_ssl_cert_filepath = strings.keep(setup.tls.certificateFile)
    info.client_ssl_private_key_filepath = strings.keep(setup.tls.keyFile)
    return KeyLog.attach(toContextsIfSecure: setup.url.isSecure) {
      lws_create_vhost(context, &info)
    }
  }

  private func open(_ attempt: UInt64, _ policy: UnsafePointer<lws_retry_bo_t>) {
    let link = WebSocketLink(self, attempt)
    links[ObjectIdentifier(link)] = link
    current = link
    guard let context, let host else {
      return finish(
        link, "the library makes no context; are the certificate files readable?",
        mayLackNetwork: false)
    }
    var info = lws_client_connect_info()
    info.context = context
    info.vhost = host
    info.address = strings.keep(setup.url.host)
    info.port = Int32(setup.url.port)
    info.path = strings.keep(setup.url.path)
    info.host = strings.keep(setup.url.authority)
    info.origin = nil
    info.protocol = strings.keep(
      setup.options.subprotocols.isEmpty
        ? nil : setup.options.subprotocols.joined(separator: ", "))
    info.local_protocol_name = strings.keep(WebSocketLibrary.protocolName)
    info.ietf_version_or_minus_one = -1
    info.ssl_connection = connectionFlags
    info.retry_and_idle_policy = policy
    info.userdata = Unmanaged.passUnretained(link).toOpaque()
    guard orders.setBlocked(true) else { return }
    let wsi = lws_client_connect_via_info(&info)
    orders.setBlocked(false)
    // The library has told of most failures by then; not of all.
    if wsi == nil { finish(link, "the connection could not be begun") } else { link.wsi = wsi }
  }

  /// How to connect.
  ///
  /// No redirection is followed: the library would take the user's password along, to whatever
  /// server the answer names.
  private var connectionFlags: Int32 {
    var flags = LCCSCF_HTTP_NO_FOLLOW_REDIRECT.rawValue
    guard setup.url.isSecure else { return Int32(bitPattern: flags) }
    flags |= LCCSCF_USE_SSL.rawValue
    if !setup.tls.verifiesCertificate {
      flags |=
        LCCSCF_ALLOW_SELFSIGNED.rawValue | LCCSCF_ALLOW_EXPIRED.rawValue
        | LCCSCF_ALLOW_INSECURE.rawValue | LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK.rawValue
    } else if !setup.tls.verifiesHostName {
      flags |= LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK.rawValue
    }
    return Int32(bitPattern: flags)
  }

  private func abandon(_ link: WebSocketLink) {
    link.kill()
    current = nil
  }

  /// Tells, once, that a connection is over: by a Close frame of the server, or otherwise.
  /// - Parameters:
  ///   - link: The connection.
  ///   - reason: Why, for people.
  ///   - isInOrder: Whether the server has closed it by a Close frame.
  ///   - mayLackNetwork: Whether the network may be the reason; of that the library says nothing.
  func finish(
    _ link: WebSocketLink, _ reason: String, isInOrder: Bool = false, mayLackNetwork: Bool = true
  ) {
    guard !link.isFinished else { return }
    link.isFinished = true
    if current === link { current = nil }
    guard let isByUser = orders.closed(link.attempt) else { return }
    let place = "\(setup.url.host):\(setup.url.port)"
    let text = "\(place): \(reason)"
    let ending: ClientEvent.Closed =
      switch (link.hasAsked, isInOrder) {
      case (false, _):
        .unreached(text, cause: mayLackNetwork ? .ofNoWay(to: setup.url.host) : .other)
      case (true, true): .byServer(code: nil, text)
      case (true, false): .lost(text)
      }
    events.append([.closed(isByUser ? .byUser : ending)])
  }

  /// Forgets a connection that the library is done with.
  func forget(_ link: WebSocketLink) {
    finish(link, "the connection was lost")
    link.wsi = nil
    links[ObjectIdentifier(link)] = nil
  }

  // MARK: - The library's calls

  private static func callback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ data: UnsafeMutableRawPointer?, _ count: Int
  ) -> Int32 {
    switch reason {
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER, LWS_CALLBACK_CLIENT_CONNECTION_ERROR,
      LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH,
      LWS_CALLBACK_CLIENT_ESTABLISHED, LWS_CALLBACK_CLIENT_RECEIVE,
      LWS_CALLBACK_CLIENT_WRITEABLE, LWS_CALLBACK_WS_PEER_INITIATED_CLOSE,
      LWS_CALLBACK_CLIENT_CLOSED, LWS_CALLBACK_TIMER, LWS_CALLBACK_WSI_DESTROY:
      break
    // For other reasons `user` may be anything.
    default: return 0
    }
    guard let user, let wsi else { return 0 }
    let link = Unmanaged<WebSocketLink>.fromOpaque(user).takeUnretainedValue()
    link.wsi = wsi
    let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count)
    switch reason {
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: return link.addHeaders(data, count)
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR: link.noteFailure(bytes)
    case LWS_CALLBACK_CLIENT_FILTER_PRE_ESTABLISH: return link.checkSubprotocol()
    case LWS_CALLBACK_CLIENT_ESTABLISHED: return link.noteOpen()
    case LWS_CALLBACK_CLIENT_RECEIVE: return link.receive(bytes)
    case LWS_CALLBACK_CLIENT_WRITEABLE: return link.write()
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE: link.noteClose(bytes)
    case LWS_CALLBACK_CLIENT_CLOSED: link.noteClosed()
    case LWS_CALLBACK_TIMER: link.excuseSilence()
    default: link.loop?.forget(link)
    }
    return 0
  }
}
