internal import RepriseCore
internal import Wire

/// What the rules of RFC 6455 need to know of one open connection.
struct WebSocketState {
  /// Whether the connection speaks WebSocket.
  private(set) var isSeen = false
  /// Whether what was known of the connection was given up, and with it what was agreed on.
  let isRemade: Bool
  /// Why times between events say nothing; nil where they do.
  var clockDoubt: UndecidedReason?
  /// Whether the hello of TLS named the server; nil where there is none, or none that was seen.
  var namesServer: Bool?
  /// Both ends; nil where the opening was not told.
  private(set) var ends: ConnectionEnds?
  /// Whether the first bytes of the client's next request may be missing.
  var mayBeginInside = true
  var request: RequestFacts?
  var response: ResponseFacts?
  /// What its receiver must fail the connection for, until it is known what it did.
  var offence: FrameOffence?
  /// The end that has failed the connection by its Close frame.
  var failed: Boxed<FailedEnd>?
  private var client = WebSocketSide()
  private var server = WebSocketSide()

  /// Creates the state of a connection.
  /// - Parameters:
  ///   - isRemade: Whether what was known of it was given up: then all that came before is missing.
  ///   - clockDoubt: Why times between events say nothing; nil where they do.
  init(isRemade: Bool, clockDoubt: UndecidedReason?) {
    self.isRemade = isRemade
    self.clockDoubt = clockDoubt
    guard isRemade else { return }
    for peer in Peer.allCases {
      self[peer].isDeaf = true
      self[peer].mayHaveClosed = true
    }
  }

  /// What the request said.
  struct RequestFacts {
    var moment: Moment
    var subprotocols: [String]
    var extensions: [WebSocketExtension]
    /// What section 4.2.1 asks for and is not there.
    var missing: String?
    var hasOtherVersion: Bool
    var hasBadExtensions: Bool
    /// Whether something in it may say who the client is.
    var mayHaveCredentials: Bool
    /// Whether something that is judged is hidden in it.
    var isHidden: Bool
    /// About the bytes that this takes.
    var size: Int
  }

  /// What the answer said.
  struct ResponseFacts {
    var moment: Moment
    var accepts: Bool
    var subprotocol: String?
    var extensions: [WebSocketExtension]
    /// About the bytes that this takes.
    var size: Int
  }

  /// The memory that the handshake takes, and what waits to be judged, in bytes.
  var reserved: Int {
    (request?.size ?? 0) + (response?.size ?? 0) + (offence?.reserved ?? 0)
      + (failed?.value.reserved ?? 0)
      + client.reserved + server.reserved
  }

  /// Notes that the connection speaks WebSocket.
  mutating func note() { isSeen = true }

  /// Notes between whom the connection is.
  mutating func open(_ opening: ConnectionOpening) {
    ends = ConnectionEnds(opening)
    mayBeginInside = !opening.isFromStart
  }

  /// Notes who has broken a rule, be it one of what the connection carries.
  @inline(__always)
  mutating func note(_ blamed: Blame) {
    if blamed.contains(.client) { client.isAtFault = true }
    if blamed.contains(.server) { server.isAtFault = true }
  }

  subscript(peer: Peer) -> WebSocketSide {
    // No `_read`: what two branches yield may be read when it is gone.
    @inline(__always) get { peer == .client ? client : server }
    @inline(__always) _modify { if peer == .client { yield &client } else { yield &server } }
  }

  /// Whether a handshake tells who is the client; without one that is inferred from the masks.
  var knowsRoles: Bool { request != nil || response != nil }

  /// Whether the server accepted, so that the connection is open.
  var isEstablished: Bool { response?.accepts == true }

  /// Why an answer in the handshake is not known, or nil when it is.
  var handshakeReason: UndecidedReason? {
    guard response == nil else { return nil }
    return request == nil ? .handshakeNotSeen : .answerNotSeen
  }

  // MARK: Extensions

  /// What may stand in frames besides what RFC 6455 itself defines.
  enum Negotiation {
    /// The handshake is not in the capture.
    case unknown
    case nothing
    case deflate
    /// An extension that this suite does not know.
    case other
  }

  var negotiation: Negotiation {
    guard let response else {
      if isRemade { return .other }
      // Nothing can have been accepted of an offer of nothing.
      return request.map { $0.extensions.isEmpty ? .nothing : .unknown } ?? .unknown
    }
    if response.extensions.isEmpty { return .nothing }
    let isDeflate = response.extensions.allSatisfy { $0.name == PermessageDeflate.name }
    return isDeflate ? .deflate : .other
  }

