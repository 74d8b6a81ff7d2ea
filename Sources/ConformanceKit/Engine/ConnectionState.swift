internal import RepriseCore
internal import Wire

/// What the rules need to know of one open connection; brought up to date once an event.
struct ConnectionState {
  /// How long an answer or a close may take before its absence can be held against a peer.
  static let patience: Int64 = 30_000_000_000
  /// How long a client at most lets a message wait that it acknowledges by itself, in nanoseconds: where one waited for
  /// longer, its application may acknowledge by hand, behind work of any length.
  static let promptness: Int64 = 1_000_000_000
  /// The most exchanges, and the most requests of a kind, that are kept at once.
  static let maximumOpen = 4_096

  let number: Int
  /// What the connection spoke last.
  var wire = WireProtocol.mqtt(.v3_1_1)
  /// Whether what becomes of it is reported, and not only known for others.
  var isReported = true
  /// Whether its opening was seen, or was counted as left out.
  var isOpened = false
  /// Whether what it speaks was noted as seen: a recording may have no opening.
  var isNoted = false
  /// Whether the start of the connection is in the capture.
  var isFromStart = false
  /// Whether the order of its directions was not known at some place, and whether bytes are missing.
  var isOrderUncertain = false
  var hasLoss = false
  /// Whether the place of the last event among those of the other direction was not known: what it opened may have been
  /// settled by what stands in front of it.
  var isLastMisplaced = false
  /// The memory that it was last measured to take, in bytes.
  var amount = 0
  /// Why what was known of it was given up; nil where it was not.
  var givenUp: UndecidedReason?
  /// The ends of which it has something else than they sent, as a proxy says, or not all of it.
  var altered = Blame()
  var clocks = ConnectionClocks()
  /// Whether PINGREQ and PINGRESP are told.
  var hasPings = true
  var client = PeerState()
  var server = PeerState()

  var identity = ConnectionIdentity()
  /// Whether the session goes on from a connection of which everything is known.
  var isContinued = false
  /// Whether the server has a session of the client of which nothing is in the capture.
  var isSessionOlder = false
  /// How many losses the capture had when that connection ended: behind another one it need not be the last before this.
  var lossesBefore: UInt32 = 0
  var opening = OpeningState()
  var requests = RequestingState()
  var subscribing = SubscribingState()
  var unsubscribing = UnsubscribingState()
  var exchanges = ExchangingState()
  var life = LivingState()
  var ending = EndingState()
  /// The Session Expiry Interval of the client's DISCONNECT, in seconds (5.0); nil where it has none.
  var lastExpiry: UInt32?
  /// When the client last sent a message at QoS 0, to which nothing answers.
  var lastPlain = Int64.min
  /// What both ends agreed on (5.0); nil where the CONNECT was not seen as a whole.
  var terms: Boxed<Terms>?
  /// What few connections need, see ``ownRare``; nil where there is nothing of it.
  var rare: Boxed<RareState>?
  /// Nothing, ever: it makes the compiler pass the state on by its address.
  ///
  /// A value without a weak reference is copied, all of it, for most functions that only read it, and the references in
  /// it are counted, which was a twelfth of the judge's time.
  private weak var anchor: AnyObject?

  init(number: Int) { self.number = number }

  subscript(peer: Peer) -> PeerState {
    get { peer == .client ? client : server }
    set {
      if peer == .client { client = newValue } else { server = newValue }
    }
  }

  /// Whether the client's session began with this connection: true, false, or not known.
  var isNewSession: Bool? {
    // Where this is inlined, the whole state is copied for it.
    @inline(never) get {
      if opening.connect?.cleanStart == true { return true }
      guard opening.connect != nil, let connack = opening.connack, connack.code == 0 else {
        return nil
      }
      return !connack.sessionPresent
    }
  }

  /// Whether the client asked for a session that it had, and the server said that there is none: what the server sends
  /// then may be of that session all the same, and the untruth in its CONNACK.
  var isSaidToBeNew: Bool { isNewSession == true && opening.connect?.cleanStart == false }

  /// Whether the session ends with the connection, so that nothing can be made up for later.
  var sessionEndsHere: Bool { is5 ? sessionExpiry == 0 : opening.connect?.cleanStart == true }

  /// Whether the connection speaks MQTT 5.0.
  @inline(__always)
  var is5: Bool { wire.version == .v5_0 }

  /// Whether what came on it, and in which order, is not all known.
  var isUnsure: Bool { hasLoss || isOrderUncertain || clocks.differ }

