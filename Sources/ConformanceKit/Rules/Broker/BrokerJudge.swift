internal import RepriseCore
internal import Wire

/// What connections to one server have to do with each other: messages that one client publishes and others get.
///
/// Two things are certain wherever a capture was taken, if one clock timed it. What a client sent was captured before
/// the server had it, if the client's packet is in front of the server's; and what the server sent in front of a
/// packet of a client it had sent before it read that. So a subscription whose SUBACK is captured before a PUBLISH was
/// there when that message came; the other way round nothing is said.
struct BrokerJudge {
  var ledger = Ledger()
  var pending = PendingFindings()
  /// Those that a will explains which is not known.
  var pendingOfWills = PendingFindings()
  var wills = Wills()
  var retained = RetainedTopics()
  /// Why what was published at any server is not all there; nil where nothing shows that.
  private var doubtOfAll: UndecidedReason?
  /// What is known of each server, by the hash of its address.
  private var servers: [UInt64: ServerFacts] = [:]
  /// The server of which it was noted last that it is traced.
  private var lastTraced: UInt64?
  var lines = MessageLines()
  var latencies = Latencies()
  /// When a message came late last, by connections.
  var lags = DeliveryLags()
  /// The connections of publishers that released messages of QoS 2 in another order than they should.
  private(set) var disordered: Set<Int> = []
  var sessions = ClientSessions()
  var lastConnects = LastConnects()
  var shared = SharedTurns()
  /// The connections whose sessions go on with open messages, and those that were taken over, by their numbers.
  var resumed: [Int: Resumption] = [:]
  /// What was open in sessions that the server said it had no longer, by the connections that it said so on.
  var denied: [Int: Resumption] = [:]
  var takenOver: [Int: Takeover] = [:]
  /// When the connection before ended of those that go on with a session of which the subscriptions are known.
  var absences: [Int: Timestamp] = [:]
  /// When the connection before ended of those that go on with any session; the latest of all times where that is not
  /// known.
  var ends: [Int: Timestamp] = [:]
  /// Whether nobody who is not in the capture can have published the same, see ``ConformanceOptions/hasOwnMessages``.
  var hasOwnMessages = false
  /// Whether the server stands still between the steps of a driver, see ``ConformanceOptions/isDriven``.
  var isDriven = false
  /// Whether a topic was ever published that begins with U+FEFF.
  private(set) var hasMarks = false
  /// Whether a message was ever published that expires.
  private(set) var hasExpiries = false
  /// How many gaps all connections had, of any server.
  var losses: UInt32 = 0
  /// The latest time so far with its frame, and the most that an event was captured too late for its place.
  private var latest: Moment?
  private var disorder: Int64 = 0
  /// How often a message came on a connection.
  var copies = FlatTable<UInt32>(limit: 32_768, empty: 0)
  static let uncounted = UInt32.max
  /// The first servers that messages were published to.
  private var publishedTo: [UInt64] = []
  private static let mostPublished = 8
  /// What was last published that has to be passed on.
  private var lastForwarded = Forwarded.nothing
  /// Nothing, ever: it makes the compiler lend the judge by its address to functions that only read it, as with
  /// ``ConnectionState``; otherwise all of it was copied for each of them.
  private weak var anchor: AnyObject?

  /// What is known of one server.
  struct ServerFacts {
    /// Why what its clients published is not all there; nil where nothing shows that.
    var doubt: UndecidedReason?
    /// Whether a message of another client was delivered that is in the capture.
    var isTraced = false
    /// Whether messages were delivered that came to it on no connection in the capture.
    var hasUnseen = false
    /// When it ended connections without a reason that shows: then it may have stopped.
    var breaks: [Timestamp] = []
    /// Two clients, if there are as many, whose sessions hold what no connection in the capture gave them.
    var clientsWithUnseen: [UInt64] = []

    /// Whether connections are missing from the capture of so many clients that they may be of any.
    var mayLackConnections: Bool { clientsWithUnseen.count > 1 }
  }

