internal import RepriseCore
internal import Wire

// What a server delivers: each message is looked up once, and handed to the rules of all that it may break.
extension BrokerJudge {
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

  /// A message on its way to a client, with what the client's subscriptions have to say of its topic.
  ///
  /// It is filled in place, and lent from then on: it is large.
  struct Delivery: ~Copyable {
    let server: UInt64
    var matching = Matching()
    fileprivate(set) var key: UInt64 = 0
    /// Whether all subscriptions of the client are known.
    fileprivate(set) var isKnown = false
    /// Whether nobody in the capture published it after the subscriptions were asked for, and nothing of the clients is
    /// missing there.
    fileprivate(set) var isOlder = false
    /// Nothing, ever: it makes the compiler lend a delivery by its address, as with ``ConnectionState``; otherwise all of
    /// it was copied for each function that only reads it.
    private weak var anchor: AnyObject?

    init(at server: UInt64) { self.server = server }
  }

  /// What was published of what is delivered; rules that judge each message are handed it, as a copy is large.
  func publication(of delivery: borrowing Delivery) -> Publication? { ledger[delivery.key] }

  /// What was published, if it was published once and not as a will that is not due.
  func source(of delivery: borrowing Delivery) -> Publication? {
    publication(of: delivery).flatMap { $0.isSingle ? $0 : nil }
  }

  /// Takes a message of a server, of which no more is known than its server and the subscriptions.
  mutating func deliver(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ content: ContentHash,
    _ delivery: inout Delivery, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    delivery.key = Self.key(content, at: delivery.server)
    delivery.isKnown = state.routesAreKnown
    if packet.qos > 0 {
      pending.takeBackCopies(on: event.context.connection, key: delivery.key, packet.qos)
    }
    // What the server refused it does not send: somebody who is not in the capture says the same.
    guard let publication = ledger[delivery.key], !publication.wasRefused else {
      return deliverUnknown(packet, topic, content, &delivery, event, &state, hearing, &tally)
    }
    deliver(publication, packet, topic, content, &delivery, event, &state, hearing, &tally)
  }

  /// Takes a message that nobody in the capture published lately.
  private mutating func deliverUnknown(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ content: ContentHash,
    _ delivery: inout Delivery, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    pass(delivery, published: packet.qos > 0 ? Timestamp(nanoseconds: .max) : nil, event.context)
    delivery.isOlder = doubt(of: delivery.server) == nil
    judgeMatching(packet, topic, delivery, event, &state, hearing, &tally)
    judgeLostMark(packet, topic, delivery, event, &state, hearing, &tally)
    lookAt(packet, topic, content, delivery, event, &state, hearing, &tally)
    noteUnseen(packet, topic, delivery, isNewSession: state.isNewSession == true)
  }

  /// Takes a message that was published.
  private mutating func deliver(
    _ publication: Publication, _ packet: borrowing MQTTPacketView, _ topic: RawSpan,
    _ content: ContentHash, _ delivery: inout Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    var line: UInt64 = 0
    if publication.sequence > 0 {
      line = MessageLines.key(topic, qos: publication.qos, from: publication.connection)
      lines.prefetch(line, to: event.context.connection)
    }
    let published = packet.qos > 0 ? Timestamp(nanoseconds: .max) : publication.first.time
    pass(delivery, published: published, event.context)
    if delivery.isKnown { count(packet, publication, delivery, on: event.context.connection) }
    // When a will was published is not known.
    delivery.isOlder =
      !publication.isWill && publication.last.nanoseconds < delivery.matching.requested
    judgeMatching(packet, topic, delivery, event, &state, hearing, &tally)
    if state.clocks.differ { doubt(delivery.server, state.clocks.doubt) }
    guard event.context.time >= publication.first.time else { return }
    if publication.isWill {
      judgeWill(packet, content, delivery, event, &state, hearing, &tally)
    } else if !wills.topics.isEmpty, publication.connection != event.context.connection {
      noteTraced(delivery.server)
    }
    lookAt(packet, topic, content, delivery, event, &state, hearing, &tally)
    guard !isOwn(publication, delivery, event.context) else {
      // It gets none of its own: by all else this is what somebody who is not in the capture says as well.
      if delivery.isKnown {
        judgeNoLocal(packet, publication, delivery, event, hearing, &tally)
      }
      return
    }
    let mayHaveCome = mayHaveCome(publication, event.context, state)
    noteLag(packet, publication, event.context, state)
    if !mayHaveCome {
      judgeForwarding(packet, topic, publication, delivery, event, &state, hearing, &tally)
    }
    // An identifier would look like the first bytes of the payload, or of its properties.
    if packet.qos == 0 { tally.satisfy(.plainHasNoIdentifier, hearing) }
    if let reuse = publication.reuse, publication.isSingle, delivery.matching.count > 0 {
      tally.satisfy(reuse, hearing)
    }
    judgeText(topic, delivery, hearing, &tally)
    if publication.forwarded.expiry != nil {
      judgeExpired(packet, publication, delivery, event, &state, hearing, &tally)
      noteLatency(packet, publication, event.context, state)
    }
    guard delivery.isKnown else { return }
    judgeRoute(publication, packet, content, delivery, event, &state, hearing, &tally)
    if !mayHaveCome {
      judgeOrder(packet, line, publication, delivery, event, &state, hearing, &tally)
    }
  }

