import CWebSockets
import Glibc
import RepriseCore
import WireDeflate

/// One connection of a ``WebSocketLoop``, from the wish to connect until the library has let it go.
final class WebSocketLink {
  weak var loop: WebSocketLoop?
  /// The number of the connection, as the ``WebSocketOrders`` count.
  let attempt: UInt64
  /// The library's connection.
  var wsi: OpaquePointer?
  /// Whether it was told that the connection is over.
  var isFinished = false
  /// Whether the socket is not read, as there is no room for events.
  private(set) var isPaused = false
  private var isOpen = false
  /// Whether the opening request went out, or was about to: TCP was up, and with it TLS.
  private(set) var hasAsked = false
  private var isUnwanted = false
  private var message: [UInt8] = []
  private var isDeflated = false
  private var inflater: WebSocketInflater?
  private var deflater: WebSocketDeflater?
  /// Whether the next frame is to be marked as the first of a deflated message.
  private var isMarking = false
  private var closing: String?
  /// Whether the server closed it by a Close frame.
  private var isClosedByServer = false
  /// Whether the time for closing is running.
  private var isClosingLimited = false
  /// How long the message that was written last is.
  private var lastWritten = 0

  /// Creates a connection that is to be opened.
  init(_ loop: WebSocketLoop, _ attempt: UInt64) {
    self.loop = loop
    self.attempt = attempt
  }

  // MARK: - Opening

  /// Writes the fields of the opening request that are the user's.
  func addHeaders(_ place: UnsafeMutableRawPointer?, _ count: Int) -> Int32 {
    guard let loop, let wsi, let place else { return -1 }
    let cursor = place.assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
    guard let end = cursor.pointee?.advanced(by: count) else { return -1 }
    for (name, value) in loop.setup.headers {
      let bytes = Array(value.utf8)
      guard lws_add_http_header_by_name(wsi, name, bytes, Int32(bytes.count), cursor, end) == 0
      else {
        closing = "the headers are too long for one request"
        return -1
      }
    }
    hasAsked = true
    return 0
  }

  /// Looks at the server's answer as long as the library has it: whether it chose a subprotocol.
  ///
  /// One that was not offered the library refuses by itself (RFC 6455 section 4.1).
  func checkSubprotocol() -> Int32 {
    guard let loop, let wsi, loop.setup.options.requiresSubprotocol,
      lws_hdr_total_length(wsi, WSI_TOKEN_PROTOCOL) <= 0
    else { return 0 }
    let offered = loop.setup.options.subprotocols.joined(separator: ", ")
    closing = "the server does not choose the subprotocol \(offered)"
    return -1
  }

  func noteOpen() -> Int32 {
    guard let loop, !isUnwanted, loop.orders.opened(attempt) else { return -1 }
    isOpen = true
    loop.events.append([.connected(.init())])
    return 0
  }

  func noteFailure(_ text: UnsafeRawBufferPointer) {
    let text = String(decoding: text, as: UTF8.self)
    let status = wsi.map { lws_http_client_http_response($0) } ?? 0
    var suffix = status != 0 && status != 101 ? " (HTTP status \(status))" : ""
    if (300..<400).contains(status), let place = redirection {
      suffix += ", but names another place: \(place)"
    }
    let known = closing ?? certificateProblem
    loop?.finish(
      self, (known ?? Self.handshakeProblem(text)) + suffix,
      mayLackNetwork: known == nil && status == 0)
  }

  /// Which check the server's certificate did not pass (RFC 5280 section 6); nil where all were passed, or none
  /// was made.
  private var certificateProblem: String? {
    guard let loop, loop.setup.url.isSecure, loop.setup.tls.verifiesCertificate, let wsi,
      let connection = lws_get_ssl(wsi)
    else { return nil }
    let code = SSL_get_verify_result(connection)
    guard code != Int(X509_V_OK) else { return nil }
    if code == Int(X509_V_ERR_HOSTNAME_MISMATCH) || code == Int(X509_V_ERR_IP_ADDRESS_MISMATCH) {
      return "the server's certificate is not for the host \(loop.setup.url.host)"
    }
    let why = X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "code \(code)"
    return "the server's certificate is not trusted (\(why))"
  }

