internal import RepriseCore
internal import Wire

// What a server passes on unaltered: sections 3.3.2.3.2 to 3.3.2.3.9 of 5.0.
extension BrokerJudge {
  private static let rules: [MQTTRule] = [
    .formatIsForwarded, .responseTopicIsForwarded, .correlationIsForwarded,
    .userPropertiesAreForwarded,
    .userPropertiesKeepOrder, .contentTypeIsForwarded, .expiryIsCountedDown,
  ]

  /// Compares the properties of a message with those that it was published with.
  mutating func judgeForwarding(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ source: Publication,
    _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard hearing.version == .v5_0 else { return }
    let received = Forwarded(packet)
    if case .nothing = source.forwarded, case .nothing = received { return }
    let isOther =
      mayBeKept(packet, source, delivery, event) || isOfAnother(packet, source, delivery)
      || packet.retain && !isLast(topic, delivery)
    // What a group shares another one of it may have got, and this one the same of somebody who is not in the capture.
    let isUnseen = delivery.matching.isShared && !hasOwnMessages
    // A session that is older than the capture may have had the same message waiting for it.
    guard source.isAgreed, !isOther, !isUnseen, !state.hasOlderSession,
      let sent = source.forwarded.value,
      let got = received.value
    else {
      if !source.forwarded.isSome { return }
      for rule in Self.rules {
        tally.leave(
          rule,
          isOther
            ? .mayBeKept
            : isUnseen
              ? .publishersUnseen
              : state.hasOlderSession ? .earlierSessionNotSeen : .ambiguousMessage,
          hearing)
      }
      return
    }
    // What has something of its own, or a word that others say and nothing that was sent with it, may be of somebody who
    // is not in the capture.
    let isForeign =
      !hasOwnMessages
      && (got.hasMore(than: sent) || mayBeSaid(packet) && !got.sharesAny(with: sent))
    compare(
      .formatIsForwarded, sent.format, got.format, "Payload Format Indicator", source, isForeign,
      delivery, event, hearing, &tally)
    compare(
      .contentTypeIsForwarded, sent.contentType, got.contentType, "Content Type", source, isForeign,
      delivery, event, hearing, &tally)
    compare(
      .responseTopicIsForwarded, sent.responseTopic, got.responseTopic, "Response Topic", source,
      isForeign,
      delivery, event, hearing, &tally)
    compare(
      .correlationIsForwarded, sent.correlation, got.correlation, "Correlation Data", source,
      isForeign,
      delivery, event, hearing, &tally)
    judgeUsers(sent.users, got.users, source, isForeign, delivery, event, hearing, &tally)
    judgeExpiry(
      sent.expiry, got.expiry, packet, source, delivery, event, state, hearing, &tally)
  }

  /// Whether a message is known to be the last one with RETAIN of its topic: somebody who is not in the capture may have
  /// said the same behind it.
  private func isLast(_ topic: RawSpan, _ delivery: borrowing Delivery) -> Bool {
    if hasOwnMessages { return true }
    guard let kept = retained[ContentHash.of(topic, in: delivery.server)] else { return false }
    return kept.key == delivery.key && kept.watcher != 0 && retained.isWatched(kept)
  }

  /// Compares one property; 0 is none.
  private mutating func compare(
    _ rule: MQTTRule, _ sent: UInt64, _ got: UInt64, _ name: String, _ source: Publication,
    _ isForeign: Bool, _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    // What the server adds of its own alters nothing that was published.
    guard sent != 0 else { return }
    guard sent != got else { return tally.satisfy(rule, hearing) }
    guard !isForeign else { return tally.leave(rule, .publishersUnseen, hearing) }
    add(
      rule, delivery, event, hearing, &tally,
      FindingText(
        "the server altered the \(name) of the message of frame \(source.first.frame)",
        expected: "the \(name) as it was published", actual: got == 0 ? "none" : "another one",
        evidence: source.evidence))
  }

  // MARK: User Properties