  private static let mostServers = 4_096
  private static let mostBreaks = 256
  private static let mostDisordered = 65_536

  /// Whether one time is later than another by so much that their order is sure.
  func isSurely(_ time: Timestamp, after nanoseconds: Int64) -> Bool {
    time.nanoseconds(since: Timestamp(nanoseconds: nanoseconds))
      > disorder.addingSaturating(disorder)
  }

  /// Takes the time of a packet, which tells how far the order of the capture is to be trusted.
  @inline(__always)
  mutating func note(_ context: EventContext) {
    guard let latest, context.time < latest.time else {
      latest = Moment(context)
      return
    }
    let late = latest.time.nanoseconds(since: context.time)
    // What waited for bytes in front of it is told late, and was not captured late; a clock may be set back by any time.
    disorder = max(disorder, context.frame > latest.frame ? late : min(late, 1_000_000_000))
  }

  /// Notes that messages to any server may be missing from the capture: one server may have several addresses, and a
  /// bridge leads from one to another.
  mutating func doubt(everywhere reason: UndecidedReason) {
    if doubtOfAll == nil { doubtOfAll = reason }
  }

  /// Why a session may have changed between two connections; nil where nothing tells that it may.
  ///
  /// Messages that the server delivers, or sessions of others, tell of connections that are not in the capture; or the
  /// server may have stopped, and have begun again with what it had stored.
  private func doubt(of basis: PendingFindings.Basis, at server: UInt64) -> UndecidedReason? {
    guard let facts = servers[server] else { return nil }
    let between: ClosedRange<Timestamp>
    switch basis {
    case .messages: return nil
    case .session(let peer, let pause):
      if facts.mayLackConnections { return .connectionsUnseen }
      guard peer == .server else { return nil }
      between = pause
    case .presence(let pause):
      // Of the sessions that are there though they ended, those of others say nothing: a server may keep them all.
      if facts.hasUnseen { return .connectionsUnseen }
      between = pause
    }
    let isBroken = facts.breaks.contains { between.contains($0) }
    return isBroken || facts.breaks.count == Self.mostBreaks ? .serverMayHaveRestarted : nil
  }

  /// Takes note that the session of a client is one that no connection in the capture made.
  mutating func noteUnseenConnection(of state: borrowing ConnectionState) {
    let (server, client) = (state.identity.endpoint, state.identity.client)
    guard client != 0, servers.count < Self.mostServers || servers[server] != nil else { return }
    let clients = servers[server]?.clientsWithUnseen ?? []
    guard clients.count < 2, !clients.contains(client) else { return }
    servers[server, default: ServerFacts()].clientsWithUnseen.append(client)
  }

  /// Takes note that a server ended a connection, and said nothing that tells why.
  mutating func noteBreak(_ close: Closing, _ state: borrowing ConnectionState) {
    let server = state.identity.endpoint
    guard close.how != .endOfCapture, close.first == .server, state.opening.connack?.code == 0,
      state.ending.client.disconnect == nil, state.ending.server.disconnect == nil,
      servers.count < Self.mostServers || servers[server] != nil
    else { return }
    if servers[server, default: ServerFacts()].breaks.count < Self.mostBreaks {
      servers[server, default: ServerFacts()].breaks.append(close.time)
    }
  }

  /// Notes that a server delivered a message of another client that is in the capture.
  @inline(__always)
  mutating func noteTraced(_ server: UInt64) {
    guard server != lastTraced, servers.count < Self.mostServers else { return }
    servers[server, default: ServerFacts()].isTraced = true
    lastTraced = server
  }

  /// Notes that a server delivered a message that it was given on no connection in the capture, surely or perhaps.
  mutating func noteUnseen(at server: UInt64, isSure: Bool = true) {
    if isSure { doubt(server, .publishersUnseen) }
    guard servers.count < Self.mostServers || servers[server] != nil else { return }
    servers[server, default: ServerFacts()].hasUnseen = true
  }

  /// Why what clients publish at a server is not all there; nil where nothing shows that.
  func doubt(of server: UInt64) -> UndecidedReason? { servers[server]?.doubt ?? doubtOfAll }

