internal import RepriseCore
internal import Wire

// PUBACK, PUBREC, PUBREL and PUBCOMP: sections 3.3.4, 3.10.4, 4.5 and 4.6.
extension Exchanges {
  /// Takes an acknowledgement of one of these messages.
  /// - Returns: Whether it has the identifier of one.
  @inline(__always)
  mutating func acknowledge(
    _ packet: borrowing MQTTPacketView, isNewSession: Bool, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) -> Bool {
    guard let id = packet.packetID, let exchange = self[id] else { return false }
    noteWait(since: exchange.moment.time, until: event.context.time)
    if packet.mustKeepIdentifier { tally.satisfy(.acknowledgementsKeepIdentifiers, hearing) }
    switch (packet.type, exchange.phase) {
    case (.puback, .puback):
      let isAlone = open.count == 1
      Self.answer(exchange, .pubacksInOrder, after: &lastPuback, isAlone, event, hearing, &tally)
      if exchange.outlivesUnsubscribe { tally.satisfy(.unsubscribeCompletesDelivery, hearing) }
      end(id)
    case (.pubrec, .pubrec):
      let isAlone = open.count == 1
      Self.answer(exchange, .pubrecsInOrder, after: &lastPubrec, isAlone, event, hearing, &tally)
      // A failure ends it in 5.0, and one whose code is not there may be one.
      if packet.version.rules.hasProperties, packet.reasonCode.map({ $0 >= 0x80 }) ?? true {
        end(id)
      } else {
        receive(exchange, id, event.context)
      }
    case (.puback, .pubrec), (.pubrec, .puback):
      answerWrongly(exchange, id, isNewSession: isNewSession, packet, event, hearing, &tally)
      end(id)
    case (.pubrec, .pubrel), (.pubrec, .pubcomp):
      var repeated = exchange
      repeated.isRepeated = true
      update(repeated, id)
    case (.pubrel, .pubrel): release(exchange, id, event, hearing, &tally)
    case (.pubcomp, let phase):
      if phase == .pubcomp { tally.satisfy(.pubrelIsCompleted, hearing) }
      end(id)
    default: break
    }
    return true
  }

  /// Whether a PUBREL comes behind that of a message which was received later.
  func isLate(releaseOf id: UInt16?) -> Bool {
    guard let exchange = id.flatMap({ self[$0] }), exchange.phase == .pubrel else { return false }
    return exchange.receivedOrder < lastPubrel
  }

  /// Reports the first answer to a message, and whether a client kept the order.
  private static func answer(
    _ exchange: Exchange, _ order: MQTTRule, after last: inout Int, _ isAlone: Bool,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    tally.satisfy(.publishIsAnswered, hearing)
    tally.satisfy(exchange.step, hearing)
    guard event.context.sender == .client else { return }
    tally.satisfy(.clientAnswersPublish, hearing)
    judgeOrder(exchange, order, exchange.order, after: &last, isAlone, event, hearing, &tally)
  }

  private static func judgeOrder(
    _ exchange: Exchange, _ rule: MQTTRule, _ place: Int, after last: inout Int,
    _ isAlone: Bool, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard place < last, exchange.lost == nil else {
      // What was repeated may have come first in an earlier connection, so it sets no order.
      if !exchange.isRepeated, place > last { last = place }
      // With one message open there is no order to keep.
      if !isAlone, exchange.lost == nil { tally.satisfy(rule, hearing) }
      return
    }
    guard !exchange.isRepeated else { return tally.leave(rule, .repeatedMessage, hearing) }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the client acknowledged out of order: a message that came after that of frame "
          + "\(exchange.moment.frame) was acknowledged before it",
        expected: "acknowledgements in the order of frames",
        actual: "message \(place + 1) acknowledged behind message \(last + 1)",
        evidence: hearing.evidence(exchange.moment, "the message that came first")))
  }

  private func answerWrongly(
    _ exchange: Exchange, _ id: UInt16, isNewSession: Bool, _ packet: borrowing MQTTPacketView,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let rules: [MQTTRule] =
      sender == .client
      ? [.publishIsAnswered, exchange.step, .clientAnswersPublish]
      : [.publishIsAnswered, exchange.step]
    let right = exchange.phase == .puback ? "PUBACK" : "PUBREC"
    for rule in rules {
      // In a resumed session it may be the answer to an older message of the same identifier.
      let doubt = id == 0 ? .faultyRequest : exchange.doubt(isNewSession: isNewSession)
      if let doubt {
        tally.leave(rule, doubt, hearing)
        continue
      }
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the \(sender.rawValue) gave PUBLISH \(id) of frame \(exchange.moment.frame) the answer of "
            + "another QoS", expected: "\(right) \(id)", actual: "\(packet.type.name) \(id)",
          evidence: hearing.evidence(exchange.moment, "PUBLISH")))
    }
  }

  private mutating func release(
    _ exchange: Exchange, _ id: UInt16, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    if event.context.sender == .client {
      let isAlone = open.count == 1
      Self.judgeOrder(
        exchange, .pubrelsInOrder, exchange.receivedOrder, after: &lastPubrel, isAlone, event,
        hearing, &tally)
    } else if exchange.outlivesUnsubscribe {
      tally.satisfy(.unsubscribeCompletesDelivery, hearing)
    }
    tally.satisfy(.pubrecIsReleased, hearing)
    var released = exchange
    released.phase = .pubcomp
    released.moment = Moment(event.context)
    update(released, id)
  }
}

