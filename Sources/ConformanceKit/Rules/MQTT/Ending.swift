internal import RepriseCore
internal import Wire

/// What is known of the end of a connection.
struct EndingState {
  var client = Farewell()
  /// Only a server of 5.0 says one.
  var server = Farewell()
  /// Whether the client began to authenticate again, and no AUTH of the server has ended that (5.0).
  var isReauthenticating = false

  /// Whether the server said that its client had come elsewhere.
  var isTakenOver: Bool { server.disconnect != nil && server.code == 0x8E }

  subscript(peer: Peer) -> Farewell {
    get { peer == .client ? client : server }
    set {
      if peer == .client { client = newValue } else { server = newValue }
    }
  }
}

/// The DISCONNECT of one side.
struct Farewell {
  var disconnect: Moment?
  /// Its code; 0 in versions without.
  var code: UInt8 = 0
  /// Whether a packet of the side came behind it.
  var hasGoneOn = false
  /// Whether it came while the client authenticated again.
  var endsReauthentication = false
  /// Whether it sets a Session Expiry Interval where that of the CONNECT was 0.
  var raisesExpiry = false

  /// The clauses that ask for the close behind it.
  var rules: [MQTTRule] {
    guard code >= 0x80 else { return [.closesAfterDisconnect] }
    return [.closesAfterDisconnect, .failureCloses]
      + (endsReauthentication ? [.failedReauthenticationCloses] : [])
  }
}

/// A bad packet whose receiver must close the connection.
struct Offence {
  /// The rules that ask for it.
  var rules: [RuleIndex]
  /// The rules about errors that the receiver need not look for: they are kept by its close, and never violated.
  var lenient: [RuleIndex]
  var moment: Moment
  var sender: Peer
  var type: MQTTPacketType
  /// The answers to it and to what its sender sent behind it.
  var answers = AwaitedAnswers()
  /// Whether the receiver sent something more than 30 s later, which may have been on its way.
  var isLivedThrough = false
  /// Whether the next CONNACK answers an earlier CONNECT.
  var awaitsConnack = false
}

// DISCONNECT (section 3.14), and what a bad packet must lead to.
extension ConnectionState {
  mutating func disconnects(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard ending[context.sender].disconnect == nil else { return }
    ending[context.sender].disconnect = Moment(context)
    ending[context.sender].code = packet.reasonCode ?? 0
    ending[context.sender].endsReauthentication = ending.isReauthenticating
    if context.sender == .client, is5 { noteExpiry(of: packet) }
  }

