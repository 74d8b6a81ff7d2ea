internal import RepriseCore
internal import Wire

// Wills as they are taken, dropped and published: sections 3.1.2.5 to 3.1.2.7, 3.1.3.2.2 (5.0) and 3.14.4.
extension BrokerJudge {
  /// How long before or behind something a client may have had a connection elsewhere, and a server may be busy with
  /// what was before, in nanoseconds.
  static let willPause: Int64 = 5_000_000_000
  /// How long a server may take for what a client sent, and to publish a will.
  static let willSettled: Int64 = 1_000_000_000
  static let willPatience: Int64 = 60_000_000_000
  /// How near a server is to the capture whose end does not cross anything, in nanoseconds.
  static let willNear: Int64 = 1_000_000
  /// How much the clocks of server and capture may differ over a delay.
  static let willTolerance: Int64 = 2_000_000_000

  /// Takes the will of a client, which the server may publish.
  mutating func connect(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ state: inout ConnectionState
  ) {
    let (client, server) = (state.identity.client, state.identity.endpoint)
    // Where bytes of it are missing, nobody knows whose it is.
    if packet.missing == 0 {
      let last = sessions[client]?.accepted.time
      state.identity.previous = lastConnects.take(
        state.identity.name, on: context.connection,
        isOutOfOrder: last.map { context.time < $0 } ?? false)
      state.identity.isFirst = hasOwnMessages && state.identity.previous == 0
    }
    wills.contest(client, by: context.connection, at: context.time, within: Self.willPause)
    guard let connect = packet.connect, packet.missing == 0 else { return wills.doubt(server) }
    // What its own clients publish is no traffic of this server's.
    if connect.isBridge { doubt(everywhere: .publishersUnseen) }
    guard connect.hasWill else { return }
    let content = ContentHash(topic: connect.willTopic, payload: connect.willPayload)
    let key = Self.key(content, at: server)
    let isElsewhere = !notePublished(content, to: server).isEmpty
    let isKept = ledger.change(key) {
      $0.count += 1
      $0.isWill = true
      $0.isDue = false
    }
    if !isKept {
      var will = Publication(
        willOf: client, key, qos: connect.willQoS, retain: connect.willRetain, context)
      if isElsewhere { will.doubtOrigin() }
      ledger.add(will)
    }
    // Of two CONNECTs nobody knows which will counts.
    guard !packet.hasFaults, !context.isRebuilt, wills.held[context.connection] == nil,
      state.opening.connect?.moment.frame == context.frame,
      !connect.willTopic.holdsHidden, !connect.willPayload.holdsHidden
    else { return wills.doubt(server) }
    wills.mark(connect.willTopic)
    let delay = connect.willProperties.integer(.willDelayInterval).map { UInt32(clamping: $0) } ?? 0
    let mayExpire = connect.willPropertySet.contains(.messageExpiryInterval)
    let users = ForwardedProperties.users(of: connect.willProperties, in: packet.bytes)
    wills.add(
      Wills.Held(content: content.value, key: key), client,
      ContentHash.of(connect.willTopic, in: server), context.connection
    ) {
      $0.qos = min($0.qos, connect.willQoS)
      $0.size = max(
        $0.size, UInt32(clamping: connect.willTopic.byteCount + connect.willPayload.byteCount))
      $0.delay = max($0.delay, delay)
      if connect.willRetain { $0.isRetained = true }
      if mayExpire { $0.mayExpire = true }
      $0.users = users
    }
  }

  /// Takes the DISCONNECT of a client, which drops its will if the server reads it before it ends the connection for
  /// something else.
  mutating func disconnect(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ state: borrowing ConnectionState
  ) {
    guard !wills.held.isEmpty, !packet.hasFaults, packet.missing == 0,
      packet.reasonCode ?? 0 == 0, packet.propertySet.isEmpty, state.hasPings,
      state.ending.client.disconnect == nil, state.ending.server.disconnect == nil,
      state.rare?.value.offence == nil
    else { return }
    // What the client sent before may have made the server close.
    guard state.exchanges.fromClient.open.count == 0, state.subscribing.open.count == 0,
      state.unsubscribing.open.count == 0,
      state.lastPlain < context.time.nanoseconds.addingSaturating(-Self.willSettled)
    else { return }
    let opening = state.opening
    let keepAlive = opening.connack?.serverKeepAlive ?? opening.connect?.keepAlive ?? 0
    guard let last = state.client.lastTime,
      keepAlive == 0
        || context.time.nanoseconds(since: last) <= Int64(keepAlive) * 1_000_000_000
    else { return }
    wills.leave(context.connection, Moment(context))
  }

