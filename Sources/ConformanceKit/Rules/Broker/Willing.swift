internal import RepriseCore
internal import Wire

// Wills: sections 3.1.2.5 to 3.1.2.7, 3.1.3.2.2 (5.0) and 3.14.4.
extension BrokerJudge {
  /// How long before or behind something a client may have had a connection elsewhere, and a server may be busy with
  /// what was before, in nanoseconds.
  private static let pause: Int64 = 5_000_000_000
  /// How long a server may take for what a client sent, and to publish a will.
  private static let settled: Int64 = 1_000_000_000
  private static let patience: Int64 = 60_000_000_000
  /// How near a server is to the capture whose end does not cross anything, in nanoseconds.
  private static let near: Int64 = 1_000_000
  /// How much the clocks of server and capture may differ over a delay.
  private static let tolerance: Int64 = 2_000_000_000

  /// Takes the will of a client, which the server may publish.
  mutating func connect(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ state: borrowing ConnectionState
  ) {
    let (client, server) = (state.identity.client, state.identity.endpoint)
    wills.contest(client, by: context.connection, at: context.time, within: Self.pause)
    guard let connect = packet.connect, packet.missing == 0 else { return wills.doubt(server) }
    guard connect.hasWill else { return }
    let content = ContentHash(topic: connect.willTopic, payload: connect.willPayload)
    let key = Self.key(content, at: server)
    let isKept = ledger.change(key) {
      $0.count += 1
      $0.isWill = true
      $0.isDue = false
    }
    if !isKept {
      ledger.add(
        Publication(willOf: client, key, qos: connect.willQoS, retain: connect.willRetain, context))
    }
    // Of two CONNECTs nobody knows which will counts.
    guard packet.faults.isEmpty, !context.isRebuilt, wills.held[context.connection] == nil,
      state.opening.connect?.moment.frame == context.frame
    else { return wills.doubt(server) }
    wills.mark(connect.willTopic)
    let delay = connect.willProperties.integer(.willDelayInterval).map { UInt32(clamping: $0) } ?? 0
    let mayExpire = connect.willPropertySet.contains(.messageExpiryInterval)
    wills.add(
      Wills.Held(content: content.value, key: key), client,
      ContentHash.of(connect.willTopic, in: server), context.connection
    ) {
      $0.qos = min($0.qos, connect.willQoS)
      $0.delay = max($0.delay, delay)
      if connect.willRetain { $0.isRetained = true }
      if mayExpire { $0.mayExpire = true }
    }
  }

