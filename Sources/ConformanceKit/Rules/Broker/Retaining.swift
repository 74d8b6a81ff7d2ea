internal import RepriseCore
internal import Wire

// Retained messages and the RETAIN flag of what is delivered: section 3.3.1.3.
extension BrokerJudge {
  /// Judges the RETAIN flag of a message that was published while the client was subscribed.
  mutating func judgeRetain(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard delivery.matching.count > 0, !delivery.matching.isShared, source.isSingle else { return }
    guard isEstablished(delivery, source) else {
      return judgeRetained(packet, source, delivery, event, hearing, &tally)
    }
    let rule: MQTTRule
    let expected: Bool
    if !delivery.matching.somePublished {
      (rule, expected) = (.liveIsNotRetained, false)
    } else if delivery.matching.allPublished {
      (rule, expected) = (.retainIsAsPublished, source.retain)
    } else {
      return
    }
    // Of a will another clause says the same.
    let ofWill: MQTTRule? =
      !source.isWill || !delivery.matching.allPublished
      ? nil : source.retain ? .retainedWillIsRetained : .plainWillStaysPlain
    guard packet.retain != expected else {
      if let ofWill {
        tally.satisfy(ofWill, hearing)
        pending.settle(ofWill, on: event.context.connection, key: delivery.key, hearing)
      }
      // One that was retained before, be it before the capture, may come beside it.
      pending.settle(rule, on: event.context.connection, key: delivery.key, hearing)
      return tally.satisfy(rule, hearing)
    }
    // A copy that was retained before may come beside it.
    guard !pending.isSettled(rule, on: event.context.connection, key: delivery.key) else {
      return tally.leave(rule, .ambiguousMessage, hearing)
    }
    if mayBeForRemoved(source, delivery) { return tally.leave(rule, .onItsWay, hearing) }
    // Of its own message a client gets no other copy where it wants none (No Local).
    if packet.retain, delivery.matching.isDeaf, source.connection == event.context.connection {
      return tally.leave(rule, .mayBeKept, hearing)
    }
    if let doubt = doubt(ofFlag: packet, source, delivery, event) {
      for rule in [rule, ofWill].compactMap({ $0 }) { tally.leave(rule, doubt, hearing) }
      return
    }
    // The other copy waits for its turn above QoS 0, and may be given up while it waits.
    if packet.retain, min(source.qos, delivery.matching.grantedQoS) > 0,
      mayBeKept(packet, source, delivery, event),
      !state.exchanges.fromServer.wasIdle(before: source.first.time)
    {
      return tally.leave(rule, .queueMayBeFull, hearing)
    }
    for rule in [rule, ofWill].compactMap({ $0 }) {
      add(
        rule, delivery, event, hearing, isTakenBack: true,
        needsLater: packet.retain && mayBeKept(packet, source, delivery, event), &tally,
        FindingText(
          "the server delivered the message of frame \(source.first.frame) to a subscription that was "
            + "there before with RETAIN \(packet.retain ? 1 : 0)",
          expected: "RETAIN \(expected ? 1 : 0)", actual: "RETAIN \(packet.retain ? 1 : 0)",
          evidence: source.evidence + delivery.matching.evidence))
    }
  }

  /// Why a message whose RETAIN is not that of a live one need be none.
  private func doubt(
    ofFlag packet: borrowing MQTTPacketView, _ source: Publication,
    _ delivery: borrowing Delivery, _ event: borrowing EventView
  ) -> UndecidedReason? {
    // What is retained may be read a moment behind the SUBSCRIBE, and by then be what was published meanwhile.
    let asked = Timestamp(nanoseconds: delivery.matching.requested)
    if packet.retain, source.retain, !isDriven, !delivery.matching.neverSends,
      event.context.time.nanoseconds(since: asked) <= Self.readLate
    {
      return .mayBeKept
    }
    // The copy may have been dropped, and this be the same state said by somebody who is not in the capture.
    return delivery.matching.somePublished && mayBeSaid(packet) ? .publishersUnseen : nil
  }

  /// How long behind a SUBSCRIBE what is retained may be read, in nanoseconds.
  private static let readLate: Int64 = 2_000_000_000