extension Exchanges.Exchange {
  /// The rule on the answer that a PUBLISH of its QoS gets.
  fileprivate var step: MQTTRule { qos == 1 ? .qos1IsAnswered : .qos2IsReceived }

  /// Why an answer may belong to another message of the same identifier, or nil.
  func doubt(isNewSession: Bool) -> UndecidedReason? {
    if let lost { return .gap(of: lost) }
    if isRepeated { return .repeatedMessage }
    return isNewSession ? nil : .sessionResumed
  }
}

/// The messages above QoS 0 that are on their way.
struct ExchangingState {
  /// Those that the client sent.
  var fromClient = Exchanges()
  /// Those that the server sent.
  var fromServer = Exchanges()

  /// Takes note that what the messages of a sender take is measured.
  /// - Returns: Whether it may be more than when that was done last.
  @inline(__always)
  mutating func takeGrowth(of sender: Peer) -> Bool {
    sender == .client ? fromClient.takeGrowth() : fromServer.takeGrowth()
  }
}

extension ConnectionState {
  /// Judges an acknowledgement of which no message is open (section 2.2.1; 3.1.1: 2.3.1).
  ///
  /// It is held against its sender only while another message waits for an acknowledgement, whose identifier it
  /// then should have: alone it may be a late one, of a message of an earlier connection.
  mutating func judgeStray(
    acknowledgement packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.acknowledgementsKeepIdentifiers
    guard packet.mustKeepIdentifier, let id = packet.packetID else { return }
    let sender = event.context.sender
    let publisher = packet.type == .pubrel ? sender : sender.other
    if publisher != sender, self[publisher].hasGap || !isFromStart {
      if sender == .client {
        exchanges.fromServer.noteUnknownWait()
      } else {
        exchanges.fromClient.noteUnknownWait()
      }
    }
    defer { if packet.type == .pubrel || packet.type == .pubrec { noteStep(id, publisher) } }
    if let doubt = doubtOfStray(packet, id, from: publisher) {
      return tally.leave(rule, doubt, hearing)
    }
    let text = FindingText(
      "the \(sender.rawValue)'s \(packet.type.name) has identifier \(id), which no message of the "
        + "\(publisher.rawValue) has had",
      expected: "the identifier of a message of the \(publisher.rawValue)",
      actual: "identifier \(id)")
    if sender == .server {
      ownRare.suspicions.add(rule, event, hearing, &tally, id: id, text)
    } else {
      ownRare.suspicionsOfServer.add(rule, event, hearing, &tally, id: id, text)
    }
  }

  /// Notes a PUBREC or PUBREL, to which a PUBREL or PUBCOMP has to come whether there was a message or not (5.0: with
  /// reason code 0x92; sections 3.6.2.1 and 4.3.3).
  private mutating func noteStep(_ id: UInt16, _ publisher: Peer) {
    if publisher == .client {
      exchanges.fromClient.note(use: id)
    } else {
      exchanges.fromServer.note(use: id)
    }
  }