  // MARK: Missing answers

  /// Judges the absence of an answer: only a peer that was seen to go on is held to it.
  func absence(
    since time: Timestamp, by answerer: Peer, at close: Closing
  ) -> ConnectionState.Absence {
    guard close.how != .endOfCapture else { return .undecided(.endOfCapture) }
    guard !self[answerer].isDeaf else { return .undecided(.gap(of: answerer)) }
    if let last = self[answerer].lastTime, last.isLate(since: time) {
      if let clockDoubt { return .undecided(clockDoubt) }
      return self[answerer].hasPaused(since: time) ? .violation : .undecided(.stillSending)
    }
    if close.first == answerer { return .undecided(.answererClosed) }
    return .undecided(close.time.isLate(since: time) ? .shortlySeen : .requesterLeft)
  }

  /// Takes the news that bytes of a peer are missing, or can't be read.
  mutating func lose(from peer: Peer, _ hearing: Hearing, _ tally: inout Tally) {
    self[peer].isDeaf = true
    if peer == .client { mayBeginInside = true }
    self[peer].hasGapBehindClose = self[peer].close != nil
    loseFailing(of: peer, hearing, &tally)
    loseMessage(of: peer, hearing, &tally)
    losePongs(of: peer, hearing, &tally)
    // What is missing may be the answer to a Close frame, or what must not follow one.
    self[peer].mayHaveClosed = true
  }

  /// Judges what was left open when the connection is over.
  mutating func close(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    closeFailing(close, hearing, &tally)
    closeFailed(close, hearing, &tally)
    let isDelayed = Peer.allCases.contains { self[$0.other].close != nil && self[$0].isInMessage }
    for peer in Peer.allCases {
      closeMessage(of: peer, hearing, &tally)
      closePings(of: peer, close, event, hearing, &tally)
      closeSilence(of: peer, close, hearing, &tally)
    }
    closeClosing(close, isDelayed: isDelayed, event, hearing, &tally)
    if let response, response.accepts, !self[.client].wasEarly, request != nil {
      tally.satisfy(.clientAwaitsAnswer, hearing)
    }
  }
}

/// What is known of the frames of one end.
struct WebSocketSide {
  /// The last end of a time in which it sent nothing for so long that nothing waited to be sent.
  private var pauseEnd = Timestamp(nanoseconds: .min)
  /// When its last frame was completed.
  private(set) var lastTime: Timestamp?
  /// Whether bytes of it are missing and no frame was found behind them yet.
  var isDeaf = false
  /// Whether bytes of it are missing in which a Close frame may be.
  var mayHaveClosed = false
  /// Whether a frame, the handshake or the MQTT of it breaks a rule, for which the other end may drop
  /// the connection.
  var isAtFault = false
  /// Whether a frame of it came before the handshake was over.
  var wasEarly = false
  /// Its first Close frame.
  var close: Moment?
  /// Whether bytes of it are missing behind that: what follows may be of another connection of the same ports.
  var hasGapBehindClose = false
  /// Whether data came behind its Close frame.
  var sentAfterClose = false
  /// Whether it sent anything more than 30 s after both Close frames.
  var livesOn = false
  var message = MessageFacts.unknown
  /// Whether it has begun a message in fragments, and not ended it.
  var isInMessage: Bool { if case .open = message { true } else { false } }
  /// Whether it ended a message in fragments.
  var hasFragments = false
  var keys = RecentKeys()
  var pings = OpenPings()

  /// How long an end is silent whose frames do not wait for one another on a slow way, in nanoseconds.
  private static let shortestPause: Int64 = 5_000_000_000
  /// A frame of more bytes, which takes more than one segment, may itself have been on its way in what seems to be a pause.
  private static let largestQuick: UInt64 = 1 << 10

  /// Takes the time at which a frame was complete.
  mutating func take(_ header: WebSocketFrameHeader, at time: Timestamp) {
    let isPause = lastTime.map { time.nanoseconds(since: $0) >= Self.shortestPause } ?? true
    if isPause, header.payloadLength <= Self.largestQuick { pauseEnd = time }
    lastTime = time
  }

  /// Whether it paused behind a moment, so that an answer that was due would have come.
  func hasPaused(since time: Timestamp) -> Bool {
    pauseEnd.nanoseconds(since: time) >= Self.shortestPause
  }

  /// The memory that its Pings take, in bytes.
  var reserved: Int { pings.reserved }
}
