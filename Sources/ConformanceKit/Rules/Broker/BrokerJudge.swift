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
  var lines = MessageLines()
  private(set) var latencies = Latencies()
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
  private var copies = FlatTable<UInt32>(limit: 32_768, empty: 0)
  private static let uncounted = UInt32.max
  /// The first servers that messages were published to.
  private var publishedTo: [UInt64] = []
  private static let mostPublished = 8

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
  }

  private static let mostServers = 4_096
  private static let mostBreaks = 256

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

  /// Why what a server knows of a session may have changed between two of its connections: messages that it delivers tell
  /// that it has others which are not in the capture, or it may have stopped, and have begun again with what it had stored.
  private func doubt(
    ofSessionsAt server: UInt64, between: ClosedRange<Timestamp>, isOfPresence: Bool
  ) -> UndecidedReason? {
    guard let facts = servers[server] else { return nil }
    if isOfPresence, facts.hasUnseen { return .connectionsUnseen }
    let isBroken = facts.breaks.contains { between.contains($0) }
    return isBroken || facts.breaks.count == Self.mostBreaks ? .serverMayHaveRestarted : nil
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

  /// Notes that a server delivered a message that it was given on no connection in the capture, surely or perhaps.
  private mutating func noteUnseen(at server: UInt64, isSure: Bool = true) {
    if isSure { doubt(server, .publishersUnseen) }
    guard servers.count < Self.mostServers || servers[server] != nil else { return }
    servers[server, default: ServerFacts()].hasUnseen = true
  }

  /// Why what clients publish at a server is not all there; nil where nothing shows that.
  private func doubt(of server: UInt64) -> UndecidedReason? { servers[server]?.doubt ?? doubtOfAll }

  /// Notes that messages to a server may be missing from the capture.
  mutating func doubt(_ server: UInt64, _ reason: UndecidedReason) {
    guard servers.count < Self.mostServers || servers[server] != nil else { return }
    if servers[server]?.doubt == nil { servers[server, default: ServerFacts()].doubt = reason }
  }

  /// What tells a message to a server.
  static func key(_ content: ContentHash, at server: UInt64) -> UInt64 {
    key(content.value, at: server)
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
    if isRepeat {
      let moment = Moment(context)
      let isKept = ledger.change(key) {
        $0.wasRepeated = true
        $0.last = moment
      }
      if isKept { return }
    }
    var publication = Publication(key, of: state.identity.client, packet, context)
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

  /// Takes note that the server has a message.
  mutating func takeIn(
    _ content: ContentHash, at time: Timestamp, _ state: borrowing ConnectionState
  ) {
    ledger.change(Self.key(content, at: state.identity.endpoint)) {
      $0.taken = max(time, $0.taken ?? time)
    }
  }

  /// Takes note that the server refused a message.
  mutating func refuse(_ content: ContentHash, _ state: borrowing ConnectionState) {
    ledger.change(Self.key(content, at: state.identity.endpoint)) { $0.wasRefused = true }
  }

  // MARK: What the server delivers

  /// Has at hand what is known of a message that is delivered soon.
  @inline(__always)
  func prefetch(_ content: ContentHash, on connection: Int, _ state: borrowing ConnectionState) {
    let key = Self.key(content, at: state.identity.endpoint)
    ledger.prefetch(key)
    copies.prefetch(Self.copy(of: key, on: connection))
    pending.prefetch(.liveIsNotRetained, on: connection, key: key)
  }

  @inline(__always)
  private static func copy(of key: UInt64, on connection: Int) -> UInt64 {
    key ^ UInt64(truncatingIfNeeded: connection) &* 0x9E37_79B9_7F4A_7C15
  }

  /// A message on its way to a client.
  struct Delivery: ~Copyable {
    let key: UInt64
    let server: UInt64
    /// What was published; rules that judge each message are handed it besides, as a copy is large.
    let publication: Publication?
    let matching: Matching
    /// Whether all subscriptions of the client are known.
    let isKnown: Bool
    /// Whether nobody in the capture published it after the subscriptions were asked for, and nothing of the clients is
    /// missing there.
    let isOlder: Bool

    /// What was published, if it was published once and not as a will that is not due.
    var source: Publication? { publication.flatMap { $0.isSingle ? $0 : nil } }
  }

  /// Takes a message of a server, with what the client's subscriptions have to say of its topic.
  mutating func deliver(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ content: ContentHash,
    _ matching: consuming Matching, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let server = state.identity.endpoint
    let key = Self.key(content, at: server)
    let isKnown = state.routesAreKnown
    let publication = ledger[key]
    var line: UInt64 = 0
    if let publication, publication.sequence > 0 {
      line = MessageLines.key(topic, qos: publication.qos, from: publication.connection)
      lines.prefetch(line, to: event.context.connection)
    }
    let published = packet.qos > 0 ? Timestamp(nanoseconds: .max) : publication?.first.time
    if packet.qos > 0 { pending.takeBackCopies(on: event.context.connection, key: key, packet.qos) }
    pending.pass(on: event.context.connection, key: key, published: published)
    pendingOfWills.pass(on: event.context.connection, key: key, published: published)
    if let publication, isKnown {
      count(packet, publication, matching, on: event.context.connection, at: server)
    }
    // When a will was published is not known.
    let isOlder =
      publication.map { !$0.isWill && $0.last.time.nanoseconds < matching.requested }
      ?? (doubt(of: server) == nil)
    let delivery = Delivery(
      key: key, server: server, publication: publication, matching: matching,
      isKnown: isKnown, isOlder: isOlder)
    judgeDollar(packet, topic, delivery, event, &state, hearing, &tally)
    judgeGrant(packet, delivery, event, &state, hearing, &tally)
    judgeNumbers(packet, delivery, event, &state, hearing, &tally)
    judgeRetainHandling(packet, delivery, event, &state, hearing, &tally)
    guard let publication else {
      judgeLostMark(packet, topic, delivery, event, &state, hearing, &tally)
      lookAt(packet, topic, content, delivery, event, &state, hearing, &tally)
      return noteUnseen(packet, topic, delivery, isNewSession: state.isNewSession == true)
    }
    if state.clocks.differ { doubt(server, .clocksDiffer) }
    guard event.context.time >= publication.first.time else { return }
    if publication.isWill {
      judgeWill(packet, content, delivery, event, &state, hearing, &tally)
    } else if !wills.topics.isEmpty, publication.connection != event.context.connection,
      servers.count < Self.mostServers
    {
      servers[server, default: ServerFacts()].isTraced = true
    }
    lookAt(packet, topic, content, delivery, event, &state, hearing, &tally)
    judgeForwarding(packet, publication, delivery, event, &state, hearing, &tally)
    // An identifier would look like the first bytes of the payload, or of its properties.
    if packet.qos == 0 { tally.satisfy(.plainHasNoIdentifier, hearing) }
    if let reuse = publication.reuse, publication.isSingle, delivery.matching.count > 0 {
      tally.satisfy(reuse, hearing)
    }
    judgeText(packet, topic, delivery, hearing, &tally)
    judgeExpired(packet, publication, delivery, event, &state, hearing, &tally)
    if publication.forwarded.expiry != nil {
      noteLatency(packet, publication, event.context, state)
    }
    guard delivery.isKnown else { return }
    judgeQoS(packet, publication, delivery, event, &state, hearing, &tally)
    if state.opening.connect?.isBridge != true {
      judgeRetain(packet, publication, delivery, event, &state, hearing, &tally)
    }
    judgeMerged(packet, publication, delivery, event, hearing, &tally)
    judgeSharing(packet, content, publication, delivery, event, &state, hearing, &tally)
    judgeNoLocal(packet, publication, delivery, event, &state, hearing, &tally)
    judgeUnsubscribed(packet, publication, delivery, event, hearing, &tally)
    if !absences.isEmpty {
      judgeKeeping(packet, publication, delivery, event, &state, hearing, &tally)
    }
    judgeOrder(packet, line, publication, delivery, event, &state, hearing, &tally)
  }

  /// Counts the copies of a message: more than were published tell of a publisher that is not in the capture and says the
  /// same.
  private mutating func count(
    _ packet: borrowing MQTTPacketView, _ publication: Publication, _ matching: borrowing Matching,
    on connection: Int, at server: UInt64
  ) {
    // What was sent again may come again by a fault of the server, and a filter that is shared counts once beside itself.
    guard !packet.dup, !packet.retain, !publication.isWill, !publication.wasThere,
      !publication.wasRepeated, !matching.isShared
    else { return }
    // Of what was published several times there may have been more filters before.
    let isCounted = publication.isSingle || matching.count == 1
    var count: UInt32 = 0
    _ = copies.update(Self.copy(of: publication.key, on: connection)) { copies, _ in
      if copies < Self.uncounted { copies = isCounted ? copies + 1 : Self.uncounted }
      count = copies
    }
    guard count < Self.uncounted else { return }
    // Of a topic that several filters match there are as many.
    if Int(count) > max(1, matching.count) * publication.count {
      noteUnseen(at: server)
    }
  }

  /// Takes the time that a message which expires took, where the server had no reason to keep it: its receiver was there,
  /// or had no session yet in which it could wait. For others nobody asks.
  @inline(never)
  private mutating func noteLatency(
    _ packet: borrowing MQTTPacketView, _ publication: Publication, _ context: EventContext,
    _ state: borrowing ConnectionState
  ) {
    guard publication.isSingle, !packet.dup, !packet.retain,
      let connack = state.opening.connack,
      state.isNewSession == true || publication.first.time > connack.moment.time
    else { return }
    latencies.note(
      context.time.nanoseconds(since: publication.first.time), from: publication.connection,
      to: state.identity.host)
  }

  /// Looks at a message by what wills and retained messages its topic has.
  @inline(__always)
  private mutating func lookAt(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ content: ContentHash,
    _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let hasWill = wills.topics.mayContain(topic)
    guard hasWill || retained.marks.mayContain(topic) else { return }
    let key = ContentHash.of(topic, in: delivery.server)
    if hasWill { judgeAbsentWill(packet, key, delivery, event, &state, &tally) }
    judgeKept(packet, topic, key, content, delivery, event, &state, hearing, &tally)
  }

  /// Notes a message that nobody in the capture published, though it is of the time of the capture.
  private mutating func noteUnseen(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ delivery: borrowing Delivery,
    isNewSession: Bool
  ) {
    // A retained one, one that is sent again and one of a session that is older may be from before.
    guard !packet.retain, !packet.dup, delivery.matching.count > 0, !topic.begins(with: "$") else {
      return
    }
    if delivery.isKnown {
      noteUnseen(at: delivery.server)
    } else if isNewSession {
      noteUnseen(at: delivery.server, isSure: false)
    }
  }

  /// Takes the news that bytes of a server are missing, among which copies of messages may be.
  mutating func loseCopies(on connection: Int, _ tally: inout Tally) {
    retained.leave(connection)
    let lost =
      pending.removeCopies(on: connection) + pendingOfWills.removeCopies(on: connection)
    for entry in lost {
      tally.leave(entry.rule, .serverGap, entry.hearing)
    }
  }

  // MARK: The end

  /// Reports what nothing in the file spoke against.
  mutating func endFile(_ tally: inout Tally) {
    let entries = pending.removeAll()
    for entry in entries {
      report(entry, entry.isShown(by: entries) ? nil : .oneMessageAlone, &tally)
    }
    endWills(&tally)
    self = BrokerJudge()
  }

  /// Reports what nothing in the file spoke against.
  func report(
    _ entry: PendingFindings.Entry, _ other: UndecidedReason?, _ tally: inout Tally
  ) {
    // Of a server that there was no room for nothing is known.
    let unknown: UndecidedReason? = servers.count < Self.mostServers ? nil : .tooMany
    let moment = Moment(entry.event.context)
    let reason =
      entry.between.map {
        doubt(ofSessionsAt: entry.server, between: $0, isOfPresence: entry.isOfPresence)
      }
      ?? doubt(of: entry.server)
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
    guard lossReason(of: .client) == nil, opening.connect != nil,
      !subscribing.subscriptions.isOverfull, !subscribing.subscriptions.hasExtension,
      !subscribing.subscriptions.hasFaultyRequest
    else { return false }
    return isContinued ? true : isNewSession == true
  }
}