  /// Takes over what the connection speaks.
  /// - Returns: Whether its clauses are other ones than before.
  mutating func takeVersion(of wire: WireProtocol) -> Bool {
    let was5 = is5
    self.wire = wire
    return was5 != is5
  }

  /// Whether a code of CONNACK refuses: those of 5.0 are failures from 0x80 on.
  func isRefusal(_ code: UInt8) -> Bool { is5 ? code >= 0x80 : code != 0 }

  /// Why requests of a peer may have been missed, or nil when all of them were seen.
  func lossReason(of peer: Peer) -> UndecidedReason? {
    if !isFromStart { return .startNotCaptured }
    return self[peer].hasGap ? .gap(of: peer) : nil
  }

  // MARK: Missing answers

  /// What the absence of an answer says when a connection closes.
  enum Absence {
    case violation
    case undecided(UndecidedReason)

    /// Why it says nothing; nil where it is a violation.
    var reason: UndecidedReason? { if case .undecided(let reason) = self { reason } else { nil } }
  }

  /// Judges the absence of an answer: only a peer that was seen to go on is held to it.
  func absence(since time: Timestamp, by answerer: Peer, at close: Closing) -> Absence {
    guard close.how != .endOfCapture else { return .undecided(.endOfCapture) }
    guard !self[answerer].isDeaf else { return .undecided(.gap(of: answerer)) }
    // A server that refuses answers nothing else (section 3.1.4).
    if answerer == .server, let connack = opening.connack, connack.code != 0 {
      return .undecided(connack.isOfOlderServer ? .olderServer : .clientRefused)
    }
    if answerer == .server, let disconnect = ending.server.disconnect,
      disconnect.time.nanoseconds(since: time) <= Self.patience
    {
      return .undecided(.answererClosed)
    }
    if answerer == .server, let disconnect = ending.client.disconnect,
      disconnect.time.nanoseconds(since: time) <= Self.patience
    {
      return .undecided(.requesterLeft)
    }
    // The last bytes of the client may be its DISCONNECT.
    if answerer == .server, client.isDeaf, ending.client.disconnect == nil {
      return .undecided(.gap(of: .client))
    }
    if let last = self[answerer].lastTime, last.nanoseconds(since: time) > Self.patience {
      if clocks.differ { return .undecided(clocks.doubt) }
      // An end that is slow, and answers one after the other, may not have come to it yet.
      let slowest = longestWait(for: answerer)
      let isBehind =
        slowest > Self.promptness && answerer == .client
        || last.nanoseconds(since: time) <= Self.patience + slowest + slowest
      guard !isBehind else { return .undecided(.answeredLate) }
      // What it has written may wait, and the answer behind it; or it sends, and reads nothing.
      let hasPaused = !mayBeBlocked(answerer) && self[answerer].hasPaused(since: time)
      let isRead = hasPaused || hasAnswered(answerer, behind: time)
      return isRead ? .violation : .undecided(.stillSending)
    }
    if close.first == answerer { return .undecided(.answererClosed) }
    let awaited = close.time.nanoseconds(since: time)
    return .undecided(awaited > Self.patience ? .shortlySeen : .requesterLeft)
  }
}

// How long answers take.
extension ConnectionState {
  /// Takes note of how long a request waited for the answer of the server.
  mutating func noteWait(of request: Moment, _ answer: EventContext) {
    requests.longestWait.note(since: request.time, until: answer.time)
  }

  /// Whether an end has answered something that was sent behind a moment, by a second at the most.
  private func hasAnswered(_ answerer: Peer, behind time: Timestamp) -> Bool {
    guard answerer == .server else { return exchanges.fromServer.longestWait.isOf(later: time) }
    return exchanges.fromClient.longestWait.isOf(later: time)
      || requests.longestWait.isOf(later: time)
  }

  /// Whether an end may read nothing more for a while, though it sends: a server that is short of memory reads nothing of
  /// those that publish.
  private func mayBeBlocked(_ answerer: Peer) -> Bool {
    answerer == .server && (exchanges.fromClient.latest != 0 || lastPlain != .min)
  }

  /// The longest that an end was seen to let something wait for its answer, in nanoseconds.
  private func longestWait(for answerer: Peer) -> Int64 {
    guard answerer == .server else { return exchanges.fromServer.longestWait.nanoseconds }
    return max(exchanges.fromClient.longestWait.nanoseconds, requests.longestWait.nanoseconds)
  }
}