  /// Takes the end of a connection that has a will.
  mutating func endWill(
    _ close: Closing, _ event: borrowing EventView, _ state: borrowing ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    if state.opening.connect == nil { wills.doubt(state.identity.endpoint) }
    let connection = event.context.connection
    guard let held = wills.remove(connection), close.how != .endOfCapture, hearing.mode == .judged,
      state.isFromStart, !state.isUnsure,
      let connack = state.opening.connack, connack.code == 0
    else { return }
    let isContested = held.isContested || takenOver[connection] != nil
    if let farewell = held.farewell {
      // Bytes that a reset overtook the server may never have read, nor those that crossed its own end.
      let way = state.wayToServer(until: connack.moment.time)
      let end = close.first == .client ? event.context.time : close.time
      let isReply = way < Self.willNear || end.nanoseconds(since: farewell.time) >= way
      guard !isContested, close.how == .fin, isReply, close.isAnswered,
        state.ending.server.disconnect == nil, state.rare?.value.offence == nil
      else { return }
      return wills.change(held.content) {
        $0.dropped += 1
        $0.drop = Wills.Drop(moment: farewell, accepted: connack.moment, hearing: hearing)
        $0.dropIsShown = false
      }
    }
    let ending = state.ending.client
    guard ending.disconnect == nil || ending.code != 0 else { return }
    let alive = (state.server.lastTime ?? connack.moment.time).nanoseconds
    let due = Wills.Due(
      moment: Moment(time: close.time, frame: event.context.frame), accepted: connack.moment,
      hearing: hearing, alive: alive,
      isOfClient: close.first == .client && close.how == .fin && close.isAnswered && !isContested)
    makeDue(held, due, hearing, &tally)
  }

  private mutating func makeDue(
    _ held: Wills.Held, _ due: Wills.Due, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let will = wills[held.content] else { return }
    // The server may have noticed the end before it was captured.
    let isHeard =
      will.delay == 0 && will.holders == 1
      && (will.early.map { $0.moment.time.nanoseconds > due.alive } ?? false)
    wills.change(held.content) {
      $0.due = due
      $0.isHeard = isHeard
      $0.back = nil
      $0.absenceIsShown = false
    }
    if isHeard { countHeard(hearing, &tally) } else { wills.unheard[held.content] = hearing }
    // A message like others, but for its sender: what is known of it holds from its earliest time on.
    let isKept = ledger.change(held.key) {
      guard $0.isWill, $0.count == 1, will.holders == 1, will.client == $0.client else { return }
      $0.isDue = true
      $0.move(to: Timestamp(nanoseconds: due.alive))
    }
    if !isKept {
      var publication = Publication(willOf: will.client, held.key, will, due)
      publication.count = will.holders
      ledger.add(publication)
    }
  }

  func countHeard(_ hearing: Hearing, _ tally: inout Tally) {
    tally.satisfy(.willIsPublished, hearing)
    if hearing.version == .v5_0 { tally.satisfy(.willIsStored, hearing) }
  }

  /// Reports what nothing in the file spoke against, and the wills of which nobody knows whether they were published.
  mutating func endWills(_ tally: inout Tally) {
    let entries = pendingOfWills.removeAll()
    for entry in entries {
      let isKnown = wills.areKnown(at: entry.server) && isTraced(entry.server)
      let isAlone =
        hasOwnMessages
        || entry.needsLoneWill.map { wills.areAlone(at: entry.server, behind: $0) } ?? true
      let other = isAlone ? doubt(of: entry, among: entries) : .serverMaySayIt
      report(entry, isKnown ? other : .publishersUnseen, &tally)
    }
    for hearing in wills.unheard.values.sorted(by: { $0.connection < $1.connection }) {
      tally.leave(.willIsPublished, .willNotSeen, hearing)
    }
  }

  /// Whether the subscriptions that match were there at a time, and were not asked for again since.
  func isEstablished(_ delivery: borrowing Delivery, at time: Timestamp) -> Bool {
    delivery.isKnown && delivery.matching.count > 0 && delivery.matching.isCertain
      && isSurely(time, after: delivery.matching.since)
      && isSurely(time, after: delivery.matching.requested)
  }
}

extension ConnectionState {
  /// How long the way to the server and back takes at the most, by its CONNACK, in nanoseconds.
  func wayToServer(until connack: Timestamp) -> Int64 {
    opening.connect.map { connack.nanoseconds(since: $0.moment.time) } ?? .max
  }
}

extension Wills.Will {
  /// What tells it at a server.
  func key(at server: UInt64, _ content: UInt64) -> UInt64 {
    BrokerJudge.key(content, at: server)
  }
}

extension Wills {
  /// Notes that a client gets a will before it is due.
  mutating func noteEarly(_ content: UInt64, _ context: EventContext) {
    change(content) { if $0.early == nil { $0.early = Sight(context) } }
  }
}

extension Wills.Sight {
  init(_ context: EventContext) {
    self.init(moment: Moment(context), connection: context.connection)
  }
}

extension Wills.Drop {
  func evidence(_ connection: Int) -> [Finding.Evidence] {
    [
      Finding.Evidence(
        frame: accepted.frame, connection: connection, role: "CONNACK of the client"),
      Finding.Evidence(
        frame: moment.frame, connection: connection, role: "DISCONNECT that drops its will"),
    ]
  }
}

extension Wills.Due {
  func evidence(_ connection: Int) -> [Finding.Evidence] {
    [
      Finding.Evidence(
        frame: moment.frame, connection: connection, role: "end of the connection with the will")
    ]
  }
}
