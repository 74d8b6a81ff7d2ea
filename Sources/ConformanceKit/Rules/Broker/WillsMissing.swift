internal import RepriseCore
internal import Wire

// Wills that subscribers don't get.
extension BrokerJudge {
  /// Takes note that a client is back: its will is cancelled if the delay is not over (5.0).
  mutating func noteReturn(
    isNext: Bool, from before: Int, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard hearing.version == .v5_0, isNext, let content = wills.last(of: state.identity.client),
      let will = wills[content], will.connection == before, will.holders == 1, will.delay > 0,
      let due = will.due, !will.isHeard, due.hearing.version == .v5_0,
      due.moment.time.nanoseconds(since: due.accepted.time) >= Self.willPause,
      event.context.time.nanoseconds
        < due.time(delay: will.delay).addingSaturating(-Self.willTolerance)
    else { return }
    wills.unheard[content] = nil
    guard let early = will.early, early.moment.time.nanoseconds > due.alive else {
      return wills.change(content) { $0.back = Wills.Sight(event.context) }
    }
    let key = will.key(at: state.identity.endpoint, content)
    pendingOfWills.add(
      .willIsPublished, event, hearing, key: key, server: state.identity.endpoint,
      needsLoneWill: .anyEnd, &tally,
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
    _ event: borrowing EventView, _ state: inout ConnectionState, _ tally: inout Tally
  ) {
    let connection = event.context.connection
    guard let content = wills.last(on: topic), let will = wills[content], !packet.retain,
      !packet.dup, delivery.isKnown, let source = source(of: delivery), !source.isWill,
      !wills.isHeard(content, on: connection)
    else { return }
    if will.dropped == will.holders, let drop = will.drop {
      if !will.dropIsShown, isEstablished(delivery, at: drop.moment.time),
        isSurely(source.first.time, after: drop.moment.time.nanoseconds)
      {
        wills.change(content) { $0.dropIsShown = true }
        if !state.server.hasGap { wills.noteSilence(at: delivery.server) }
        tally.satisfy(.disconnectDropsWill, drop.hearing)
        tally.satisfy(.willIsRemoved, drop.hearing)
      }
      if let later = ended(behind: will, content, drop.hearing),
        later.connection != will.laterIsShown, isEstablished(delivery, at: later.end.time),
        isSurely(source.first.time, after: later.end.time.nanoseconds)
      {
        wills.change(content) { $0.laterIsShown = later.connection }
        if !state.server.hasGap { wills.noteSilence(at: delivery.server) }
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
        > due.time(delay: will.delay).addingSaturating(Self.willTolerance)
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
      source.qos >= will.qos, source.size >= will.size, due.isOfClient, will.delay == 0,
      !will.mayExpire, will.qos > 0,
      delivery.matching.grantedQoS > 0, !delivery.matching.isDeaf, !delivery.matching.isShared,
      source.first.time.nanoseconds(since: due.moment.time) > Self.willPatience
    else { return }
    // A server may give up messages of a client that does not keep up, or for which they are too large.
    // On the connection before the will may have come.
    guard !state.server.hasGap, !state.isContinued,
      state.exchanges.fromServer.wasIdle(before: Timestamp(nanoseconds: due.alive)),
      state.terms?.value.client.hasPacketSize != true
    else { return }
    wills.change(content) { $0.absenceIsShown = true }
    wills.unheard[content] = nil
    pendingOfWills.add(
      .willIsPublished, event, due.hearing, key: will.key(at: delivery.server, content),
      server: delivery.server, isTakenBack: true, &tally,
      FindingText(
        "the server did not publish the will of a client that had ended its connection without "
          + "DISCONNECT\(due.hearing.version == .v5_0 ? " 0x00" : ""): a message of the same client on "
          + "the topic came more than a minute later",
        expected: "the will", actual: "the message of frame \(source.first.frame) without it",
        evidence: due.evidence(will.connection) + source.evidence
          + delivery.matching.evidence))
  }
}