  /// Takes the DISCONNECT of a client, which drops its will if the server reads it before it ends the connection for
  /// something else.
  mutating func disconnect(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ state: borrowing ConnectionState
  ) {
    guard !wills.held.isEmpty, packet.faults.isEmpty, packet.missing == 0,
      packet.reasonCode ?? 0 == 0, packet.propertySet.isEmpty, state.hasPings,
      state.ending.client.disconnect == nil, state.ending.server.disconnect == nil,
      state.rare?.value.offence == nil
    else { return }
    // What the client sent before may have made the server close.
    guard state.exchanges.fromClient.open.count == 0, state.subscribing.open.count == 0,
      state.unsubscribing.open.count == 0,
      state.lastPlain < context.time.nanoseconds.addingSaturating(-Self.settled)
    else { return }
    let keepAlive =
      state.opening.connack?.serverKeepAlive ?? state.opening.connect?.keepAlive ?? 0
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
      state.isFromStart, !state.hasLoss, !state.isOrderUncertain, !state.clocks.differ,
      let connack = state.opening.connack, connack.code == 0
    else { return }
    let isContested = held.isContested || takenOver[connection] != nil
    if let farewell = held.farewell {
      // Bytes that a reset overtook the server may never have read, nor those that crossed its own end.
      let way = state.wayToServer(until: connack.moment.time)
      let end = close.first == .client ? event.context.time : close.time
      let isReply = way < Self.near || end.nanoseconds(since: farewell.time) >= way
      guard !isContested, close.how == .fin, isReply, close.isAnswered,
        state.ending.server.disconnect == nil, state.rare?.value.offence == nil
      else { return }
      return wills.change(held.content) {
        $0.dropped += 1
        $0.drop = Wills.Drop(moment: farewell, accepted: connack.moment, hearing: hearing)
        $0.dropIsShown = false
      }
    }
    guard state.ending.client.disconnect == nil || state.ending.client.code != 0 else { return }
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
      $0.first.time = Timestamp(nanoseconds: due.alive)
      $0.last = $0.first
    }
    if !isKept {
      var publication = Publication(willOf: will.client, held.key, will, due)
      publication.count = will.holders
      ledger.add(publication)
    }
  }

  private func countHeard(_ hearing: Hearing, _ tally: inout Tally) {
    tally.satisfy(.willIsPublished, hearing)
    if hearing.version == .v5_0 { tally.satisfy(.willIsStored, hearing) }
  }

  // MARK: Wills that are delivered

  /// Judges a message that equals a will.
  mutating func judgeWill(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: borrowing ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let publication = delivery.publication, let will = wills[content.value], !packet.dup
    else { return }
    // An application may say the same as the will.
    let isAlone = publication.count == will.holders && !will.isSaid
    if packet.retain {
      if isAlone, will.isRetained, delivery.isNew, !delivery.matching.somePublished {
        tally.satisfy(.retainedWillIsRetained, hearing)
      }
      return
    }
    let connection = event.context.connection
    pendingOfWills.takeBack(
      .willIsPublished, on: connection, key: delivery.key, will.due?.hearing ?? hearing)
    let isSecond = wills.hear(content.value, on: connection)
    guard isAlone else {
      wills.unheard[content.value] = nil
      return tally.leave(.willIsPublished, .ambiguousMessage, hearing)
    }
    if will.dropped == will.holders {
      judgeDropped(will, content, delivery, event, &tally)
    } else if let due = will.due {
      judgeDue(packet, isSecond, will, due, content, delivery, event, state, &tally)
    } else {
      wills.noteEarly(content.value, event.context)
    }
  }

  /// Judges a will that a client gets when its owner's connection had ended without DISCONNECT.
  private mutating func judgeDue(
    _ packet: borrowing MQTTPacketView, _ isSecond: Bool?, _ will: Wills.Will, _ due: Wills.Due,
    _ content: ContentHash, _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ tally: inout Tally
  ) {
    if let back = will.back { return judgeBack(back, will, due, delivery, event, &tally) }
    let isEarly =
      will.delay > 0
      && event.context.time.nanoseconds
        < due.time(delay: will.delay).addingSaturating(-Self.tolerance)
    wills.unheard[content.value] = nil
    if isEarly {
      // That the session went on shows when it is resumed.
      wills.noteEarly(content.value, event.context)
    } else if !will.isHeard {
      wills.change(content.value) { $0.isHeard = true }
      countHeard(due.hearing, &tally)
    }
    guard isSecond != false else { return }
    judgeTwice(packet, isSecond, will, due, delivery, event, state, &tally)
  }

  /// Judges a will that a client gets whose owners all said goodbye.
  private mutating func judgeDropped(
    _ will: Wills.Will, _ content: ContentHash, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ tally: inout Tally
  ) {
    guard let drop = will.drop else { return }
    let rules: [MQTTRule] = [.disconnectDropsWill, .willIsRemoved]
    let wait = event.context.time.nanoseconds(since: drop.moment.time)
    if wait > Self.pause, judgeLater(will, drop, content, delivery, event, &tally) { return }
    let doubt: UndecidedReason? =
      if !isEstablished(delivery, at: drop.moment.time)
        || !isSurely(event.context.time, after: drop.moment.time.nanoseconds)
      {
        .subscriptionMayBeNewer
      } else if wait > Self.pause {
        .connectionsUnseen
      } else {
        // A session before may have left the same will, which its end published.
        drop.moment.time.nanoseconds(since: drop.accepted.time) < Self.pause
          ? .earlierSessionNotSeen : nil
      }
    for rule in rules {
      if let doubt {
        tally.leave(rule, doubt, drop.hearing, at: Moment(event.context))
        continue
      }
      pendingOfWills.add(
        rule, event, drop.hearing, key: delivery.key, server: delivery.server, &tally,
        FindingText(
          "the server published the will of a client that had sent DISCONNECT in frame "
            + "\(drop.moment.frame)",
          expected: "no will", actual: "the will that it had given",
          evidence: drop.evidence(will.connection)
            + delivery.matching.evidence(event.context.connection)))
    }
  }

  /// Judges a dropped will that comes when a later connection of its client ended, which had none (3.1.1).
  /// - Returns: Whether it does.
  private mutating func judgeLater(
    _ will: Wills.Will, _ drop: Wills.Drop, _ content: ContentHash, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ tally: inout Tally
  ) -> Bool {
    guard let later = ended(behind: will, content.value, drop.hearing),
      isEstablished(delivery, at: later.end.time),
      isSurely(event.context.time, after: later.end.time.nanoseconds),
      event.context.time.nanoseconds(since: later.end.time) <= Self.pause,
      later.end.time.nanoseconds(since: later.accepted.time) >= Self.pause
    else { return false }
    pendingOfWills.add(
      .noFlagNoWill, event, drop.hearing, key: delivery.key, server: delivery.server, &tally,
      FindingText(
        "the server published a will when a connection ended whose CONNECT had none",
        expected: "no will", actual: "the will of connection \(will.connection)",
        evidence: drop.evidence(will.connection) + [
          Finding.Evidence(
            frame: later.end.frame, connection: later.connection,
            role: "end of the connection without a will")
        ]))
    return true
  }

  /// The last connection of a client behind one that dropped its will, if it had none and is over (3.1.1).
  private func ended(
    behind will: Wills.Will, _ content: UInt64, _ hearing: Hearing
  ) -> (connection: Int, accepted: Moment, end: Moment)? {
    guard hearing.version == .v3_1_1, wills.last(of: will.client) == content,
      let later = sessions[will.client], later.connection != will.connection, let end = later.end,
      !end.hasLoss
    else { return nil }
    return (later.connection, later.accepted, end.moment)
  }

  /// Judges a will that a client gets though its owner came back before its delay was over (5.0).
  private mutating func judgeBack(
    _ back: Wills.Sight, _ will: Wills.Will, _ due: Wills.Due, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ tally: inout Tally
  ) {
    guard will.holders == 1 else { return }
    guard isEstablished(delivery, at: Timestamp(nanoseconds: due.alive)),
      isSurely(event.context.time, after: back.moment.time.nanoseconds)
    else {
      return tally.leave(
        .returnDropsWill, .subscriptionMayBeNewer, due.hearing, at: Moment(event.context))
    }
    pendingOfWills.add(
      .returnDropsWill, event, due.hearing, key: delivery.key, server: delivery.server, &tally,
      FindingText(
        "the server published a will though its client had resumed the session in frame "
          + "\(back.moment.frame), before the Will Delay Interval was over",
        expected: "no will", actual: "the will, which was to wait \(will.delay) s",
        evidence: due.evidence(will.connection) + [
          Finding.Evidence(
            frame: back.moment.frame, connection: back.connection,
            role: "CONNACK that resumes the session")
        ]))
  }

  /// Judges a will that a client gets once more.
  private mutating func judgeTwice(
    _ packet: borrowing MQTTPacketView, _ isSecond: Bool?, _ will: Wills.Will, _ due: Wills.Due,
    _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: borrowing ConnectionState,
    _ tally: inout Tally
  ) {
    let rule = MQTTRule.willIsRemoved
    let isRepeat = packet.packetID.flatMap { state.exchanges.fromServer.open[$0] } != nil
    // At QoS 1 a message may come twice; and the first one may be the will of a session before.
    guard isSecond == true, will.early == nil, packet.qos != 1, will.qos != 1, will.holders == 1,
      !isRepeat, delivery.matching.count == 1, !delivery.matching.isShared,
      isEstablished(delivery, at: Timestamp(nanoseconds: due.alive))
    else { return tally.leave(rule, .ambiguousMessage, due.hearing, at: Moment(event.context)) }
    pendingOfWills.add(
      rule, event, due.hearing, key: delivery.key, server: delivery.server, &tally,
      FindingText(
        "the server published a will twice, though its client gave it once",
        expected: "one delivery at QoS \(packet.qos)", actual: "another one",
        evidence: due.evidence(will.connection)
          + delivery.matching.evidence(event.context.connection)))
  }

  // MARK: Wills that are not delivered

  /// Takes note that a client is back: its will is cancelled if the delay is not over (5.0).
  mutating func noteReturn(
    isNext: Bool, from before: Int, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard hearing.version == .v5_0, isNext, let content = wills.last(of: state.identity.client),
      let will = wills[content], will.connection == before, will.holders == 1, will.delay > 0,
      let due = will.due, !will.isHeard, due.hearing.version == .v5_0,
      due.moment.time.nanoseconds(since: due.accepted.time) >= Self.pause,
      event.context.time.nanoseconds < due.time(delay: will.delay).addingSaturating(-Self.tolerance)
    else { return }
    wills.unheard[content] = nil
    guard let early = will.early, early.moment.time.nanoseconds > due.alive else {
      return wills.change(content) { $0.back = Wills.Sight(event.context) }
    }
    let key = will.key(at: state.identity.endpoint, content)
    pendingOfWills.add(
      .willIsPublished, event, hearing, key: key, server: state.identity.endpoint, &tally,
      FindingText(
        "the server had published a will in frame \(early.moment.frame) before its delay was over, "
          + "and the session goes on",
        expected: "the will \(will.delay) s after the end of the connection, or with the session",
        actual: "the will after \(early.moment.time.seconds(since: due.moment.time))",
        evidence: due.evidence(will.connection) + [
          Finding.Evidence(
            frame: early.moment.frame, connection: early.connection, role: "delivery of the will")
        ]))
  }

  /// Looks at a message on the topic of a will, which may show that the will did not come.
  mutating func judgeAbsentWill(
    _ packet: borrowing MQTTPacketView, _ topic: UInt64, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: borrowing ConnectionState, _ tally: inout Tally
  ) {
    let connection = event.context.connection
    guard let content = wills.last(on: topic), let will = wills[content], !packet.retain,
      !packet.dup, delivery.isKnown, let source = delivery.source, !source.isWill,
      !wills.isHeard(content, on: connection)
    else { return }
    if will.dropped == will.holders, let drop = will.drop {
      if !will.dropIsShown, isEstablished(delivery, at: drop.moment.time),
        isSurely(source.first.time, after: drop.moment.time.nanoseconds)
      {
        wills.change(content) { $0.dropIsShown = true }
        tally.satisfy(.disconnectDropsWill, drop.hearing)
        tally.satisfy(.willIsRemoved, drop.hearing)
      }
      if let later = ended(behind: will, content, drop.hearing),
        later.connection != will.laterIsShown, isEstablished(delivery, at: later.end.time),
        isSurely(source.first.time, after: later.end.time.nanoseconds)
      {
        wills.change(content) { $0.laterIsShown = later.connection }
        tally.satisfy(.noFlagNoWill, drop.hearing)
      }
      return
    }
    guard let due = will.due, !will.isHeard, !will.absenceIsShown,
      isEstablished(delivery, at: Timestamp(nanoseconds: due.alive))
    else { return }
    if will.back != nil {
      let isOver =
        event.context.time.nanoseconds
        > due.time(delay: will.delay).addingSaturating(Self.tolerance)
      guard isOver else { return }
      wills.change(content) { $0.absenceIsShown = true }
      return tally.satisfy(.returnDropsWill, due.hearing)
    }
    judgeMissing(will, content, due, source, delivery, event, state, &tally)
  }

  /// Judges a will that did not come, where another message of its client on its topic came much later.
  private mutating func judgeMissing(
    _ will: Wills.Will, _ content: UInt64, _ due: Wills.Due, _ source: Publication,
    _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: borrowing ConnectionState,
    _ tally: inout Tally
  ) {
    // That the message came shows that both may: its client publish on the topic, and this one read it.
    guard will.client != 0, source.client == will.client, source.retain == will.isRetained,
      source.qos >= will.qos, due.isOfClient, will.delay == 0, !will.mayExpire, will.qos > 0,
      delivery.matching.grantedQoS > 0, !delivery.matching.isDeaf, !delivery.matching.isShared,
      source.first.time.nanoseconds(since: due.moment.time) > Self.patience
    else { return }
    // A server may give up messages of a client that does not keep up, or for which they are too large.
    // On the connection before the will may have come.
    guard !state.server.hasGap, !state.isContinued,
      state.exchanges.fromServer.wasIdle(since: Timestamp(nanoseconds: due.alive)),
      state.terms?.value.client.hasPacketSize != true
    else { return }
    wills.change(content) { $0.absenceIsShown = true }
    wills.unheard[content] = nil
    pendingOfWills.add(
      .willIsPublished, event, due.hearing, key: will.key(at: delivery.server, content),
      server: delivery.server, isTakenBack: true, &tally,
      FindingText(
        "the server did not publish the will of a client that had ended its connection without "
          + "DISCONNECT: a message of the same client on the topic came more than a minute later",
        expected: "the will", actual: "the message of frame \(source.first.frame) without it",
        evidence: due.evidence(will.connection) + source.evidence
          + delivery.matching.evidence(event.context.connection)))
  }

  // MARK: The end

  /// Reports what nothing in the file spoke against, and the wills of which nobody knows whether they were published.
  mutating func endWills(_ tally: inout Tally) {
    for entry in pendingOfWills.removeAll() {
      let isKnown = wills.areKnown(at: entry.server) && isTraced(entry.server)
      report(entry, isKnown ? nil : .publishersUnseen, &tally)
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
  fileprivate func wayToServer(until connack: Timestamp) -> Int64 {
    opening.connect.map { connack.nanoseconds(since: $0.moment.time) } ?? .max
  }
}

extension Wills.Will {
  /// What tells it at a server.
  fileprivate func key(at server: UInt64, _ content: UInt64) -> UInt64 {
    BrokerJudge.key(content, at: server)
  }
}

extension Wills {
  /// Notes that a client gets a will before it is due.
  fileprivate mutating func noteEarly(_ content: UInt64, _ context: EventContext) {
    change(content) { if $0.early == nil { $0.early = Sight(context) } }
  }
}

extension Wills.Sight {
  fileprivate init(_ context: EventContext) {
    self.init(moment: Moment(context), connection: context.connection)
  }
}

extension Wills.Drop {
  fileprivate func evidence(_ connection: Int) -> [Finding.Evidence] {
    [
      Finding.Evidence(
        frame: accepted.frame, connection: connection, role: "CONNACK of the client"),
      Finding.Evidence(
        frame: moment.frame, connection: connection, role: "DISCONNECT that drops its will"),
    ]
  }
}

extension Wills.Due {
  fileprivate func evidence(_ connection: Int) -> [Finding.Evidence] {
    [
      Finding.Evidence(
        frame: moment.frame, connection: connection, role: "end of the connection with the will")
    ]
  }
}
