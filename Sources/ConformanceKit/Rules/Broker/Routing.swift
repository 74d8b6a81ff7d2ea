internal import RepriseCore
internal import Wire

// Which clients get a message, and at which QoS: sections 3.3.4 (3.1.1: 3.3.5), 3.8.4, 3.10.4, 4.7.2 and 4.8.2.
extension BrokerJudge {
  /// Judges a message whose topic begins with `$`.
  func judgeDollar(
    _ topic: RawSpan, _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.wildcardsSpareDollarTopics
    guard topic.begins(with: "$") else { return }
    guard delivery.matching.count == 0, delivery.matching.removed == nil else {
      return tally.satisfy(rule, hearing)
    }
    guard let wild = state.subscribing.subscriptions.wildMatch(topic) else { return }
    guard delivery.isKnown, !state.isContinued else {
      return tally.leave(
        rule, state.isContinued ? .connectionsUnseen : state.doubtOfSubscriptions, hearing)
    }
    // What a server tells of itself by this name many clients ask for; by other names it may send of its own what nobody
    // asked for.
    let name = String(copying: topic)
    let source = publication(of: delivery)
    guard name.hasPrefix("$SYS/") || source != nil else {
      return tally.leave(rule, .serverPolicy, hearing)
    }
    guard !topic.holdsHidden else { return tally.leave(rule, .hidden, hearing) }
    state.ownRare.suspicions.add(
      rule, event, hearing, &tally,
      FindingText(
        "the server sent a message whose topic begins with $ for a filter that begins with a wildcard",
        expected: "no message of that topic for such a filter", actual: "topic \"\(name)\"",
        evidence: (source?.evidence ?? []) + wild.evidence))
  }

  /// Judges the QoS of a message by what the client was granted.
  func judgeGrant(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard delivery.matching.count > 0 || delivery.matching.removed != nil else { return }
    let isShared =
      delivery.matching.isShared && !delivery.matching.isPlain && hearing.version == .v5_0
    guard packet.qos > delivery.matching.highestQoS else {
      if isShared { tally.satisfy(.sharedQoSIsKept, hearing) }
      return
    }
    let rules: [MQTTRule] = isShared ? [.grantedQoSIsKept, .sharedQoSIsKept] : [.grantedQoSIsKept]
    guard delivery.isKnown else {
      for rule in rules { tally.leave(rule, state.doubtOfSubscriptions, hearing) }
      return
    }
    // On a connection that is not in the capture it may have asked for a filter of which nothing is known.
    guard !state.isContinued else {
      for rule in rules { tally.leave(rule, .connectionsUnseen, hearing) }
      return
    }
    guard hasOwnMessages || !state.identity.isNamed(in: topic) else {
      for rule in rules { tally.leave(rule, .serverMaySubscribe, hearing) }
      return
    }
    for rule in rules {
      state.ownRare.suspicions.add(
        rule, event, hearing, &tally,
        FindingText(
          "the server sent a message at a higher QoS than it granted to any filter that matches",
          expected: "QoS \(delivery.matching.highestQoS) at most", actual: "QoS \(packet.qos)",
          evidence: delivery.matching.evidence))
    }
  }