  /// Notes that messages to a server may be missing from the capture.
  mutating func doubt(_ server: UInt64, _ reason: UndecidedReason) {
    guard servers.count < Self.mostServers || servers[server] != nil else { return }
    if servers[server]?.doubt == nil { servers[server, default: ServerFacts()].doubt = reason }
  }

  /// What tells a message to a server.
  static func key(_ content: ContentHash, at server: UInt64) -> UInt64 {
    key(content.value, at: server)
  }

  /// Whether a client published a message.
  func isPublished(_ content: ContentHash, at server: UInt64) -> Bool {
    ledger[Self.key(content, at: server)] != nil
  }

  /// Whether the capture shows what clients of a server publish and others get.
  func isTraced(_ server: UInt64) -> Bool { servers[server]?.isTraced ?? false }

  /// What tells a message to a server.
  static func key(_ content: UInt64, at server: UInt64) -> UInt64 {
    let key = content ^ server &* 0x9E37_79B9_7F4A_7C15
    return key == 0 ? 1 : key
  }

  // MARK: What clients publish

  /// Takes a message of a client, whose topic may stand behind an alias; it may be one that is open, sent again.
  mutating func publish(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ content: ContentHash, isRepeat: Bool,
    _ context: EventContext, _ state: inout ConnectionState, _ tally: inout Tally
  ) {
    let server = state.identity.endpoint
    let key = Self.key(content, at: server)
    let line = MessageLines.key(topic, qos: packet.qos, from: context.connection)
    lines.prefetch(line)
    let elsewhere = notePublished(content, to: server)
    for key in elsewhere { leaveAmbiguous(key, context, &tally) }
    // Read by the wrong version, it may be another one.
    if context.wire == .mqttUndetermined { doubt(everywhere: .publishersUnseen) }
    if topic.beginsWithMark { hasMarks = true }
    if wills.topics.mayContain(topic) { wills.change(content.value) { $0.isSaid = true } }
    if packet.retain { keep(packet, topic, key, isRepeat: isRepeat, context, &state) }
    var publication = Publication(key, of: state.identity.client, packet, context)
    if isRepeat, ledger.change(key, { $0.take(again: publication) }) { return }
    publication.shareForwarded(with: &lastForwarded)
    if publication.forwarded.expiry != nil { hasExpiries = true }
    if packet.qos > 0, let told = state.terms?.value.told, let id = packet.packetID {
      publication.reuse = told[.client].endings[id]
    }
    if !elsewhere.isEmpty { publication.doubtOrigin() }
    (publication.sequence, publication.before) = lines.publish(key, on: line)
    let isKept = ledger.change(key) {
      if publication.wasRepeated { $0.wasRepeated = true }
      $0.take(publication)
    }
    guard isKept else { return ledger.add(publication) }
    leaveAmbiguous(key, context, &tally)
  }

  /// Leaves open what waits about a message that is published once more.
  private mutating func leaveAmbiguous(
    _ key: UInt64, _ context: EventContext, _ tally: inout Tally
  ) {
    for entry in pending.removeAmbiguous(key, at: context.time) {
      tally.leave(
        entry.rule, .ambiguousMessage, entry.hearing, at: Moment(entry.event.context))
    }
  }

  /// Takes note of a server that a message is published to: two addresses may be those of one.
  /// - Returns: By which keys the same is known to have been published at other addresses.
  mutating func notePublished(_ content: ContentHash, to server: UInt64) -> [UInt64] {
    if !publishedTo.contains(server) {
      if publishedTo.count < Self.mostPublished {
        publishedTo.append(server)
      } else {
        doubt(everywhere: .tooMany)
      }
    }
    guard publishedTo.count > 1 else { return [] }
    return publishedTo.filter { $0 != server }.map { Self.key(content, at: $0) }
      .filter { ledger.change($0) { $0.doubtOrigin() } }
  }

