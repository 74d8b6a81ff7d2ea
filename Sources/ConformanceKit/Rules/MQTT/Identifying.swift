internal import RepriseCore
internal import Wire

// Identifiers in use, and messages that come again: sections 2.2.1 (3.1.1: 2.3.1), 3.3.1.1 and 4.3.
//
// An acknowledgement that its receiver had is captured before what it sends behind it, wherever on the way the capture
// was taken: an identifier that is open where it is used again was open for its sender.
extension ConnectionState {
  /// Judges the identifier and the DUP flag of a PUBLISH above QoS 0, whose content is nil where it is not known.
  mutating func judgeIdentifier(
    _ id: UInt16, of packet: borrowing MQTTPacketView, _ content: ContentHash?,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let prior = sender == .client ? exchanges.fromClient[id] : exchanges.fromServer[id]
    guard let prior else { return judgeFirst(id, packet, event, hearing, &tally) }
    let free = Self.freeIdentifier(of: sender, hearing.version)
    let repeats: RuleIndex = MQTTRule.repeatsHaveDup.index(in: hearing.version)
    if let lost = prior.lost {
      return tally.leave(packet.dup ? repeats : free, .gap(of: lost), hearing)
    }
    guard let content, let first = prior.content else {
      return tally.leave(packet.dup ? repeats : free, .incompletePacket, hearing)
    }
    if content == first, prior.qos == packet.qos {
      judgeRepeat(id, of: prior, packet, event, hearing, &tally)
    } else {
      violateUse(of: id, prior, packet, event, hearing, &tally)
    }
  }

  // MARK: The first time

  private mutating func judgeFirst(
    _ id: UInt16, _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    if sender == .client, let moment = openRequest(id) {
      let rule = Self.freeIdentifier(of: sender, hearing.version)
      guard !mayBeAnswered(request: id) else { return tally.leave(rule, .answeredBefore, hearing) }
      let text = FindingText(
        "the client's PUBLISH has identifier \(id), which the request of frame \(moment.frame) has and "
          + "which was not answered",
        expected: "an identifier that is not in use", actual: "identifier \(id)",
        evidence: hearing.evidence(moment, "the request that has it"))
      return suspect(rule, event, hearing, &tally, text)
    }
    let doubt = doubtOfFirst
    let starts: MQTTRule = packet.qos == 1 ? .qos1TakesFreeIdentifier : .qos2TakesFreeIdentifier
    let free = Self.freeIdentifier(of: sender, hearing.version)
    if let doubt {
      tally.leave(free, doubt, hearing)
      tally.leave(starts, doubt, hearing)
    } else {
      tally.satisfy(free, hearing)
      tally.satisfy(starts, hearing)
    }
    judgeDup(ofFirst: id, packet, doubt, event, hearing, &tally)
  }

