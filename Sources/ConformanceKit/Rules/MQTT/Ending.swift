internal import RepriseCore
internal import Wire

/// What is known of the end of a connection.
struct EndingState {
  var disconnect: Moment?
  /// Whether a packet of the client came behind its DISCONNECT.
  var sentAfterDisconnect = false
}

/// A bad packet whose receiver must close the connection.
struct Offence {
  /// The rules that ask for it.
  var rules: [RuleIndex]
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
  mutating func clientDisconnects(_ context: EventContext) {
    if ending.disconnect == nil { ending.disconnect = Moment(context) }
  }

  /// Looks at a packet of the client behind its DISCONNECT.
  func judgeAfterDisconnect(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let disconnect = ending.disconnect else { return }
    let name = packet.type.name
    tally.violate(
      .nothingAfterDisconnect, event, hearing,
      FindingText(
        "the client sent \(name) after its DISCONNECT of frame \(disconnect.frame)",
        expected: "nothing after DISCONNECT", actual: packet.seen))
  }

  /// Judges what the client did after its DISCONNECT when the connection is over.
  func closeDisconnect(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let disconnect = ending.disconnect else { return }
    let rules: [MQTTRule] = [.clientClosesAfterDisconnect, .nothingAfterDisconnect]
    guard close.how != .endOfCapture, !client.isDeaf else {
      let reason: UndecidedReason = client.isDeaf ? .clientGap : .endOfCapture
      for rule in rules { tally.leave(rule, reason, hearing) }
      return
    }
    if !ending.sentAfterDisconnect { tally.satisfy(.nothingAfterDisconnect, hearing) }
    let rule = MQTTRule.clientClosesAfterDisconnect
    let isPrompt = close.time.nanoseconds(since: disconnect.time) <= Self.patience
    switch (close.first, isPrompt) {
    case (.client, true): tally.satisfy(rule, hearing)
    case (.client, false): tally.leave(rule, .closedLate, hearing)
    case (.server, true): tally.leave(rule, .serverClosedFirst, hearing)
    case (.server, false) where clocks.differ: tally.leave(rule, .clocksDiffer, hearing)
    case (.server, false):
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the client left the connection open for more than 30 s after its DISCONNECT of frame "
            + "\(disconnect.frame), until the server closed it",
          expected: "the client closes after DISCONNECT",
          actual: "open for \(close.time.seconds(since: disconnect.time))"))
    }
  }

  // MARK: Receivers of bad packets

  /// Notes a bad packet whose receiver must close the connection.
  /// - Parameters:
  ///   - packet: The packet.
  ///   - context: Its place.
  ///   - rules: The rules that ask for the close.
  ///   - awaitsConnack: Whether the next CONNACK answers an earlier CONNECT.
  ///   - answer: The answer that is due to it.
  mutating func offend(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, rules: [RuleIndex],
    awaitsConnack: Bool, answer: AwaitedAnswer?
  ) {
    var offence = Offence(
      rules: rules, moment: Moment(context), sender: context.sender, type: packet.type,
      awaitsConnack: awaitsConnack)
    offence.answers.add(answer)
    ownRare.offence = offence
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
    let doubt = close.doubt(afterFaultOf: offence.sender, isLate: offence.isLivedThrough)
    for rule in offence.rules {
      if let doubt {
        tally.leave(rule, doubt, hearing, at: offence.moment)
      } else {
        tally.satisfy(rule, hearing)
      }
    }
  }
}

extension Offence {
  /// Takes a packet of the receiver; true when it shows that it took the bad one for good, or lives on.
  mutating func isAccepted(by packet: borrowing MQTTPacketView) -> Bool {
    if type == .connect, packet.type == .connack { return packet.reasonCode == 0 }
    return answers.take(packet)
  }
}