  /// Whether a message is one that was open when the connection before ended.
  func isLeft(_ id: UInt16?, _ content: ContentHash, _ connection: Int) -> Bool {
    guard let id, let resumption = resumed[connection] else { return false }
    return resumption.left.fromClient.contains { $0.id == id && $0.content == content }
  }

  /// Takes note that a server has a message.
  mutating func takeIn(_ content: ContentHash, at time: Timestamp, by endpoint: UInt64) {
    ledger.change(Self.key(content, at: endpoint)) {
      $0.taken = max(time, $0.taken ?? time)
    }
  }

  /// Takes note that the server refused a message, perhaps behind another one that it has delivered by then.
  mutating func refuse(
    _ content: ContentHash, _ state: borrowing ConnectionState, _ tally: inout Tally
  ) {
    let key = Self.key(content, at: state.identity.endpoint)
    ledger.change(key) { $0.wasRefused = true }
    for entry in pending.remove(.everySubscriberGetsIt, about: key) {
      tally.leave(entry.rule, .serverPolicy, entry.hearing, at: Moment(entry.event.context))
    }
  }

  /// Takes note that a client released messages of QoS 2 in another order than they were received.
  mutating func noteDisorder(on connection: Int) {
    if disordered.count < Self.mostDisordered { disordered.insert(connection) }
  }

  /// Takes note, at the end of a connection, of what its client published and the server need not have taken: it did not
  /// acknowledge it to the end.
  mutating func leaveUnanswered(_ state: borrowing ConnectionState, _ tally: inout Tally) {
    for (_, exchange) in state.exchanges.fromClient.entries {
      guard let content = exchange.content else { continue }
      let key = Self.key(content, at: state.identity.endpoint)
      ledger.change(key) { $0.wasLeft = true }
      for entry in pending.remove(.everySubscriberGetsIt, about: key) {
        tally.leave(entry.rule, .notTaken, entry.hearing, at: Moment(entry.event.context))
      }
    }
  }

  // MARK: The end

  /// Reports what nothing in the file spoke against.
  mutating func endFile(_ tally: inout Tally) {
    let entries = pending.removeAll()
    for entry in entries {
      report(entry, doubt(of: entry, among: entries), &tally)
    }
    endWills(&tally)
    self = BrokerJudge()
  }

  /// Why a violation says nothing by itself; nil where it does.
  func doubt(
    of entry: PendingFindings.Entry, among entries: [PendingFindings.Entry]
  ) -> UndecidedReason? {
    hasOwnMessages || entry.isShown(by: entries) ? nil : .oneMessageAlone
  }

  /// Reports what nothing in the file spoke against.
  func report(
    _ entry: PendingFindings.Entry, _ other: UndecidedReason?, _ tally: inout Tally
  ) {
    // Of a server that there was no room for nothing is known.
    let unknown: UndecidedReason? = servers.count < Self.mostServers ? nil : .tooMany
    let moment = Moment(entry.event.context)
    let reason =
      if case .messages = entry.basis {
        doubt(of: entry.server)
      } else {
        doubt(of: entry.basis, at: entry.server)
      }
    if let reason = reason ?? unknown ?? other {
      tally.leave(entry.rule, reason, entry.hearing, at: moment)
    } else if entry.isTakenBack, !entry.isPassed {
      tally.leave(entry.rule, .copyMayCome, entry.hearing, at: moment)
    } else {
      tally.beginEvent()
      entry.event.withView { tally.violate(entry.rule, $0, entry.hearing, entry.text) }
    }
  }
}

extension ConnectionState {
  /// Whether the session may have begun before the capture, so that anything may have waited in it.
  var hasOlderSession: Bool { isSessionOlder || isNewSession == nil }

  /// Whether everything is known that the client is subscribed to.
  var routesAreKnown: Bool {
    guard lossReason(of: .client) == nil,
      !subscribing.subscriptions.isOverfull, !subscribing.subscriptions.hasExtension,
      !subscribing.subscriptions.hasFaultyRequest
    else { return false }
    return isContinued ? true : isNewSession == true
  }
}
