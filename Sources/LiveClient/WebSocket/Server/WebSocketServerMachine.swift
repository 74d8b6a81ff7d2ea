package import RepriseCore
package import Wire
import WireDeflate

/// The server's side of one connection: bytes in, bytes and events out (RFC 6455).
///
/// It knows no socket and no clock. What it wants written is in ``output``, and what it wants done is
/// returned.
package struct WebSocketServerMachine: ~Copyable {
  /// What to do, in this order.
  package enum Order {
    /// The connection is open: tell whoever accepts connections.
    case open(WebSocketAgreement)
    /// Tell whoever has the connection.
    case tell(WebSocketServerEvent)
    /// Write ``output`` to its end and then nothing more; go on reading until the client ends too.
    case finish
    /// End the connection at once.
    case cut
  }

  /// How long an open connection may take until its Close frame is written.
  enum Leaving {
    /// It is not to be closed.
    case not
    /// Its owner closes it: the client is waited for as long as it reads.
    case patient(by: Timestamp)
    /// The server stops: the Close frames of both sides have to be there by then.
    case firm(by: Timestamp)

    /// When the connection is given up if it is still open.
    var deadline: Timestamp? {
      switch self {
      case .not: nil
      case .patient(let deadline), .firm(let deadline): deadline
      }
    }
  }

  package enum Phase {
    /// The client's request is not complete, or not answered.
    case handshake
    case open
    /// The server's Close frame is written, the client's is awaited.
    case closing
    /// Nothing more is written, and what comes is dropped until the client ends the connection. A
    /// socket that is closed with bytes unread takes back what was written last.
    case draining
    case ended
  }

  let options: WebSocketServerOptions
  private let decide: (WebSocketRequest) -> WebSocketDecision?
  package internal(set) var phase = Phase.handshake
  /// The request that no answer was decided on yet.
  package private(set) var request: WebSocketRequest?
  /// The bytes that wait for the socket.
  package var output = OutputBuffer()
  var orders: [Order] = []
  var silence: SilenceWatch
  private var leaving = Leaving.not
  private(set) var phaseStart: Timestamp
  private var head: HTTPHeadReader
  var framer: WebSocketFramer?
  var receiver: WebSocketReceiver?
  var deflater: WebSocketDeflater?
  /// The fragments of the message that is not complete, without what inflating undid.
  var message: [UInt8] = []
  var isText = false
  /// Whether the client's Close frame waits for one of the server's own, instead of being answered at once.
  package var holdsClose = false
  /// What the client's Close frame said that waits.
  package internal(set) var heldClose: (code: UInt16?, reason: String)?
  /// What the server's own Close frame said.
  var said: (code: UInt16?, reason: String) = (nil, "")

  /// Creates a connection that was just accepted.
  /// - Parameters:
  ///   - options: What is agreed to, and how much is taken.
  ///   - now: The time.
  ///   - decide: Says whether a request that keeps to the rules is accepted; nil leaves it to ``answer(_:at:)``.
  package init(
    _ options: WebSocketServerOptions, at now: Timestamp,
    deciding decide: @escaping (WebSocketRequest) -> WebSocketDecision?
  ) {
    self.options = options
    self.decide = decide
    head = HTTPHeadReader()
    phaseStart = now
    silence = SilenceWatch(
      interval: options.limits.pingInterval, answerTime: options.limits.pongTime, at: now)
  }

  mutating func enter(_ phase: Phase, at now: Timestamp) {
    self.phase = phase
    phaseStart = now
  }

  private mutating func takeOrders() -> [Order] {
    defer { orders = [] }
    return orders
  }

  // MARK: - What happened

  /// Bytes came.
  package mutating func received(_ piece: RawSpan, at now: Timestamp) -> [Order] {
    silence.heard(at: now)
    switch phase {
    case .handshake: receiveHead(piece, at: now)
    case .open, .closing: receiveFrames(piece, at: now)
    case .draining, .ended: break
    }
    return takeOrders()
  }

  /// The socket took bytes of ``output``.
  mutating func wrote(at now: Timestamp) {
    silence.wrote(output.taken, at: now)
    guard case .patient = leaving else { return }
    leaving = .patient(by: now.advanced(by: options.limits.pongTime))
  }

  /// The connection is to be closed: a Close frame waits behind what is not encoded yet.
  /// - Parameters:
  ///   - isFirm: Whether time is up for a client that reads, too, as the server stops.
  ///   - now: The time.
  mutating func leave(isFirm: Bool, at now: Timestamp) {
    switch (leaving, isFirm) {
    case (.not, false): leaving = .patient(by: now.advanced(by: options.limits.pongTime))
    case (.not, true), (.patient, true):
      leaving = .firm(by: now.advanced(by: options.limits.closeTime))
    case (.patient, false), (.firm, _): break
    }
  }

  /// The client ended the connection, or it broke.
  package mutating func ended(_ reason: String) -> [Order] {
    lose(reason)
    return takeOrders()
  }

  /// Something is to be written.
  /// - Returns: What to do; nothing of the item when the connection is closing already.
  package mutating func send(_ item: ServerOutbox.Item, at now: Timestamp) -> [Order] {
    guard phase == .open else { return [] }
    switch item {
    case .text(let text): write(.text, Array(text.utf8))
    case .binary(let bytes): write(.binary, bytes)
    case .ping(let bytes): output.append(WebSocketFrame(.ping, bytes).encoded())
    case .frame(let frame): output.append(frame.encoded())
    case .close(let code, let reason):
      said = (code, reason)
      writeClose(code, reason)
      message = []
      if let heldClose { endByClient(heldClose, at: now) } else { enter(.closing, at: now) }
    case .drop:
      message = []
      orders.append(.tell(.closed(.dropped)))
      orders.append(.finish)
      enter(.draining, at: now)
    }
    return takeOrders()
  }

  /// Answers the request that waits for it; nothing happens where none does.
  package mutating func answer(_ decision: WebSocketDecision, at now: Timestamp) -> [Order] {
    guard let request else { return [] }
    self.request = nil
    follow(decision, request, at: now)
    return takeOrders()
  }

  /// Answers a request, or nothing yet, by what opens no connection, right or wrong, and ends.
  package mutating func refuse(by head: HTTPHead?, at now: Timestamp) -> [Order] {
    guard phase == .handshake else { return [] }
    request = nil
    if let head { output.append(head.bytes) }
    enter(.draining, at: now)
    orders.append(.finish)
    return takeOrders()
  }

  // MARK: - Time

  /// When ``passed(at:isReading:)`` is due; nil when nothing is waited for.
  package var deadline: Timestamp? {
    switch phase {
    // The caller that is to answer has all the time in the world.
    case .handshake where request != nil: nil
    case .handshake: phaseStart.advanced(by: options.limits.handshakeTime)
    case .open: earlier(silence.deadline, leaving.deadline)
    case .closing:
      if case .firm(let deadline) = leaving { min(closeDeadline, deadline) } else { closeDeadline }
    case .draining: closeDeadline
    case .ended: nil
    }
  }

  private var closeDeadline: Timestamp { phaseStart.advanced(by: options.limits.closeTime) }

  /// The time is what it is.
  /// - Parameters:
  ///   - now: The time.
  ///   - isReading: Whether the socket is read; who is not listened to can't be called silent.
  /// - Returns: What to do.
  package mutating func passed(at now: Timestamp, isReading: Bool) -> [Order] {
    guard let deadline, deadline <= now else { return [] }
    switch phase {
    case .handshake: refuse(408, [], "the request took too long", at: now)
    case .open where leaving.deadline.map { $0 <= now } ?? false:
      lose("the client does not read")
      orders.append(.cut)
    case .open where !isReading: silence.heard(at: now)
    case .open where !silence.isAsked:
      output.append(WebSocketFrame(.ping, []).encoded())
      silence.asked(output.added, at: now)
    case .open:
      lose("the client is silent, and answered no PING")
      orders.append(.cut)
    case .closing, .draining:
      lose("the client answered no Close frame")
      orders.append(.cut)
    case .ended: break
    }
    return takeOrders()
  }

  /// Tells that the connection is over, if that was not told.
  private mutating func lose(_ reason: String) {
    switch phase {
    case .open, .closing: orders.append(.tell(.closed(.lost(reason))))
    case .handshake, .draining, .ended: break
    }
    phase = .ended
  }

  // MARK: - The opening handshake (section 4.2)

  private mutating func receiveHead(_ piece: RawSpan, at now: Timestamp) {
    guard request == nil else {
      request = nil
      return refuse(400, [], "the client did not wait for the answer", at: now)
    }
    switch head.consume(piece) {
    case .needMore: break
    case .tooLarge: refuse(431, [], "the request is too long", at: now)
    case .head(let head, let used):
      answer(WebSocketRequest(head), at: now)
      let rest = piece.extracting(droppingFirst: used)
      guard rest.byteCount > 0 else { return }
      if self.request != nil { return receiveHead(rest, at: now) }
      if phase == .open { receiveFrames(rest, at: now) }
    }
  }

  private mutating func answer(_ request: WebSocketRequest, at now: Timestamp) {
    if let refusal = WebSocketAgreement.refusal(of: request) {
      return refuse(refusal.status, refusal.fields, refusal.text, at: now)
    }
    guard let decision = decide(request) else {
      self.request = request
      return
    }
    follow(decision, request, at: now)
  }

  private mutating func follow(
    _ decision: WebSocketDecision, _ request: WebSocketRequest, at now: Timestamp
  ) {
    switch decision {
    case .refuse(let status, let fields, let body): refuse(status, fields, body, at: now)
    case .accept: accept(WebSocketAgreement(request, options), at: now)
    }
  }

  private mutating func accept(_ agreement: WebSocketAgreement, at now: Timestamp) {
    output.append(agreement.response.head.bytes)
    let limit = options.limits.message
    // Room for the longest header and a control frame, however short messages must be.
    framer = WebSocketFramer(limit: max(limit, 125) + 14)
    let deflate = agreement.deflate
    receiver = WebSocketReceiver(
      from: .client, deflate: deflate?.agreement(for: .client) ?? .none, limit: limit)
    if let deflate {
      deflater = WebSocketDeflater(
        windowBits: deflate.serverMaxWindowBits ?? 15,
        keepsContext: !deflate.serverNoContextTakeover)
    }
    enter(.open, at: now)
    silence.heard(at: now)
    orders.append(.open(agreement))
  }

  private mutating func refuse(
    _ status: Int, _ fields: [HTTPHead.Field], _ text: String, at now: Timestamp
  ) {
    let body = Array(text.utf8)
    let ours = [
      HTTPHead.Field("Connection", "close"), HTTPHead.Field("Content-Length", "\(body.count)"),
    ]
    output.append(
      HTTPHead(
        startLine: "HTTP/1.1 \(status) \(WebSocketAgreement.phrase(status))",
        fields: fields + ours
      ).bytes)
    output.append(body)
    enter(.draining, at: now)
    orders.append(.finish)
  }
}
