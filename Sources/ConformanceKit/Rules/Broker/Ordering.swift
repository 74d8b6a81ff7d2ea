internal import RepriseCore
internal import Wire

// The order in which messages are delivered, that each is, and that it is once: sections 4.3.3, 4.5 and 4.6.
extension BrokerJudge {
  /// Judges the place of a message in its line of messages, see ``MessageLines``.
  mutating func judgeOrder(
    _ packet: borrowing MQTTPacketView, _ line: UInt64, _ source: Publication,
    _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    // With one subscription there is one copy; what is retained or sent again is out of the line.
    guard delivery.matching.count == 1, delivery.matching.removed == nil, !packet.retain,
      !packet.dup, source.isSingle,
      source.sequence > 0, isEstablished(delivery, source), !delivery.matching.isShared
    else { return }
    let connection = event.context.connection
    let before = lines.reach(source.sequence, event.context.frame, of: line, by: connection)
    pending.takeBack(.everySubscriberGetsIt, on: connection, key: delivery.key, hearing)
    guard let before else {
      return judgeOnce(packet, false, delivery, source, event, hearing, &tally)
    }
    if source.sequence == before.sequence {
      return judgeOnce(packet, true, delivery, source, event, hearing, &tally)
    }
    judgeOnce(packet, false, delivery, source, event, hearing, &tally)
    if source.sequence > before.sequence {
      for rule in [.orderIsKept, .topicsAreOrdered] as [MQTTRule] { tally.satisfy(rule, hearing) }
      return judgeSkipped(before, delivery, source, event, state, hearing, &tally)
    }
    guard !source.wasRepeated else { return tally.leave(.orderIsKept, .repeatedMessage, hearing) }
    // A server may hand on a message of QoS 2 when it is released (section 4.3.3).
    guard source.qos < 2 || !disordered.contains(source.connection) else {
      return tally.leave(.orderIsKept, .otherAtFault, hearing)
    }
    // A second copy is out of the line: a publisher that is not in the capture may have said the same.
    guard before.hasSeen(source.sequence) == false else {
      return tally.leave(.orderIsKept, .ambiguousMessage, hearing)
    }
    // An administrator may have allowed it for the topic.
    tally.leave(.topicsAreOrdered, .serverPolicy, hearing)
    add(
      .orderIsKept, delivery, event, hearing, &tally,
      FindingText(
        "the server delivered the message of frame \(source.first.frame) behind one of the same "
          + "publisher, topic and QoS that was published later, in frame \(before.frame)",
        expected: "the order of the publisher",
        actual: "message \(source.sequence) behind message \(before.sequence)",
        evidence: source.evidence + [
          Finding.Evidence(
            frame: Int(before.frame), connection: connection,
            role: "the later message, delivered first")
        ]))
  }

  /// Judges how often a message of QoS 2 comes.
  private mutating func judgeOnce(
    _ packet: borrowing MQTTPacketView, _ isSecond: Bool, _ delivery: borrowing Delivery,
    _ source: Publication, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard source.qos == 2, packet.qos == 2, source.wasRepeated else { return }
    guard isSecond else { return tally.satisfy(.repeatIsDeliveredOnce, hearing) }
    guard isPrompt(source, event) else {
      return tally.leave(.repeatIsDeliveredOnce, .publishersUnseen, hearing)
    }
    add(
      .repeatIsDeliveredOnce, delivery, event, hearing, &tally,
      FindingText(
        "the server delivered the message of frame \(source.first.frame) twice, which its publisher "
          + "had sent again",
        expected: "one delivery at QoS 2", actual: "another one", evidence: source.evidence))
  }

  // MARK: Messages that are left out

  /// The most messages that are looked back at.
  private static let mostSkipped = 16

  /// Judges the messages in front of one that were not delivered.
  private mutating func judgeSkipped(
    _ before: MessageLines.Reached, _ delivery: borrowing Delivery, _ source: Publication,
    _ event: borrowing EventView, _ state: borrowing ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rule = MQTTRule.everySubscriberGetsIt
    guard source.qos > 0, delivery.matching.grantedQoS > 0 else { return }
    guard source.sequence > before.sequence + 1 else { return tally.satisfy(rule, hearing) }
    var key = source.before
    for _ in 0..<min(Int(source.sequence - before.sequence) - 1, Self.mostSkipped) {
      guard let skipped = ledger[key], skipped.connection == source.connection else { return }
      judge(skipped, skippedFor: source, delivery, event, state, hearing, &tally)
      key = skipped.before
    }
  }

  private mutating func judge(
    _ skipped: Publication, skippedFor source: Publication, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: borrowing ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rule = MQTTRule.everySubscriberGetsIt
    if isOfAbsence(skipped, event.context.connection, state) {
      tally.leave(.messagesAreKept, .serverPolicy, hearing, at: skipped.first)
    }
    if isTooLarge(skipped, delivery, state) { tally.satisfy(.tooLargeIsDropped, hearing) }
    if isExpired(skipped, delivery, state) { tally.satisfy(.expiredIsDeleted, hearing) }
    if let reason = doubt(
      ofSkipped: skipped, behind: source, delivery, on: event.context.connection, state)
    {
      return tally.leave(rule, reason, hearing, at: skipped.first)
    }
    let text = FindingText(
      "the server left out the message of frame \(skipped.first.frame): one of the same publisher, topic "
        + "and QoS that was published later came, and it did not",
      expected: "every message that the server accepted, to every subscription that matches",
      actual: source.first.frame == skipped.first.frame
        ? "a later one of the same frame without it"
        : "the one of frame \(source.first.frame) without that of frame \(skipped.first.frame)",
      evidence: skipped.evidence + source.evidence
        + delivery.matching.evidence)
    pending.add(
      rule, event, hearing, key: skipped.key, server: delivery.server, isTakenBack: true, &tally,
      text)
  }

  /// Why a message need not have been delivered.
  private func doubt(
    ofSkipped skipped: Publication, behind source: Publication, _ delivery: borrowing Delivery,
    on connection: Int, _ state: borrowing ConnectionState
  ) -> UndecidedReason? {
    guard skipped.isSingle, !skipped.wasRepeated else { return .ambiguousMessage }
    // A server may allow less than it is sent, by size or by RETAIN: by 3.1.1 it has no other answer to what it does not
    // allow than to acknowledge it (section 3.3.5).
    guard skipped.size <= source.size, skipped.retain == source.retain else {
      return .serverPolicy
    }
    guard !skipped.wasRefused else { return .serverPolicy }
    // A server passes on what it has taken.
    guard !skipped.wasLeft else { return .notTaken }
    guard skipped.forwarded.expiry == nil else { return .messageMayExpire }
    guard isEstablished(delivery, skipped) else { return .subscriptionMayBeNewer }
    guard !delivery.matching.isDeaf else { return .serverPolicy }
    if state.server.hasGap { return .serverGap }
    // A server may give up messages of a client that does not keep up.
    guard state.exchanges.fromServer.wasIdle(before: skipped.first.time),
      !lags.wereLate(on: connection, since: skipped.first.time)
    else { return .queueMayBeFull }
    // It may have been too large for the client.
    if state.terms?.value.client.hasPacketSize == true { return .serverPolicy }
    return nil
  }
}