  private func judgeDup(
    ofFirst id: UInt16, _ packet: borrowing MQTTPacketView, _ doubt: UndecidedReason?,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let isServer = event.context.sender == .server
    guard packet.dup else {
      if isServer { tally.satisfy(.serverDupIsItsOwn, hearing) }
      return tally.satisfy(Self.beginsWithoutDup(packet.qos), hearing)
    }
    let begins = Self.beginsWithoutDup(packet.qos)
    let rules: [MQTTRule] = isServer ? [.serverDupIsItsOwn, begins] : [begins]
    var doubt = doubt ?? (isServer && isSaidToBeNew ? .sessionMayBeOlder : nil)
    // What another one of the group did not acknowledge is sent again, to this one for the first time (5.0 section 4.8.2).
    if isServer, subscribing.subscriptions.hasShares { doubt = doubt ?? .mayBeRepeat }
    // An application may have sent it in a session before, and the server may not have seen the acknowledgement.
    let isKnown = isServer && !exchanges.fromServer.used.contains(id)
    for rule in rules {
      if let doubt {
        tally.leave(rule, doubt, hearing)
      } else if !isKnown {
        tally.leave(rule, .mayBeRepeat, hearing)
      } else {
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the server sent PUBLISH \(id) with DUP although it is the first of that identifier in a "
              + "session that is new",
            expected: "DUP 0", actual: "DUP 1",
            evidence: opening.connack.map {
              hearing.evidence($0.moment, "CONNACK with Session Present 0")
            } ?? []))
      }
    }
  }

  /// Why more may be open than what was seen on the connection; nil where all was seen.
  private var doubtOfFirst: UndecidedReason? {
    if let loss = lossReason(of: .client) ?? lossReason(of: .server) { return loss }
    guard opening.connect != nil else { return .connectNotSeen }
    if isNewSession == true { return nil }
    return opening.connack == nil ? .connackNotSeen : .sessionResumed
  }

  // MARK: Again

  private mutating func judgeRepeat(
    _ id: UInt16, of prior: Exchanges.Exchange, _ packet: borrowing MQTTPacketView,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    if prior.phase == .pubcomp {
      let rule: MQTTRule =
        hearing.version == .v5_0 ? .nothingAgainBehindPubrel : .qos2TakesFreeIdentifier
      suspect(
        rule.index(in: hearing.version), event, hearing, &tally,
        FindingText(
          "the \(sender.rawValue) sent PUBLISH \(id) again behind its PUBREL of frame "
            + "\(prior.moment.frame)",
          expected: "nothing but PUBREL \(id) before its PUBCOMP", actual: "PUBLISH \(id)"))
      return
    }
    if packet.dup {
      tally.satisfy(.repeatsHaveDup, hearing)
      if sender == .client { tally.satisfy(.clientRepeatsKeepIdentifier, hearing) }
    } else {
      suspect(
        MQTTRule.repeatsHaveDup.index(in: hearing.version), event, hearing, &tally,
        FindingText(
          "the \(sender.rawValue) sent PUBLISH \(id) of frame \(prior.moment.frame) again without "
            + "DUP",
          expected: "DUP 1", actual: "DUP 0", evidence: hearing.evidence(prior.moment, "PUBLISH")))
    }
    guard hearing.version == .v5_0 else { return }
    suspect(
      MQTTRule.repeatsComeWithSession.index(in: hearing.version), event, hearing, &tally,
      FindingText(
        "the \(sender.rawValue) sent PUBLISH \(id) of frame \(prior.moment.frame) again on the same "
          + "connection",
        expected: "a message sent again only when the session is resumed",
        actual: "PUBLISH \(id) again", evidence: hearing.evidence(prior.moment, "PUBLISH")))
  }

  private mutating func violateUse(
    of id: UInt16, _ prior: Exchanges.Exchange, _ packet: borrowing MQTTPacketView,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    // Its PUBREC was captured, but need not have arrived: what the identifier waits for is not known.
    let waiting: MQTTRule? =
      switch prior.phase {
      case .puback: .qos1StaysOpen
      case .pubrec: .qos2StaysOpen
      case .pubrel: nil
      case .pubcomp: .pubrelStaysOpen
      }
    let starts: MQTTRule = packet.qos == 1 ? .qos1TakesFreeIdentifier : .qos2TakesFreeIdentifier
    var rules = [
      Self.freeIdentifier(of: sender, hearing.version), starts.index(in: hearing.version),
    ]
    if sender == .client, hearing.version == .v3_1_1 {
      rules.append(MQTTRule.clientRepeatsKeepIdentifier.index(in: .v3_1_1))
    }
    if hearing.version == .v5_0, let waiting { rules.append(waiting.index(in: .v5_0)) }
    for rule in rules {
      // What opened it may have been sent again before its sender had the acknowledgement: then the identifier is free.
      guard !prior.mayBeAnswered else {
        tally.leave(rule, .answeredBefore, hearing)
        continue
      }
      // It came again, and what it was answered by may have come before anything is known.
      if prior.isRepeated, let doubt = doubtOfFirst {
        tally.leave(rule, doubt, hearing)
        continue
      }
      suspect(
        rule, event, hearing, &tally,
        FindingText(
          "the \(sender.rawValue) gave another message identifier \(id), under which that of frame "
            + "\(prior.moment.frame) is open",
          expected: "an identifier that is not in use", actual: "PUBLISH \(id)"))
    }
  }

  // MARK: Requests

  /// Judges the identifier of a SUBSCRIBE or UNSUBSCRIBE, which may be the open one of that identifier sent again.
  ///
  /// Where bytes of either are missing nobody knows whether it is: that is nil.
  mutating func judgeIdentifier(
    _ id: UInt16, ofRequest isRepeated: Bool?, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rule = Self.freeIdentifier(of: .client, hearing.version)
    var moment = openRequest(id)
    // In 3.1.1 a request may be sent again.
    if moment != nil, hearing.version == .v3_1_1 {
      guard let isRepeated else { return tally.leave(rule, .incompletePacket, hearing) }
      if isRepeated { return tally.satisfy(.clientRepeatsKeepIdentifier, hearing) }
      guard !mayBeAnswered(request: id) else { return tally.leave(rule, .answeredBefore, hearing) }
    }
    if moment == nil, let message = exchanges.fromClient[id] {
      if let lost = message.lost { return tally.leave(rule, .gap(of: lost), hearing) }
      guard !message.mayBeAnswered else { return tally.leave(rule, .answeredBefore, hearing) }
      if message.isRepeated, let doubt = doubtOfFirst { return tally.leave(rule, doubt, hearing) }
      moment = message.moment
    }
    guard let moment else {
      if let doubt = doubtOfFirst { return tally.leave(rule, doubt, hearing) }
      return tally.satisfy(rule, hearing)
    }
    suspect(
      rule, event, hearing, &tally,
      FindingText(
        "the client's request has identifier \(id), under which the packet of frame "
          + "\(moment.frame) is open",
        expected: "an identifier that is not in use", actual: "identifier \(id)"))
  }

  /// When the request of an identifier was sent that has no answer for certain.
  private func openRequest(_ id: UInt16) -> Moment? {
    if let request = subscribing.open[id] {
      return requests.isLost(request.order) ? nil : request.moment
    }
    if let request = unsubscribing.open[id] {
      return requests.isLost(request.order) ? nil : request.moment
    }
    return nil
  }

  /// Whether the open request of an identifier may be one that was answered, sent again before its sender had seen
  /// that, which 3.1.1 lets it: then the identifier is free.
  func mayBeAnswered(request id: UInt16) -> Bool {
    if let request = subscribing.open[id] {
      return request.mayBeAnswered || !is5 && requests.isLost(request.order)
    }
    guard let request = unsubscribing.open[id] else { return false }
    return request.mayBeAnswered || !is5 && requests.isLost(request.order)
  }

  // MARK: Clauses

  /// The clause that identifiers in use are not used again.
  private static func freeIdentifier(of sender: Peer, _ version: MQTTVersion) -> RuleIndex {
    guard version == .v5_0 else {
      return
        (sender == .client
        ? MQTTRule.clientTakesFreeIdentifier : .serverTakesFreeIdentifier).index(in: .v3_1_1)
    }
    return sender == .client ? MQTTJudge.identifierOfClient : MQTTJudge.identifierOfServer
  }

  /// The clause of 5.0 that the first PUBLISH of a message of either QoS has no DUP.
  private static func beginsWithoutDup(_ qos: UInt8) -> MQTTRule {
    qos == 1 ? .qos1BeginsWithoutDup : .qos2BeginsWithoutDup
  }
}