  private mutating func judgeUsers(
    _ sent: [UInt64], _ got: [UInt64], _ source: Publication, _ isForeign: Bool,
    _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard !sent.isEmpty else { return }
    var rest: [UInt64: Int] = [:]
    for user in got { rest[user, default: 0] += 1 }
    var missing = 0
    for user in sent {
      if let count = rest[user], count > 0 { rest[user] = count - 1 } else { missing += 1 }
    }
    guard missing == 0 || !isForeign else {
      return tally.leave(.userPropertiesAreForwarded, .publishersUnseen, hearing)
    }
    guard missing == 0 else {
      return add(
        .userPropertiesAreForwarded, delivery, event, hearing, &tally,
        FindingText(
          "the server did not pass on all User Properties of the message of frame "
            + "\(source.first.frame)",
          expected: "\(sent.count) User Properties as they were published",
          actual: "\(missing) of them missing or altered", evidence: source.evidence))
    }
    tally.satisfy(.userPropertiesAreForwarded, hearing)
    guard sent.count > 1 else { return }
    // What the server adds of its own may stand between them.
    var next = 0
    for user in got where next < sent.count && user == sent[next] { next += 1 }
    guard next < sent.count else { return tally.satisfy(.userPropertiesKeepOrder, hearing) }
    add(
      .userPropertiesKeepOrder, delivery, event, hearing, &tally,
      FindingText(
        "the server passed on the User Properties of the message of frame \(source.first.frame) in "
          + "another order",
        expected: "the order in which they were published", actual: "another one",
        evidence: source.evidence))
  }

  // MARK: Expiry

  /// How much the clocks of server and capture, and what rounds to seconds, may differ.
  private static let tolerance: Int64 = 2
  private static let second: Int64 = 1_000_000_000

  private mutating func judgeExpiry(
    _ sent: UInt32?, _ got: UInt32?, _ packet: borrowing MQTTPacketView, _ source: Publication,
    _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: borrowing ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.expiryIsCountedDown
    guard let sent else { return }
    guard source.isSingle else { return tally.leave(rule, .ambiguousMessage, hearing) }
    guard !packet.dup else { return tally.leave(rule, .repeatedMessage, hearing) }
    // The directions may have been timed by two clocks: a CONNACK tells by how much at most.
    guard let connect = state.opening.connect, let connack = state.opening.connack,
      !state.clocks.differ, connack.moment.time >= connect.moment.time
    else { return tally.leave(rule, state.clocks.doubt, hearing) }
    let skew = connack.moment.time.nanoseconds(since: connect.moment.time)
      .addingSaturating(latencies.lead(from: source.connection, to: state.identity.host))
    let waited = event.context.time.nanoseconds(since: source.first.time)
    // One that was sent again may not have come before, or be the one that came again.
    let waitedAgain = event.context.time.nanoseconds(since: source.read)
    let most = Int64(sent)
    let least = most - waited / Self.second - Self.tolerance
    func highest(_ waited: Int64) -> Int64 {
      most - max(0, waited.addingSaturating(-skew)) / Self.second + Self.tolerance
    }
    if let got, (least...highest(min(waited, waitedAgain))).contains(Int64(got)) {
      return tally.satisfy(rule, hearing)
    }
    // At the client's end of the network it may have waited there: not so what the server sent behind another packet.
    let last = state.server.lastTime ?? connack.moment.time
    let waitedBefore = last.nanoseconds(since: source.read)
    if let got, (least...highest(min(waited, waitedBefore))).contains(Int64(got)) {
      return tally.leave(rule, .delayedOnItsWay, hearing)
    }
    // A client that is not in the capture may have said the same without, be it while the receiver was away.
    guard got != nil || hasOwnMessages || isPrompt(source, event) && waited < most * Self.second
    else { return tally.leave(rule, .publishersUnseen, hearing) }
    violateExpiry(most - waited / Self.second, got, source, delivery, event, hearing, &tally)
  }

  private mutating func violateExpiry(
    _ expected: Int64, _ got: UInt32?, _ source: Publication,
    _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    add(
      .expiryIsCountedDown, delivery, event, hearing, needsAnother: true, &tally,
      FindingText(
        "the server did not count down the Message Expiry Interval of the message of frame "
          + "\(source.first.frame) by the time that it waited",
        expected: "about \(max(0, expected)) s",
        actual: got.map { "\($0) s" } ?? "no Message Expiry Interval", evidence: source.evidence))
  }
}