  /// Judges the QoS of a message by the one that it was published with.
  mutating func judgeQoS(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard delivery.matching.count > 0, packet.qos <= delivery.matching.highestQoS else { return }
    let rule: MQTTRule = delivery.matching.count > 1 ? .overlapsGetHighestQoS : .grantedQoSIsKept
    guard source.isAgreed else {
      return tally.leave(rule, .ambiguousMessage, hearing)
    }
    let expected = min(source.qos, delivery.matching.grantedQoS)
    // Whichever it is, and whatever filters there are besides by now, a copy is there at the QoS that one should have.
    if delivery.matching.count > 1, packet.qos >= expected {
      pending.settle(rule, on: event.context.connection, key: delivery.key, hearing)
    }
    guard !isOfAnother(packet, source, delivery) else {
      return tally.leave(rule, .mayBePublished, hearing)
    }
    if mayBeKept(packet, source, delivery, event) {
      return tally.leave(rule, .mayBeKept, hearing)
    }
    if packet.qos > source.qos {
      guard isPrompt(source, event), !mayBeOfUnseen(packet, source, delivery) else {
        return tally.leave(.grantedQoSIsKept, .publishersUnseen, hearing)
      }
      return add(
        .grantedQoSIsKept, delivery, event, hearing, &tally,
        FindingText(
          "the server delivered a message at a higher QoS than it was published with in frame "
            + "\(source.first.frame)",
          expected: "QoS \(source.qos)", actual: "QoS \(packet.qos)",
          evidence: source.evidence + delivery.matching.evidence))
    }
    // Filters of several groups, or of none besides, are one in the list.
    guard isEstablished(delivery, source), !delivery.matching.isShared else {
      return tally.leave(rule, .subscriptionMayBeNewer, hearing)
    }
    // A filter had a higher one once, for which an older message of an unseen publisher may be on its way.
    guard packet.qos <= expected else { return tally.leave(rule, .subscriptionMayBeNewer, hearing) }
    if packet.qos == expected {
      // Neither would have come at this QoS if a subscription stood as it had been before.
      let isOther =
        packet.qos < min(source.qos, delivery.matching.highestQoS)
        || packet.qos > delivery.matching.formerQoS
      if delivery.matching.count == 1, delivery.matching.wereThere, isOther {
        tally.satisfy(.subscriptionIsReplaced, hearing)
      }
      return tally.satisfy(rule, hearing)
    }
    if let reason = doubt(ofLower: packet, rule, source, delivery, event, state) {
      return tally.leave(rule, reason, hearing)
    }
    add(
      rule, delivery, event, hearing,
      // That copy may wait for its turn where one at QoS 0 of somebody who says the same state does not.
      isTakenBack: delivery.matching.count > 1 || mayBeSaid(packet), copyQoS: expected,
      needsAnother: source.isWill, &tally,
      FindingText(
        "the server delivered the message of frame \(source.first.frame) at a lower QoS than it was "
          + "published with and granted",
        expected: "QoS \(expected)", actual: "QoS \(packet.qos)",
        evidence: source.evidence + delivery.matching.evidence))
  }

  /// Why a copy at a lower QoS than the message should have need not be all that the server sent of it.
  private func doubt(
    ofLower packet: borrowing MQTTPacketView, _ rule: MQTTRule, _ source: Publication,
    _ delivery: borrowing Delivery, _ event: borrowing EventView, _ state: borrowing ConnectionState
  ) -> UndecidedReason? {
    if packet.dup { return .repeatedMessage }
    if state.mayHaveAskedElsewhere(delivery.matching) { return .connectionsUnseen }
    guard isPrompt(source, event) else { return .publishersUnseen }
    // By those that are No Local the client gets none of its own, whatever their QoS.
    if delivery.matching.isPartlyDeaf, source.connection == event.context.connection {
      return .subscriptionMayBeNewer
    }
    if mayBeForRemoved(source, delivery) { return .onItsWay }
    // For the QoS that a filter had once an older message of an unseen publisher may be on its way.
    if packet.qos >= delivery.matching.formerQoS { return .subscriptionMayBeNewer }
    guard delivery.matching.count > 1 else { return nil }
    // There is a copy for each filter, one of which came at the QoS that it should have.
    if pending.isSettled(rule, on: event.context.connection, key: delivery.key) {
      return .ambiguousMessage
    }
    // That copy waits for its turn where one at QoS 0 does not, and may be given up while it waits.
    guard state.exchanges.fromServer.wasIdle(before: source.first.time) else {
      return .queueMayBeFull
    }
    return state.terms?.value.client.hasPacketSize == true ? .serverPolicy : nil
  }

  /// Judges a message that its receiver has published itself.
  mutating func judgeNoLocal(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard hearing.version == .v5_0, delivery.matching.count > 0, delivery.matching.isDeaf else {
      return
    }
    let rule = MQTTRule.noLocalIsKept
    guard source.isSingle else {
      return tally.leave(rule, .ambiguousMessage, hearing)
    }
    if mayBeKept(packet, source, delivery, event) { return tally.leave(rule, .mayBeKept, hearing) }
    guard source.connection == event.context.connection else {
      return tally.satisfy(rule, hearing)
    }
    guard isPrompt(source, event), source.forwarded.mayBecome(Forwarded(packet)) else {
      return tally.leave(rule, .publishersUnseen, hearing)
    }
    guard isEstablished(delivery, source) else {
      return tally.leave(rule, .subscriptionMayBeNewer, hearing)
    }
    guard !mayBeForRemoved(source, delivery) else { return tally.leave(rule, .onItsWay, hearing) }
    // A state is said by one after the other.
    guard !mayBeSaid(packet) || source.forwarded.isSome else {
      return tally.leave(rule, .publishersUnseen, hearing)
    }
    add(
      rule, delivery, event, hearing, needsAnother: true, &tally,
      FindingText(
        "the server sent a client the message that it had published in frame "
          + "\(source.first.frame), though its subscription is No Local",
        expected: "no message of the client's own", actual: "its own message",
        evidence: source.evidence + delivery.matching.evidence))
  }