  /// Judges a message that was published before the client asked for it.
  private mutating func judgeRetained(
    _ packet: borrowing MQTTPacketView, _ source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    // When a will was published at the latest is not known.
    guard delivery.matching.count == 1, delivery.matching.isCertain, source.retain, !source.isWill,
      !packet.dup,
      Timestamp(nanoseconds: delivery.matching.requested).nanoseconds(since: source.first.time)
        > Self.settled
    else { return }
    let connection = event.context.connection
    guard !delivery.matching.wereThere else {
      guard packet.retain, !delivery.matching.neverSendsAll,
        pending.isSettled(.newSubscriptionGetsRetained, on: connection, key: delivery.key)
      else { return }
      let rule: MQTTRule =
        hearing.version == .v3_1_1 ? .subscriptionIsReplaced : .retainedComesAgain
      return tally.satisfy(rule, hearing)
    }
    if packet.retain {
      pending.settle(
        .newSubscriptionGetsRetained, on: connection, key: delivery.key, hearing)
      tally.satisfy(.retainedIsMarked, hearing)
      if !delivery.matching.neverSendsAll { tally.satisfy(.newSubscriptionGetsRetained, hearing) }
      return
    }
    // A subscription that wants none gets none, and so no other one in front of it.
    guard !delivery.matching.neverSends,
      !pending.isSettled(.newSubscriptionGetsRetained, on: connection, key: delivery.key),
      !pending.isSettled(.retainedIsMarked, on: connection, key: Self.otherKept),
      wasThere(source, before: Timestamp(nanoseconds: delivery.matching.requested))
    else { return }
    // Later somebody who is not in the capture may have said the same.
    let requested = Timestamp(nanoseconds: delivery.matching.requested)
    guard event.context.time.nanoseconds(since: requested) <= Self.prompt else {
      return tally.leave(.retainedIsMarked, .publishersUnseen, hearing)
    }
    // What was published while another subscription stood may have waited for its turn since (section 3.10.4).
    if source.qos > 0, packet.qos > 0, delivery.matching.wereRemoved {
      return tally.leave(.retainedIsMarked, .onItsWay, hearing)
    }
    add(
      .retainedIsMarked, delivery, event, hearing, &tally,
      FindingText(
        "the server sent the retained message of frame \(source.first.frame), which was published "
          + "before the client subscribed, without RETAIN",
        expected: "RETAIN 1", actual: "RETAIN 0",
        evidence: source.evidence + delivery.matching.evidence))
  }

  /// The key by which is known that a client got another retained message of a topic than the last one that is known.
  static let otherKept: UInt64 = 0

  /// Whether the server had a message before a moment, and handed it on to those that were subscribed by then.
  ///
  /// It may have been lost on its way to the server, which got it later; and a server of several nodes may hand it on
  /// some time after it said that it has it. A server that is driven stands still in between.
  private func wasThere(_ source: borrowing Publication, before moment: Timestamp) -> Bool {
    if isDriven, let taken = source.taken {
      return moment.nanoseconds(since: taken) > Self.settled
    }
    return moment.nanoseconds(since: source.first.time) > Self.longAgo
  }

  /// Judges a retained message by the Retain Handling of the subscriptions (5.0 section 3.8.3.1).
  func judgeRetainHandling(
    _ packet: borrowing MQTTPacketView, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    // A shared subscription is one of its own beside another of the same filter, and has none to begin with.
    guard hearing.version == .v5_0, delivery.matching.count > 0, !delivery.matching.isShared else {
      return
    }
    if delivery.matching.neverSends {
      judgeNever(packet, delivery, event, &state, hearing, &tally)
    } else if delivery.matching.neverSendsAll, packet.retain {
      judgeAgain(packet, delivery, event, &state, hearing, &tally)
    }
  }

  /// Judges a message to subscriptions that want no retained ones.
  private func judgeNever(
    _ packet: borrowing MQTTPacketView, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.handlingSendsNothing
    guard packet.retain else { return tally.satisfy(rule, hearing) }
    guard delivery.isKnown else { return tally.leave(rule, state.doubtOfSubscriptions, hearing) }
    // One that was published meanwhile has the flag for another reason, be it a wrong one.
    guard delivery.isOlder, !delivery.matching.everPublished,
      !packet.dup
    else { return tally.leave(rule, .mayBePublished, hearing) }
    state.ownRare.suspicions.add(
      rule, event, hearing, &tally,
      FindingText(
        "the server sent a retained message to a subscription whose Retain Handling is 2",
        expected: "no retained message", actual: "RETAIN 1",
        evidence: delivery.matching.evidence))
  }

  /// Judges a retained message to a subscription that wants them when it is new.
  private func judgeAgain(
    _ packet: borrowing MQTTPacketView, _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.handlingSendsOnce
    guard delivery.isKnown else { return tally.leave(rule, state.doubtOfSubscriptions, hearing) }
    guard delivery.isOlder, !delivery.matching.everPublished,
      !packet.dup
    else { return tally.leave(rule, .mayBePublished, hearing) }
    let isSecond = state.noteRetained(delivery.key)
    guard let isSecond else { return tally.leave(rule, .tooMany, hearing) }
    guard isSecond, delivery.matching.wereThere else { return tally.satisfy(rule, hearing) }
    // Each of several filters may have its copy, all of them for the SUBSCRIBE before.
    guard delivery.matching.count == 1 else { return tally.leave(rule, .ambiguousMessage, hearing) }
    guard !delivery.matching.mayHaveGone else {
      return tally.leave(rule, .subscriptionMayBeNewer, hearing)
    }
    state.ownRare.suspicions.add(
      rule, event, hearing, &tally,
      FindingText(
        "the server sent a retained message again when the client subscribed again with Retain "
          + "Handling 1",
        expected: "retained messages for a new subscription only", actual: "the same once more",
        evidence: delivery.matching.evidence))
  }
}

extension ConnectionState {
  /// Notes that a retained message came.
  /// - Returns: Whether it came before on the connection; nil where there were too many to tell.
  mutating func noteRetained(_ key: UInt64) -> Bool? {
    guard let told = terms?.value.told else { return nil }
    if told.retainedSeen.contains(key) { return true }
    guard told.retainedSeen.count < ToldMessages.mostRetained else { return nil }
    told.retainedSeen.insert(key)
    return false
  }
}