  /// Why an acknowledgement may belong to a message that is not open; nil when there can be none.
  private func doubtOfStray(
    _ packet: borrowing MQTTPacketView, _ id: UInt16, from publisher: Peer
  ) -> UndecidedReason? {
    if let loss = lossReason(of: publisher) { return loss }
    guard !packet.hasFaults, packet.missing == 0 else { return .incompletePacket }
    guard let connect = opening.connect else { return .connectNotSeen }
    // A client that kept its session may go on with it though the server has none.
    guard isNewSession == true, connect.cleanStart || packet.type != .pubrel else {
      return .sessionResumed
    }
    let messages = publisher == .client ? exchanges.fromClient : exchanges.fromServer
    if messages.used.contains(id) { return .answeredBefore }
    if messages.hasUnreadID { return .unreadableProperty }
    // An end that acknowledges when its application is done may do so when it has connected again, and be it that the
    // connection before was not captured: then in front of what it acknowledges of this one (section 4.6).
    let isInFront = !identity.isFirst && messages.lastPuback < 0 && messages.lastPubrec < 0
    if publisher == .server, packet.type != .pubrel, isInFront { return .answersEarlierConnection }
    let mayBeBack = identity.previous != 0 || identity.name == 0
    if packet.type == .pubrel || publisher == .server, mayBeBack {
      return .answersEarlierConnection
    }
    // One whose answer may be missing need not be open.
    let isOpen = messages.entries.contains { $0.value.lost == nil }
    return isOpen ? nil : .answersEarlierConnection
  }

  /// Judges the messages that were never answered.
  func closeExchanges(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    closeAll(exchanges.fromClient, of: .client, close, event, hearing, &tally)
    closeAll(exchanges.fromServer, of: .server, close, event, hearing, &tally)
  }

  private func closeAll(
    _ exchanges: Exchanges, of sender: Peer, _ close: Closing, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    for (id, exchange) in exchanges.entries {
      switch exchange.phase {
      case .puback, .pubrec:
        let last = exchange.phase == .puback ? exchanges.lastPuback : exchanges.lastPubrec
        // A client answers in order, so a later answer shows that this one was left out.
        let isPassed = sender == .server && last > exchange.order && close.how != .endOfCapture
        var absence = absence(since: exchange.moment.time, by: sender.other, at: close)
        if isPassed { absence = .violation }
        let rules: [MQTTRule] =
          sender == .server
          ? [.publishIsAnswered, exchange.step, .clientAnswersPublish]
          : [.publishIsAnswered, exchange.step]
        let answer = exchange.phase == .puback ? "PUBACK" : "PUBREC"
        report(
          exchange, id, absence, by: sender.other, answer,
          self.rules(ofAnswer: rules, to: exchange.moment, by: sender.other), close, event,
          hearing, &tally)
      case .pubrel:
        let absence = absence(since: exchange.moment.time, by: sender, at: close)
        let rules: [MQTTRule] =
          sender == .server && exchange.outlivesUnsubscribe
          ? [.pubrecIsReleased, .unsubscribeCompletesDelivery] : [.pubrecIsReleased]
        report(
          exchange, id, absence, by: sender, "PUBREL", rules, close, event, hearing, &tally)
      case .pubcomp:
        let absence = absence(since: exchange.moment.time, by: sender.other, at: close)
        let rules = rules(
          ofAnswer: rulesOfCompletion(id, sender), to: exchange.moment, by: sender.other)
        report(
          exchange, id, absence, by: sender.other, "PUBCOMP", rules, close, event, hearing,
          &tally)
      }
    }
  }

  private func report(
    _ exchange: Exchanges.Exchange, _ id: UInt16, _ absence: Absence, by answerer: Peer,
    _ answer: String, _ rules: [MQTTRule], _ close: Closing, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let hearing = hearing.of(answerer)
    for rule in rules {
      if let lost = exchange.lost {
        tally.leave(rule, .gap(of: lost), hearing, at: exchange.moment)
        continue
      }
      switch absence {
      case .undecided(let reason): tally.leave(rule, reason, hearing, at: exchange.moment)
      case .violation where exchange.isRepeated:
        tally.leave(rule, .repeatedMessage, hearing, at: exchange.moment)
      case .violation where !sessionEndsHere:
        tally.leave(rule, .sessionGoesOn, hearing, at: exchange.moment)
      case .violation:
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the \(answerer.rawValue) never sent \(answer) \(id) for the packet of frame "
              + "\(exchange.moment.frame), though it went on and the session ended",
            expected: "\(answer) \(id)",
            actual: "none in \(close.time.seconds(since: exchange.moment.time))"))
      }
    }
  }
}

extension MQTTPacketView {
  /// Whether the clause that acknowledgements repeat the identifier of their PUBLISH speaks of it: of PUBCOMP it does
  /// in 5.0 only.
  fileprivate var mustKeepIdentifier: Bool { type != .pubcomp || version.rules.hasProperties }
}