  /// Where the server's answer sends to, of reasonable length.
  private var redirection: String? {
    guard let wsi else { return nil }
    var text = [CChar](repeating: 0, count: 1_024)
    let count = lws_hdr_copy(wsi, &text, Int32(text.count), WSI_TOKEN_HTTP_LOCATION)
    guard count > 0 else { return nil }
    return String(decoding: text.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// What the library's words for a handshake that failed mean (RFC 6455 section 4.1).
  private static func handshakeProblem(_ text: String) -> String {
    switch text {
    case "": "the connection could not be opened"
    case "HS: ACCEPT missing", "HS: Accept hash wrong":
      "the server's answer has no Sec-WebSocket-Accept that goes with the key"
    case _ where text.hasPrefix("HS: UPGRADE") || text.hasPrefix("HS: CONNECTION"):
      "the server's answer does not switch to WebSocket by its Upgrade and Connection"
    case _ where text.hasPrefix("connect SSL err"): "TLS could not be begun"
    case "HS: ws upgrade unauthorized": "the server takes no connection of this user"
    case "HS: PROTOCOL malformed": "the server chose a subprotocol that was not offered"
    case _ where text.hasPrefix("HS: EXT"): "the server chose an extension that was not offered"
    case "HS: ws upgrade response not 101": "the server did not switch to WebSocket"
    case "read failed", "Peer hung up":
      "the server closed the connection, and gave no answer of HTTP before"
    default: text
    }
  }

  // MARK: - Messages

  func receive(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard let loop, let wsi, !isUnwanted else { return -1 }
    lws_validity_confirmed(wsi)
    let reserved = lws_get_reserved_bits(wsi)
    if lws_is_first_fragment(wsi) != 0 {
      message.removeAll(keepingCapacity: true)
      isDeflated = reserved & WebSocketDeflate.mark != 0
    }
    // With any extension the library lets all reserved bits pass (RFC 6455 section 5.2).
    guard reserved & ~WebSocketDeflate.mark == 0, !isDeflated || inflater != nil else {
      return fail(LWS_CLOSE_STATUS_PROTOCOL_ERR, "a frame has a reserved bit set")
    }
    let isLast = lws_is_final_fragment(wsi) != 0
    switch append(bytes, isLast: isLast, limit: loop.setup.options.messageLimit) {
    case .inflated: break
    case .tooLarge:
      return fail(
        LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE,
        "a message is longer than \(loop.setup.options.messageLimit) bytes")
    case .damaged:
      return fail(LWS_CLOSE_STATUS_INVALID_PAYLOAD, "a message can't be inflated")
    }
    guard isLast else { return 0 }
    if lws_frame_is_binary(wsi) != 0 {
      loop.events.append([.binary(message)])
    } else if let text = String(validating: message, as: UTF8.self) {
      loop.events.append([.text(text)])
    } else {
      return fail(LWS_CLOSE_STATUS_INVALID_PAYLOAD, "a text is not UTF-8")
    }
    message = []
    if loop.events.takeRoom().events == 0 { pause() }
    return 0
  }

  private func append(
    _ bytes: UnsafeRawBufferPointer, isLast: Bool, limit: Int
  ) -> WebSocketInflater.Outcome {
    guard isDeflated else {
      guard message.count + bytes.count <= limit else { return .tooLarge }
      message.append(contentsOf: bytes)
      return .inflated
    }
    return inflater?.inflate(bytes.bytes, isLast: isLast, into: &message, limit: limit) ?? .damaged
  }

  /// Gives the connection up because of what the server sent.
  private func fail(_ code: lws_close_status, _ reason: String) -> Int32 {
    closing = reason
    if let wsi { lws_close_reason(wsi, code, nil, 0) }
    return -1
  }

  /// Writes the next message, or closes the connection when that is wanted and nothing is left.
  func write() -> Int32 {
    guard let loop, let wsi, !isUnwanted else { return -1 }
    if let next = loop.orders.takeMessage() {
      var bytes = deflated(next.bytes)
      let written = bytes.withUnsafeMutableBufferPointer { buffer -> Int32 in
        guard let start = buffer.baseAddress else { return -1 }
        return lws_write(
          wsi, start + WebSocketOrders.Outgoing.prefix,
          buffer.count - WebSocketOrders.Outgoing.prefix,
          next.isText ? LWS_WRITE_TEXT : LWS_WRITE_BINARY)
      }
      guard written >= 0 else { return -1 }
      lastWritten = next.bytes.count
      askToWrite()
      return 0
    }
    guard loop.orders.isClosing else { return 0 }
    lws_close_reason(wsi, LWS_CLOSE_STATUS_NORMAL, nil, 0)
    return -1
  }

  // MARK: - Compression

  /// Notes that the server accepted what was offered.
  func agreeOnDeflate() {
    inflater = WebSocketInflater()
    deflater = WebSocketDeflater(keepsContext: false)
  }

  /// A message as it travels, with the room in front of it.
  private func deflated(_ bytes: [UInt8]) -> [UInt8] {
    let prefix = WebSocketOrders.Outgoing.prefix
    // What is this short grows.
    guard deflater != nil, bytes.count > prefix + 64,
      let payload = deflater?.deflate(Array(bytes.dropFirst(prefix)))
    else { return bytes }
    isMarking = true
    return Array(repeating: 0, count: prefix) + payload
  }

  /// Whether the frame that is written now is to be marked.
  func takeMark() -> Bool {
    defer { isMarking = false }
    return isMarking
  }

  /// Has ``write()`` called when the socket takes bytes.
  func askToWrite() {
    guard isOpen, let wsi else { return }
    lws_callback_on_writable(wsi)
  }

  // MARK: - Back-pressure

  private func pause() {
    guard !isPaused, let wsi else { return }
    isPaused = true
    lws_rx_flow_control(wsi, 0)
    excuseSilence()
  }

  /// Keeps the library from taking a server for dead whose PONG is not read, as the socket is not.
  func excuseSilence() {
    guard isPaused, let wsi, let policy = loop?.setup.options else { return }
    lws_validity_confirmed(wsi)
    // Twice in the time after which the library would ask.
    lws_set_timer_usecs(wsi, Int64(WebSocketLibrary.seconds(policy.pingInterval)) * 500_000)
  }

  /// Reads the socket again, once there is room.
  func resume(hasRoom: Bool) {
    guard hasRoom, isPaused, let wsi else { return }
    isPaused = false
    lws_rx_flow_control(wsi, 1)
  }

  // MARK: - Closing

  /// Cuts the connection when what waits to be written, and the Close frame behind it, are not in time.
  ///
  /// The library limits how long the server may take to answer a Close frame, not how long until one is written.
  /// - Parameter bytes: How many bytes wait.
  func limitClosing(behind bytes: Int) {
    guard !isClosingLimited, let wsi, let loop else { return }
    isClosingLimited = true
    // The library keeps the rest of the last message for itself.
    let waiting = bytes.addingReportingOverflow(
      lws_partial_buffered(wsi) == 0 ? 0 : lastWritten)
    let seconds = loop.setup.closing.seconds(
      behind: waiting.overflow ? .max : waiting.partialValue)
    lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, seconds)
  }

  /// Notes what the server's Close frame says: a code of two bytes and a text (RFC 6455 section 5.5.1).
  func noteClose(_ bytes: UnsafeRawBufferPointer) {
    // What this end gave the connection up for stays the reason.
    guard closing == nil else { return }
    isClosedByServer = true
    guard bytes.count >= 2 else { return closing = "the server closed the connection" }
    let code = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    let text = String(decoding: bytes.dropFirst(2), as: UTF8.self)
    closing =
      "the server closed the connection with code \(code)" + (text.isEmpty ? "" : ": \(text)")
  }

  func noteClosed() {
    loop?.finish(
      self, closing ?? "the connection was lost, or closed with a code that libwebsockets refuses",
      isInOrder: isClosedByServer)
  }

  /// Ends a connection that nobody asks for any more.
  func kill() {
    isUnwanted = true
    isFinished = true
    if let wsi { lws_set_timeout(wsi, PENDING_TIMEOUT_USER_OK, Int32(LWS_TO_KILL_ASYNC)) }
  }
}