  /// Judges the Session Expiry Interval of the client's DISCONNECT (5.0 section 3.14.2.2.2).
  mutating func judgeExpiry(
    of disconnect: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard is5, ending.client.disconnect == nil,
      disconnect.propertySet.contains(.sessionExpiryInterval)
    else { return }
    let rule = MQTTRule.expiryStaysZero
    guard let connect = opening.connect else {
      return tally.leave(rule, .connectNotSeen, hearing)
    }
    guard hasPings, let before = connect.sessionExpiry,
      let after = disconnect.number(.sessionExpiryInterval, orElse: 0)
    else { return tally.leave(rule, .unreadableProperty, hearing) }
    // The server may have set another one.
    let mayHaveSet =
      opening.connack.map { $0.sessionExpiry != nil || !$0.isRead }
      ?? (lossReason(of: .server) != nil)
    guard !mayHaveSet else {
      return tally.leave(rule, .expiryNotKnown, hearing)
    }
    guard before == 0, after > 0 else { return tally.satisfy(rule, hearing) }
    ending.client.raisesExpiry = true
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the client's DISCONNECT sets a Session Expiry Interval, though that of its CONNECT was 0",
        expected: "0, or none", actual: "\(after) s"))
  }

  /// Looks at a packet that a side sends behind its DISCONNECT.
  mutating func judgeAfterDisconnect(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let sender = event.context.sender
    guard let disconnect = ending[sender].disconnect else { return }
    ending[sender].hasGoneOn = true
    let name = packet.type.name
    tally.violate(
      .nothingAfterDisconnect, event, hearing,
      FindingText(
        "the \(sender.rawValue) sent \(name) after its DISCONNECT of frame \(disconnect.frame)",
        expected: "nothing after DISCONNECT", actual: packet.seen,
        evidence: hearing.evidence(disconnect, "DISCONNECT")))
  }

  /// Judges what the sides did after their DISCONNECTs when the connection is over.
  func closeDisconnect(
    _ close: Closing, isDirect: Bool, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    for peer in Peer.allCases {
      guard let disconnect = ending[peer].disconnect else { continue }
      let hearing = hearing.of(peer)
      let closes = ending[peer].rules
      let rules = closes + [.nothingAfterDisconnect]
      guard close.how != .endOfCapture, !self[peer].isDeaf else {
        let reason: UndecidedReason = self[peer].isDeaf ? .gap(of: peer) : .endOfCapture
        for rule in rules { tally.leave(rule, reason, hearing) }
        continue
      }
      if !ending[peer].hasGoneOn { tally.satisfy(.nothingAfterDisconnect, hearing) }
      for rule in closes {
        judgeClose(
          rule, by: peer, after: disconnect, close, isDirect: isDirect, event, hearing, &tally)
      }
    }
  }

  /// Judges whether a side closed the connection behind its DISCONNECT.
  private func judgeClose(
    _ rule: MQTTRule, by peer: Peer, after disconnect: Moment, _ close: Closing, isDirect: Bool,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let isPrompt = close.time.nanoseconds(since: disconnect.time) <= Self.patience
    if close.first == peer {
      if isPrompt { return tally.satisfy(rule, hearing) }
      return tally.leave(rule, .closedLate(peer), hearing)
    }
    // A client that gets a DISCONNECT of a server should close as well.
    guard !isPrompt else { return tally.leave(rule, .closedFirst(close.first), hearing) }
    guard !clocks.differ else { return tally.leave(rule, clocks.doubt, hearing) }
    guard close.showsLateness(of: peer, since: disconnect.time) else {
      return tally.leave(rule, .endCapturedLate, hearing)
    }
    // One whose FIN got lost is gone, and does not close once more; in the place of a client a proxy does.
    guard close.isAnswered, close.how != .reset, peer == .server || isDirect else {
      return tally.leave(rule, peer == .client ? .clientMayBeGone : .serverMayBeGone, hearing)
    }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the \(peer.rawValue) left the connection open for more than 30 s after its DISCONNECT of "
          + "frame \(disconnect.frame), until the \(close.first.rawValue) closed it",
        expected: "the \(peer.rawValue) closes after DISCONNECT",
        actual: "open for \(close.time.seconds(since: disconnect.time))",
        evidence: hearing.evidence(disconnect, "DISCONNECT")))
  }

  // MARK: Receivers of bad packets

  /// Notes a bad packet whose receiver must close the connection.
  /// - Parameters:
  ///   - packet: The packet.
  ///   - context: Its place.
  ///   - rules: The rules that ask for the close.
  ///   - lenient: Those about errors that the receiver need not look for.
  ///   - awaitsConnack: Whether the next CONNACK answers an earlier CONNECT.
  ///   - answer: The answer that is due to it.
  mutating func offend(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, rules: [RuleIndex],
    lenient: [RuleIndex], awaitsConnack: Bool, answer: AwaitedAnswer?
  ) {
    var offence = Offence(
      rules: rules, lenient: lenient, moment: Moment(context), sender: context.sender,
      type: packet.type,
      awaitsConnack: awaitsConnack)
    offence.answers.add(answer)
    ownRare.offence = offence
  }

  /// Looks what a packet says of the bad one that came before it.
  mutating func followOffence(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    judgeReceiver(packet, event, hearing, &tally)
    let sender = event.context.sender
    guard rare?.value.offence?.sender == sender else { return }
    let later = awaitedAnswer(to: packet, from: sender)
    ownRare.offence?.add(later, sentAt: event.context.time)
  }

  /// Looks whether the receiver of a bad packet goes on.
  mutating func judgeReceiver(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard var offence = rare?.value.offence, event.context.sender != offence.sender else { return }
    // The answer to the first of two CONNECTs says nothing of the second.
    if packet.type == .connack, offence.awaitsConnack {
      ownRare.offence?.awaitsConnack = false
      return
    }
    guard offence.isAccepted(by: packet) else {
      let isLate = event.context.time.isLate(since: offence.moment.time)
      if isLate { offence.isLivedThrough = true }
      ownRare.offence = offence
      return
    }
    ownRare.offence = nil
    offence.leaveLenient(hearing, &tally)
    let receiver = offence.sender.other.rawValue
    let wait = event.context.time.seconds(since: offence.moment.time)
    for rule in offence.rules {
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the \(receiver) goes on after the bad \(offence.type.name) of frame "
            + "\(offence.moment.frame) that the \(offence.sender.rawValue) sent",
          expected: "the \(receiver) closes the connection", actual: "\(packet.seen) after \(wait)")
      )
    }
  }

  /// Judges the receiver of a bad packet when the connection is over.
  mutating func closeOffence(_ close: Closing, _ hearing: Hearing, _ tally: inout Tally) {
    guard let offence = rare?.value.offence else { return }
    ownRare.offence = nil
    let hearing = hearing.of(offence.sender.other)
    let doubt = close.doubt(afterFaultOf: offence.sender, isLate: offence.isLivedThrough)
    for rule in offence.rules + offence.lenient {
      if let doubt {
        tally.leave(rule, doubt, hearing, at: offence.moment)
      } else {
        tally.satisfy(rule, hearing)
      }
    }
  }
}

extension Offence {
  /// Takes note of the answer to a packet that came behind the bad one.
  mutating func add(_ answer: AwaitedAnswer?, sentAt time: Timestamp) {
    guard time.isBehindLeniency(since: moment.time) else { return }
    answers.add(answer)
  }

  /// Leaves open the clauses by which the receiver need not have closed.
  func leaveLenient(_ hearing: Hearing, _ tally: inout Tally) {
    for rule in lenient {
      // By another specification it may go on.
      let isName = type == .connect && hearing.version == .v3_1_1
      tally.leave(rule, isName ? .versionMayBeKnown : .needNotCheck, hearing, at: moment)
    }
  }

  /// Takes a packet of the receiver; true when it shows that it took the bad one for good, or lives on.
  mutating func isAccepted(by packet: borrowing MQTTPacketView) -> Bool {
    if type == .connect, packet.type == .connack { return packet.reasonCode == 0 }
    return answers.take(packet)
  }
}
