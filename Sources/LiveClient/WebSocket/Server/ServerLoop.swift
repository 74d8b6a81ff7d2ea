import CWebSockets
import Glibc
import RepriseCore
import Wire

/// What the thread of a ``WebSocketServer`` does: it owns the library's context.
///
/// Everything in it happens on that thread, so it needs no lock. The library knows a connection by an
/// unretained reference to its ``ServerLink``, which stays in ``links`` until the library is done with it.
final class ServerLoop {
  let options: WebSocketServerOptions
  let orders: ServerOrders
  let clock = LiveClock()
  private let decide: @Sendable (WebSocketRequest) -> WebSocketDecision
  private let connections: ThreadMailbox<WebSocketServerConnection>
  private var links: [UInt64: ServerLink] = [:]
  private var lastNumber: UInt64 = 0
  private var isStopping = false
  /// How many connections more than allowed may wait to be refused.
  private static let refusals = 100
  /// What the library wants to stay where it is.
  private var strings = CStrings()

  init(
    _ options: WebSocketServerOptions, orders: ServerOrders,
    connections: ThreadMailbox<WebSocketServerConnection>,
    deciding decide: @escaping @Sendable (WebSocketRequest) -> WebSocketDecision
  ) {
    self.options = options
    self.orders = orders
    self.connections = connections
    self.decide = decide
  }

  /// Works until the server ends.
  /// - Parameter started: Called once, with the port or with what is wrong.
  func run(started: (Result<UInt16, DataClientError>) -> Void) {
    let place: ListeningPlace
    do throws(DataClientError) {
      place = try ListeningPlace(options.address, port: options.port)
      // At an address that is not there the library would wait for it to come.
      try place.check()
    } catch {
      return started(.failure(error))
    }
    let protocols = WebSocketLibrary.makeProtocols(&strings)
    protocols[0].callback = { ServerLoop.callback($0, $1, $2, $3, $4) }
    defer { protocols.deallocate() }
    guard
      let context = WebSocketLibrary.makeContext(user: Unmanaged.passUnretained(self).toOpaque())
    else {
      return started(.failure(.init(.transport, "the library makes no context")))
    }
    if let port = listen(on: place, context, protocols) {
      orders.serve(context)
      started(.success(port))
      work(context)
      // From here on nobody wakes the context, which may then go.
      orders.serve(nil)
      lws_context_destroy(context)
      connections.finish()
    } else {
      lws_context_destroy(context)
      started(.failure(place.error(options.tls == nil ? nil : "the certificate or its key is bad")))
    }
    links = [:]
  }

  private func work(_ context: OpaquePointer) {
    while true {
      let (wanted, isStopped) = orders.take()
      if isStopped, !isStopping {
        isStopping = true
        for link in links.values { link.goAway() }
      }
      if isStopping, links.isEmpty { return }
      for number in wanted { links[number]?.look() }
      if lws_service(context, 0) < 0 { return }
    }
  }

  // MARK: - The context

  /// Listens, and returns the port.
  private func listen(
    on place: ListeningPlace, _ context: OpaquePointer, _ protocols: UnsafePointer<lws_protocols>
  ) -> UInt16? {
    var info = lws_context_creation_info()
    info.options = WebSocketLibrary.options | WebSocketLibrary.acceptsRaw
    info.port = Int32(options.port)
    info.iface = strings.keep(place.address)
    info.protocols = protocols
    info.listen_accept_role = strings.keep("raw-skt")
    info.listen_accept_protocol = strings.keep(WebSocketLibrary.protocolName)
    if let tls = options.tls {
      info.ssl_cert_filepath = strings.keep(tls.certificateFile)
      info.ssl_private_key_filepath = strings.keep(tls.keyFile)
      info.ssl_ca_filepath = strings.keep(tls.clientAuthorityFile)
      if tls.clientAuthorityFile != nil { info.options |= WebSocketLibrary.asksForCertificates }
    }
    let made = KeyLog.attach(toContextsIfSecure: options.tls != nil) {
      lws_create_vhost(context, &info)
    }
    guard let host = made else { return nil }
    return UInt16(exactly: lws_get_vhost_listen_port(host)).flatMap { $0 > 0 ? $0 : nil }
  }

  // MARK: - Connections

  /// What a request that keeps to the rules is answered.
  func decision(on request: WebSocketRequest) -> WebSocketDecision {
    // Those that nobody took count, be they over or not: a client that comes and goes fills the memory too.
    guard links.count <= options.limits.connections, connections.takeRoom() else {
      return .refuse(status: 503, body: "There are too many connections.")
    }
    return decide(request)
  }

  /// Hands a connection to whoever accepts them.
  func accept(_ connection: WebSocketServerConnection) { connections.append(connection) }

  private func adopt(_ wsi: OpaquePointer) -> Int32 {
    // Those beyond the limit are told so; there must not be many of them either.
    let most = options.limits.connections.addingReportingOverflow(Self.refusals)
    guard !isStopping, most.overflow || links.count < most.partialValue else { return -1 }
    lastNumber += 1
    let link = ServerLink(self, number: lastNumber, wsi: wsi)
    links[lastNumber] = link
    lws_set_opaque_user_data(wsi, Unmanaged.passUnretained(link).toOpaque())
    return link.timerFired()
  }

  private func forget(_ link: ServerLink, _ wsi: OpaquePointer) {
    lws_set_opaque_user_data(wsi, nil)
    link.forget()
    links[link.number] = nil
    // The library does what is due before it waits: it must not wait for more when this was the last one.
    if isStopping, links.isEmpty { lws_cancel_service(lws_get_context(wsi)) }
  }

  // MARK: - The library's calls

  private static func callback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ data: UnsafeMutableRawPointer?, _ count: Int
  ) -> Int32 {
    switch reason {
    case LWS_CALLBACK_RAW_ADOPT, LWS_CALLBACK_RAW_RX, LWS_CALLBACK_RAW_WRITEABLE,
      LWS_CALLBACK_RAW_CLOSE, LWS_CALLBACK_TIMER, LWS_CALLBACK_WSI_DESTROY:
      break
    // For other reasons there is no connection of ours.
    default: return 0
    }
    guard let wsi, let owner = lws_context_user(lws_get_context(wsi)) else { return 0 }
    let loop = Unmanaged<ServerLoop>.fromOpaque(owner).takeUnretainedValue()
    if reason == LWS_CALLBACK_RAW_ADOPT { return loop.adopt(wsi) }
    guard let known = lws_get_opaque_user_data(wsi) else { return 0 }
    let link = Unmanaged<ServerLink>.fromOpaque(known).takeUnretainedValue()
    switch reason {
    case LWS_CALLBACK_RAW_RX:
      // The library gives a new TLS connection some seconds, and forgets to take them back.
      lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0)
      return link.receive(UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : count))
    case LWS_CALLBACK_RAW_WRITEABLE: return link.write()
    case LWS_CALLBACK_TIMER: return link.timerFired()
    default: loop.forget(link, wsi)
    }
    return 0
  }
}
