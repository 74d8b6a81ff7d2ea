internal import RepriseCore
internal import Wire

/// What the rules need to know of one open connection; brought up to date once an event.
struct ConnectionState {
  /// How long an answer or a close may take before its absence can be held against a peer.
  static let patience: Int64 = 30_000_000_000
  /// The most exchanges, and the most requests of a kind, that are kept at once.
  static let maximumOpen = 4_096

  let number: Int
  /// What the connection spoke last.
  var wire = WireProtocol.mqtt(.v3_1_1)
  /// Whether its opening was seen, or was counted as left out.
  var isOpened = false
  /// Whether the start of the connection is in the capture.
  var isFromStart = false
  /// Whether the order of its directions was not known at some place, and whether bytes are missing.
  var isOrderUncertain = false
  var hasLoss = false
  /// The memory that it was last measured to take, in bytes.
  var amount = 0
  /// Why what was known of it was given up; nil where it was not.
  var givenUp: UndecidedReason?
  var clocks = ConnectionClocks()
  /// Whether PINGREQ and PINGRESP are told.
  var hasPings = true
  var client = PeerState()
  var server = PeerState()

  var connect: ConnectFacts?
  var connack: ConnackFacts?
  var disconnect: Moment?
  var offence: Offence?
  var suspicions = Suspicions()
  /// Whether the answer to the current request was captured before it.
  var wasAnsweredEarly = false

  var subscribes = PacketIDTable<PendingSubscribe>(limit: maximumOpen)
  var unsubscribes = PacketIDTable<PendingUnsubscribe>(limit: maximumOpen)
  /// Whether a SUBSCRIBE or UNSUBSCRIBE ever had the identifier of one that was open.
  var hasReusedIDs = false
  var requests = RequestCounts()
  var subscriptions = SubscriptionList()
  var answered = AnsweredRequests()
  var pings = PendingPings()
  /// Messages above QoS 0 that the client sent.
  var fromClient = Exchanges()
  /// Messages above QoS 0 that the server sent.
  var fromServer = Exchanges()
  var silence = Silence()
  var enforcement = Enforcement()
  /// Whether the client sent anything behind its CONNECT that asks for an answer.
  var hasAsked = false
  /// What is known of the WebSocket that carries the connection, if one does.
  var webSocket = WebSocketState()
  var carriage = MQTTCarriage()
  var unaligned = UnalignedPackets()

  init(number: Int) { self.number = number }

  subscript(peer: Peer) -> PeerState {
    get { peer == .client ? client : server }
    set {
      if peer == .client { client = newValue } else { server = newValue }
    }
  }

  /// Whether the client's session began with this connection: true, false, or not known.
  var isNewSession: Bool? {
    if connect?.cleanStart == true { return true }
    guard connect != nil, let connack, connack.code == 0 else { return nil }
    return !connack.sessionPresent
  }

  /// Whether the session ends with the connection, so that nothing can be made up for later.
  var sessionEndsHere: Bool { connect?.cleanStart == true }

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
  }

  /// Judges the absence of an answer: only a peer that was seen to go on is held to it.
  func absence(since time: Timestamp, by answerer: Peer, at close: Closing) -> Absence {
    guard close.how != .endOfCapture else { return .undecided(.endOfCapture) }
    guard !self[answerer].isDeaf else { return .undecided(.gap(of: answerer)) }
    // A server that refuses answers nothing else (section 3.1.4).
    if answerer == .server, let connack, connack.code != 0 { return .undecided(.clientRefused) }
    if answerer == .server, let disconnect,
      disconnect.time.nanoseconds(since: time) <= Self.patience
    {
      return .undecided(.requesterLeft)
    }
    if let last = self[answerer].lastTime, last.nanoseconds(since: time) > Self.patience {
      return clocks.differ ? .undecided(.clocksDiffer) : .violation
    }
    if close.first == answerer { return .undecided(.answererClosed) }
    let awaited = close.time.nanoseconds(since: time)
    return .undecided(awaited > Self.patience ? .shortlySeen : .requesterLeft)
  }
}

/// How a connection ended, as rules take it.
struct Closing {
  var how: ConnectionClosing.How
  /// Who sent the first FIN or RST.
  var first: Peer
  /// When.
  var time: Timestamp
  /// Whether the other end closed it as well, so that its application was still there.
  var isAnswered: Bool

  init(_ closing: ConnectionClosing, _ event: borrowing EventView) {
    how = closing.how
    first = event.context.sender
    time = closing.firstTime
    isAnswered = closing.isAnswered
  }

  /// Why the end of a connection does not show that the receiver of something bad closed it for that.
  /// - Parameters:
  ///   - sender: Who sent it.
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

  init(_ context: EventContext) {
    time = context.time
    frame = context.frame
  }
}

/// What is known of one end of a connection.
struct PeerState {
  /// When its last packet was completed.
  var lastTime: Timestamp?
  /// Whether bytes of it are missing anywhere.
  var hasGap = false
  /// Whether bytes of it are missing and no packet was found behind them yet.
  var isDeaf = false
  /// Whether a packet of it came behind its DISCONNECT.
  var sentAfterDisconnect = false
}

/// What the CONNECT said.
struct ConnectFacts {
  var moment: Moment
  var cleanStart: Bool
  var keepAlive: UInt16
  var isFaulty: Bool
  /// Whether it breaks what section 3.1 asks of it, but for its level and an empty identifier.
  var isMalformed = false
  /// Whether it has neither an identifier nor Clean Session.
  var hasEmptyID = false
  /// Whether its identifier has 1 to 23 letters and digits of ASCII.
  var hasPlainID = false
  /// Whether no CONNACK came yet that could be its answer.
  var isOpen = true
}

/// What the CONNACK said.
struct ConnackFacts {
  var moment: Moment
  var code: UInt8
  var sessionPresent: Bool
  /// Whether it refused, and it is not decided yet what the server did then.
  var isRefusalOpen: Bool
  /// Whether the server answered something behind its refusal.
  var hasServed = false
}

/// A bad packet whose receiver must close the connection.
struct Offence {
  /// The rules that ask for it, a bit each, from the first rule of faults on.
  var rules: UInt64
  var moment: Moment
  var sender: Peer
  var type: MQTTPacketType
  /// The answers to it and to what its sender sent behind it.
  var answers = AwaitedAnswers()
  /// Whether the receiver sent something more than 30 s later, which may have been on its way.
  var isLivedThrough = false
  /// Whether it came in a WebSocket frame that is no binary one, for which its receiver must close.
  var isInText = false
  /// The clauses about its receiver alone.
  var folds: [MQTT311Rule] = []
  /// Whether the next CONNACK answers an earlier CONNECT.
  var awaitsConnack = false
}
