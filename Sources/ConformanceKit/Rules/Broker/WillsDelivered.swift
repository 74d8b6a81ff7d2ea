internal import RepriseCore
internal import Wire

// Wills that subscribers get, or a server published though it had to drop them.
extension BrokerJudge {
  /// Judges a message that equals a will.
  mutating func judgeWill(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let publication = publication(of: delivery), let will = wills[content.value], !packet.dup
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
      judgeDropped(packet, will, content, delivery, event, &tally)
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
    if isSecond == true { wills.noteRepeat(at: delivery.server) }
    let isEarly =
      will.delay > 0
      && event.context.time.nanoseconds
        < due.time(delay: will.delay).addingSaturating(-Self.willTolerance)
    wills.unheard[content.value] = nil
    if isEarly {
      // That the session went on shows when it is resumed.
      wills.noteEarly(content.value, event.context)
    } else if !will.isHeard {
      wills.change(content.value) { $0.isHeard = true }
      if !state.server.hasGap {
        wills.noteHeard(on: event.context.connection, at: delivery.server)
      }
      countHeard(due.hearing, &tally)
      judgeUsers(packet, will, due, delivery, event, &tally)
    }
    guard isSecond != false else { return }
    judgeTwice(packet, isSecond, will, due, delivery, event, state, &tally)
  }

  /// Judges the order of the User Properties of a will (5.0 section 3.1.3.2.8).
  private mutating func judgeUsers(
    _ packet: borrowing MQTTPacketView, _ will: Wills.Will, _ due: Wills.Due,
    _ delivery: borrowing Delivery, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    let rule = MQTTRule.willUsersKeepOrder
    guard due.hearing.version == .v5_0, will.users.count > 1, packet.hasProperties else { return }
    guard will.holders == 1, packet.propertySet.isWhole else {
      return tally.leave(rule, .ambiguousMessage, due.hearing, at: Moment(event.context))
    }
    let got = ForwardedProperties.users(of: packet.properties, in: packet.bytes)
    // What the server adds of its own may stand between them.
    var next = 0
    for user in got where next < will.users.count && user == will.users[next] { next += 1 }
    if next == will.users.count { return tally.satisfy(rule, due.hearing) }
    // What is missing is another matter than the order of the rest.
    guard got.sorted() == will.users.sorted() else {
      return tally.leave(rule, .ambiguousMessage, due.hearing, at: Moment(event.context))
    }
    pendingOfWills.add(
      rule, event, due.hearing, key: delivery.key, server: delivery.server, &tally,
      FindingText(
        "the server published a will with its User Properties in another order",
        expected: "the order of the CONNECT", actual: "another one",
        evidence: due.evidence(will.connection) + delivery.matching.evidence))
  }

  /// Judges a will that a client gets whose owners all said goodbye.
  private mutating func judgeDropped(
    _ packet: borrowing MQTTPacketView, _ will: Wills.Will, _ content: ContentHash,
    _ delivery: borrowing Delivery,
    _ event: borrowing EventView,
    _ tally: inout Tally
  ) {
    guard let drop = will.drop else { return }
    let rules: [MQTTRule] = [.disconnectDropsWill, .willIsRemoved]
    let wait = event.context.time.nanoseconds(since: drop.moment.time)
    if wait > Self.willPause, judgeLater(will, drop, content, delivery, event, &tally) { return }
    let doubt: UndecidedReason? =
      if packet.qos != min(will.qos, delivery.matching.grantedQoS) {
        // Another publisher says the same of the client, as a rule of the server may when it leaves.
        .mayBePublished
      } else if !isEstablished(delivery, at: drop.moment.time)
        || !isSurely(event.context.time, after: drop.moment.time.nanoseconds)
      {
        .subscriptionMayBeNewer
      } else if wait > Self.willPause {
        .connectionsUnseen
      } else {
        // A session before may have left the same will, which its end published.
        drop.moment.time.nanoseconds(since: drop.accepted.time) < Self.willPause
          ? .earlierSessionNotSeen : nil
      }
    for rule in rules {
      if let doubt {
        tally.leave(rule, doubt, drop.hearing, at: Moment(event.context))
        continue
      }
      pendingOfWills.add(
        rule, event, drop.hearing, key: delivery.key, server: delivery.server,
        needsLoneWill: .disconnect, &tally,
        FindingText(
          "the server published the will of a client that had sent DISCONNECT in frame "
            + "\(drop.moment.frame)",
          expected: "no will", actual: "the will that it had given",
          evidence: drop.evidence(will.connection)
            + delivery.matching.evidence))
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
      event.context.time.nanoseconds(since: later.end.time) <= Self.willPause,
      later.end.time.nanoseconds(since: later.accepted.time) >= Self.willPause
    else { return false }
    pendingOfWills.add(
      .noFlagNoWill, event, drop.hearing, key: delivery.key, server: delivery.server,
      needsLoneWill: .disconnect, &tally,
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
  func ended(
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
      .returnDropsWill, event, due.hearing, key: delivery.key, server: delivery.server,
      needsLoneWill: .anyEnd, &tally,
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
    var isRepeat = false
    if let id = packet.packetID { isRepeat = state.exchanges.fromServer.open[id] != nil }
    // At QoS 1 a message may come twice; and the first one may be the will of a session before.
    guard isSecond == true, will.early == nil, packet.qos != 1, will.qos != 1, will.holders == 1,
      !isRepeat, delivery.matching.count == 1, !delivery.matching.isShared,
      isEstablished(delivery, at: Timestamp(nanoseconds: due.alive))
    else { return tally.leave(rule, .ambiguousMessage, due.hearing, at: Moment(event.context)) }
    // A client that goes, or another one, may say the same by itself.
    pendingOfWills.add(
      rule, event, due.hearing, key: delivery.key, server: delivery.server, needsAnother: true,
      needsLoneWill: .disconnect, &tally,
      FindingText(
        "the server published a will twice, though its client gave it once",
        expected: "one delivery at QoS \(packet.qos)", actual: "another one",
        evidence: due.evidence(will.connection)
          + delivery.matching.evidence))
  }
}