  /// Whether a client published a message itself, and no filter of it that matches wants those (No Local), or may not.
  private func isOwn(
    _ publication: borrowing Publication, _ delivery: borrowing Delivery, _ context: EventContext
  ) -> Bool {
    guard publication.connection == context.connection else { return false }
    return !delivery.isKnown || delivery.matching.count > 0 && delivery.matching.isDeaf
  }

  /// Whether a message may have come on the connection before of a session that goes on, while that was there: then this
  /// is another one, of somebody who is not in the capture and says the same.
  private func mayHaveCome(
    _ publication: borrowing Publication, _ context: EventContext,
    _ state: borrowing ConnectionState
  ) -> Bool {
    guard state.isNewSession != true else { return false }
    guard let connack = state.opening.connack else { return true }
    guard publication.last < connack.moment.time, let ended = ends[context.connection] else {
      return false
    }
    return publication.first.time <= ended
  }

  /// Judges what is said of a message by where it comes, and how.
  @inline(__always)
  private mutating func judgeMatching(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    judgeDollar(topic, delivery, event, &state, hearing, &tally)
    judgeGrant(packet, topic, delivery, event, &state, hearing, &tally)
    judgeNumbers(packet, delivery, event, &state, hearing, &tally)
    judgeRetainHandling(packet, delivery, event, &state, hearing, &tally)
  }

  /// Judges how a message came to a client of which all subscriptions are known.
  @inline(__always)
  private mutating func judgeRoute(
    _ publication: Publication, _ packet: borrowing MQTTPacketView,
    _ content: ContentHash, _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    judgeQoS(packet, publication, delivery, event, &state, hearing, &tally)
    if state.opening.connect?.isBridge != true {
      judgeRetain(packet, publication, delivery, event, &state, hearing, &tally)
    }
    judgeMerged(packet, publication, delivery, event, state, hearing, &tally)
    judgeSharing(packet, content, publication, delivery, event, &state, hearing, &tally)
    judgeNoLocal(packet, publication, delivery, event, hearing, &tally)
    judgeUnsubscribed(packet, publication, delivery, event, hearing, &tally)
    if !absences.isEmpty {
      judgeKeeping(packet, publication, delivery, event, &state, hearing, &tally)
    }
  }

  /// Takes note that a message came, which tells that the copies before it did not.
  @inline(__always)
  private mutating func pass(
    _ delivery: borrowing Delivery, published: Timestamp?, _ context: EventContext
  ) {
    pending.pass(on: context.connection, key: delivery.key, published: published)
    pendingOfWills.pass(on: context.connection, key: delivery.key, published: published)
  }

  /// Counts the copies of a message: more than were published tell of a publisher that is not in the capture and says the
  /// same.
  private mutating func count(
    _ packet: borrowing MQTTPacketView, _ publication: Publication, _ delivery: borrowing Delivery,
    on connection: Int
  ) {
    // What was sent again may come again by a fault of the server, and a filter that is shared counts once beside itself.
    guard !packet.dup, !packet.retain, !publication.isWill, !publication.wasThere,
      !publication.wasRepeated, !delivery.matching.isShared
    else { return }
    // Of what was published several times there may have been more filters before.
    let isCounted = publication.isSingle || delivery.matching.count == 1
    var count: UInt32 = 0
    _ = copies.update(Self.copy(of: publication.key, on: connection)) { copies, _ in
      if copies < Self.uncounted { copies = isCounted ? copies + 1 : Self.uncounted }
      count = copies
    }
    guard count < Self.uncounted else { return }
    // Of a topic that several filters match there are as many.
    if Int(count) > max(1, delivery.matching.count) * publication.count {
      noteUnseen(at: delivery.server)
    }
  }

  /// Takes the time that a message which expires took, where the server had no reason to keep it.
  ///
  /// Its receiver was there, or had no session yet in which it could wait. For other messages nobody asks.
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

  /// Takes note of a message that came late, where the server had no reason to keep it.
  @inline(__always)
  private mutating func noteLag(
    _ packet: borrowing MQTTPacketView, _ publication: borrowing Publication,
    _ context: EventContext, _ state: borrowing ConnectionState
  ) {
    guard context.time.nanoseconds(since: publication.last) > DeliveryLags.least,
      !packet.dup, !packet.retain, let connack = state.opening.connack,
      publication.first.time > connack.moment.time
    else { return }
    lags.note(on: context.connection, at: context.time)
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
    wills.lose(connection)
    let lost =
      pending.removeCopies(on: connection) + pendingOfWills.removeCopies(on: connection)
    for entry in lost {
      tally.leave(entry.rule, .serverGap, entry.hearing)
    }
  }
}