  /// Judges a message that no filter matches any more.
  mutating func judgeUnsubscribed(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let removed = delivery.matching.removed else { return }
    guard delivery.matching.count == 0 else {
      // Another filter matches, which an UNSUBSCRIBE of this one leaves alone.
      let isOfOther = source.isSingle && isSurely(source.first.time, after: removed.since)
      if isOfOther, !packet.retain { tally.satisfy(.unsubscribedIsExact, hearing) }
      return
    }
    guard !delivery.matching.hasDoubtfulRemoval else { return }
    let doubt: UndecidedReason? =
      if !source.isSingle {
        .ambiguousMessage
      } else if mayBeKept(packet, source, delivery, event) {
        .mayBeKept
      } else {
        isSurely(source.first.time, after: removed.since) ? nil : .onItsWay
      }
    for rule in Self.rulesOfRemoval {
      if let doubt {
        tally.leave(rule, doubt, hearing)
        continue
      }
      // What was published before the UNSUBACK may come soon behind it, be it of somebody who is not in the capture.
      let isSoon =
        event.context.time.nanoseconds(since: Timestamp(nanoseconds: removed.since)) <= Self.settled
      add(
        rule, delivery, event, hearing, needsAnother: isSoon, &tally,
        FindingText(
          "the server sent a message that was published in frame \(source.first.frame), after the "
            + "client had been unsubscribed in frame \(removed.frame)",
          expected: "no message behind the UNSUBACK that was published behind it",
          actual: "PUBLISH",
          evidence: source.evidence + [
            Finding.Evidence(
              frame: removed.frame, connection: removed.connection,
              role: "UNSUBACK of the filter that matches")
          ]))
    }
  }

  /// The clauses by which nothing more comes for a filter that was removed.
  private static let rulesOfRemoval: [MQTTRule] = [.unsubscribedGetsNothing, .unsubscribedIsExact]

  /// Counts the filters that were removed and for which nothing came any more.
  func closeUnsubscribed(
    _ connection: Int, _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard state.routesAreKnown, let last = state.server.lastTime,
      !pending.contains(.unsubscribedGetsNothing, on: connection, hearing)
    else { return }
    let removed = state.subscribing.subscriptions.removed
    guard removed.count > 0, last.nanoseconds > removed.since else { return }
    for rule in Self.rulesOfRemoval { tally.satisfy(rule, hearing) }
  }

  /// Leaves open at the end of a connection the copies at a lower QoS than there should be besides, where those may have
  /// waited for their turn behind a message that nobody acknowledged any more.
  mutating func closeCopies(
    _ connection: Int, _ state: borrowing ConnectionState, _ tally: inout Tally
  ) {
    guard let open = state.exchanges.fromServer.entries.first?.value.moment.time else { return }
    let since = Timestamp(nanoseconds: open.nanoseconds.addingSaturating(-Self.settled))
    for entry in pending.removeCopies(on: connection, from: since) {
      tally.leave(entry.rule, .queueMayBeFull, entry.hearing, at: Moment(entry.event.context))
    }
  }

  /// Whether a message that is not as it was published may be that of somebody who is not in the capture and says the same.
  ///
  /// One says a state after the other, and what has QoS 0 need not come at all. A service may say what a will says. What a
  /// group shares another one of it may have got. And what has other properties is another message.
  private func mayBeOfUnseen(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery
  ) -> Bool {
    guard !hasOwnMessages else { return false }
    return mayBeSaid(packet) || source.isWill || delivery.matching.isShared
      || !source.forwarded.mayBecome(Forwarded(packet))
  }

  /// Whether somebody who is not in the capture may well say the same: a state, and so few bytes.
  func mayBeSaid(_ packet: borrowing MQTTPacketView) -> Bool {
    !hasOwnMessages && packet.payload.byteCount < Self.leastOwn
  }

  /// The bytes of a payload that others hardly say as well.
  private static let leastOwn = 16

  // MARK: What the rules have in common