/// How a connection ended, as rules take it.
struct Closing {
  var how: ConnectionClosing.How
  /// The end that sent the first FIN or RST.
  var first: Peer
  /// When.
  var time: Timestamp
  /// Whether the other end closed it as well, so that its application was still there.
  var isAnswered: Bool
  /// Until when each end is known not to have ended the connection; nil where it shows when it did.
  private let clientWasOpen: Timestamp?
  private let serverWasOpen: Timestamp?

  init(_ closing: ConnectionClosing, _ event: borrowing EventView) {
    how = closing.how
    first = event.context.sender
    time = closing.firstTime
    isAnswered = closing.isAnswered
    let end = closing.firstTime.nanoseconds
    clientWasOpen = closing.clientRest.map { Timestamp(nanoseconds: end &- $0) }
    serverWasOpen = closing.serverRest.map { Timestamp(nanoseconds: end &- $0) }
  }

  /// Whether it is known that an end had not ended the connection for long behind an earlier moment.
  ///
  /// Of a FIN that comes late the first copies may have come to nobody, unless it was captured beside its sender.
  func showsLateness(of peer: Peer, since earlier: Timestamp) -> Bool {
    let wasOpen = peer == .client ? clientWasOpen : serverWasOpen
    return wasOpen?.isLate(since: earlier) ?? true
  }

  /// The end of what a WebSocket carries: whoever sends the first Close frame closes it then, and leaves the end of the
  /// TCP connection to the server (RFC 6455 sections 5.5.1 and 7.1.1).
  /// - Parameter webSocket: What is known of the frames.
  /// - Returns: The end; the same where no Close frame was seen.
  func carried(by webSocket: WebSocketState?) -> Closing {
    guard let webSocket, how != .endOfCapture else { return self }
    let frames = Peer.allCases.compactMap { peer in
      webSocket[peer].close.map { (peer: peer, moment: $0) }
    }
    // What was captured at one time stands in its order.
    let begun = frames.min {
      ($0.moment.time, $0.moment.frame) < ($1.moment.time, $1.moment.frame)
    }
    guard let begun else { return self }
    var closing = self
    (closing.first, closing.time) = (begun.peer, begun.moment.time)
    if frames.count > 1 { (closing.how, closing.isAnswered) = (.fin, true) }
    return closing
  }

  /// Why the end of a connection does not show that the receiver of something bad closed it for that.
  /// - Parameters:
  ///   - sender: The end that sent it.
  ///   - isLate: Whether the receiver sent something behind it that may have been on its way.
  /// - Returns: The reason; nil when it does show it.
  func doubt(afterFaultOf sender: Peer, isLate: Bool) -> UndecidedReason? {
    if how == .endOfCapture { return .endOfCapture }
    if first == sender { return .senderClosedFirst }
    return isLate ? .onTheirWay : nil
  }
}

/// A packet to point at.
struct Moment {
  var time: Timestamp
  var frame: Int

  init(time: Timestamp, frame: Int) {
    self.time = time
    self.frame = frame
  }

  init(_ context: EventContext) { self.init(time: context.time, frame: context.frame) }
}

/// A time without what is less than a second, in few bytes: the first of those that it may be.
struct WholeSeconds {
  private var seconds: UInt32 = 0

  init() {}

  init(_ time: Timestamp) { self.init(nanoseconds: time.nanoseconds) }

  init(nanoseconds: Int64) { seconds = UInt32(clamping: nanoseconds / 1_000_000_000) }

  /// In nanoseconds, as those of a ``Timestamp``.
  var nanoseconds: Int64 { Int64(seconds) * 1_000_000_000 }
}

/// What is known of one end of a connection.
struct PeerState {
  /// When its last packet was completed; nil before the first.
  var lastTime: Timestamp? { last.nanoseconds == .min ? nil : last }
  private var last = Timestamp(nanoseconds: .min)
  /// When it last went on behind a long pause; 0 where there was none.
  private var wentOn = WholeSeconds()
  /// How long it sends nothing where nothing of what it has written waits any more, in nanoseconds.
  private static let longPause: Int64 = 5_000_000_000

  /// Takes one of its packets.
  @inline(__always)
  mutating func hear(at time: Timestamp) {
    if last.nanoseconds != .min, time.nanoseconds(since: last) > Self.longPause {
      wentOn = WholeSeconds(time)
    }
    last = time
  }

  /// Whether it sent nothing for long behind a moment, and then went on.
  func hasPaused(since time: Timestamp) -> Bool {
    wentOn.nanoseconds > time.nanoseconds.addingSaturating(Self.longPause)
  }

  /// Whether bytes of it are missing anywhere.
  var hasGap = false
  /// Whether bytes of it are missing and no packet was found behind them yet.
  var isDeaf = false
}