  /// Within how long a message comes that nothing holds up, in nanoseconds.
  static let prompt: Int64 = 10_000_000_000
  /// How long before a SUBSCRIBE a message must have been published to be one of before, in nanoseconds: a server may
  /// read what one client sent later than what another sent behind it.
  static let settled: Int64 = 1_000_000_000
  /// How long before it must have been published to have come to the server before, be it sent again by TCP.
  static let longAgo: Int64 = 60_000_000_000

  /// Whether all subscriptions that match were there when the message came, and were not asked for again since.
  func isEstablished(_ delivery: borrowing Delivery, _ source: Publication) -> Bool {
    delivery.matching.isCertain
      && isSurely(source.first.time, after: delivery.matching.since)
      && isSurely(source.first.time, after: delivery.matching.requested)
  }

  /// Whether a message came soon behind its publication: later it may be that of somebody who is not in the capture and
  /// says the same.
  func isPrompt(_ source: Publication, _ event: borrowing EventView) -> Bool {
    event.context.time.nanoseconds(since: source.last) <= Self.prompt
  }

  /// Whether a message may be one that the server kept from before, and not that of the publication which has the same
  /// topic and payload: what tells a state is said again and again.
  func mayBeKept(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView
  ) -> Bool {
    guard packet.retain else { return false }
    // What was asked for by a filter that is removed may still come.
    guard delivery.matching.count > 0, delivery.matching.removed == nil else { return true }
    guard !delivery.matching.neverSends else { return false }
    let requested = Timestamp(nanoseconds: delivery.matching.requested)
    // By then it had taken the place of what was kept.
    if source.retain, requested.nanoseconds(since: source.last) > Self.settled { return false }
    // Others come with RETAIN only where that is passed on as it was published.
    guard source.retain, delivery.matching.somePublished else { return true }
    return event.context.time.nanoseconds(since: requested) <= Self.longAgo
  }

  /// Whether somebody who is not in the capture may have said the same once more: what was published before the client
  /// asked for it comes with RETAIN, if at all.
  func isOfAnother(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery
  ) -> Bool {
    guard !packet.retain, delivery.matching.count > 0, delivery.matching.removed == nil else {
      return false
    }
    let last = source.last.nanoseconds
    return last < delivery.matching.firstRequested
      || !delivery.matching.wereThere && last < delivery.matching.requested
  }

  /// Whether a message may be the copy for a filter that was removed, which had options of its own.
  func mayBeForRemoved(_ source: Publication, _ delivery: borrowing Delivery) -> Bool {
    guard let removed = delivery.matching.removed else { return false }
    return delivery.matching.hasDoubtfulRemoval
      || !isSurely(source.first.time, after: removed.since)
  }

  /// Keeps a violation until the file ends: a publisher that is not in it would explain it.
  mutating func add(
    _ rule: MQTTRule, _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ hearing: Hearing,
    isTakenBack: Bool = false, copyQoS: UInt8 = 0, needsAnother: Bool = false,
    needsLater: Bool = false, _ tally: inout Tally, _ text: FindingText
  ) {
    pending.add(
      rule, event, hearing, key: delivery.key, server: delivery.server, isTakenBack: isTakenBack,
      copyQoS: copyQoS, needsAnother: needsAnother, needsLater: needsLater, &tally, text)
  }
}

extension Publication {
  /// The packet that published it.
  var evidence: [Finding.Evidence] {
    [
      Finding.Evidence(
        frame: first.frame, connection: connection,
        role: (isWill ? "will with QoS \(qos)" : "published with QoS \(qos)")
          + (retain ? " and RETAIN" : ""))
    ]
  }
}

extension ConnectionState {
  /// Whether the client may have asked for one of the filters that match once more on a connection that is not in the
  /// capture, between this one and that of which the session is.
  fileprivate func mayHaveAskedElsewhere(_ matching: borrowing Matching) -> Bool {
    guard isContinued, let connack = opening.connack else { return false }
    return matching.earliest <= connack.moment.time.nanoseconds
  }

  /// Why not all subscriptions of the client are known.
  var doubtOfSubscriptions: UndecidedReason {
    if let loss = lossReason(of: .client) { return loss }
    if opening.connect == nil { return .connectNotSeen }
    if isNewSession != true, !isContinued { return .sessionResumed }
    if subscribing.subscriptions.hasFaultyRequest { return .faultyRequest }
    return subscribing.subscriptions.isOverfull ? .tooMany : .extensionFilter
  }
}
