internal import RepriseCore
internal import Wire

// DISCONNECT (section 3.14), and what a bad packet must lead to.
extension ConnectionState {
  mutating func clientDisconnects(_ context: EventContext) {
    if disconnect == nil { disconnect = Moment(context) }
  }

  /// Looks at a packet of the client behind its DISCONNECT.
  func judgeAfterDisconnect(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    guard let disconnect else { return }
    let name = packet.type.name
    tally.violate(
      MQTT311Rule.nothingAfterDisconnect.index, event,
      FindingText(
        "the client sent \(name) after its DISCONNECT of frame \(disconnect.frame)",
        expected: "nothing after DISCONNECT", actual: packet.seen))
  }

  /// Judges what the client did after its DISCONNECT when the connection is over.
  func closeDisconnect(_ close: Closing, _ event: borrowing EventView, _ tally: inout Tally) {
    guard let disconnect else { return }
    let rules: [MQTT311Rule] = [.clientClosesAfterDisconnect, .nothingAfterDisconnect]
    guard close.how != .endOfCapture, !client.isDeaf else {
      let reason: UndecidedReason = client.isDeaf ? .clientGap : .endOfCapture
      for rule in rules { tally.leave(rule, reason) }
      return
    }
    if !client.sentAfterDisconnect { tally.satisfy(.nothingAfterDisconnect) }
    let rule = MQTT311Rule.clientClosesAfterDisconnect
    let isPrompt = close.time.nanoseconds(since: disconnect.time) <= Self.patience
    switch (close.first, isPrompt) {
    case (.client, true): tally.satisfy(rule)
    case (.client, false): tally.leave(rule, .closedLate)
    case (.server, true): tally.leave(rule, .serverClosedFirst)
    case (.server, false) where clocks.differ: tally.leave(rule, .clocksDiffer)
    case (.server, false):
      tally.violate(
        rule.index, event,
        FindingText(
          "the client left the connection open for more than 30 s after its DISCONNECT of frame "
            + "\(disconnect.frame), until the server closed it",
          expected: "the client closes after DISCONNECT",
          actual: "open for \(close.time.seconds(since: disconnect.time))"))
    }
  }

  // MARK: Receivers of bad packets

  /// Notes a bad packet whose receiver must close the connection; the first one counts.
  mutating func offend(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, rules: UInt64,
    folds: [MQTT311Rule], isInText: Bool, awaitsConnack: Bool, answer: AwaitedAnswer?
  ) {
    guard offence == nil else { return }
    offence = Offence(
      rules: rules, moment: Moment(context), sender: context.sender, type: packet.type,
      isInText: isInText, folds: folds, awaitsConnack: awaitsConnack)
    offence?.answers.add(answer)
  }

  /// Looks whether the receiver of a bad packet goes on.
  mutating func judgeReceiver(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    guard let offence, event.context.sender != offence.sender else { return }
    // The answer to the first of two CONNECTs says nothing of the second.
    if packet.type == .connack, offence.awaitsConnack {
      self.offence?.awaitsConnack = false
      return
    }
    guard self.offence?.isAccepted(by: packet) == true else {
      let isLate = event.context.time.isLate(since: offence.moment.time)
      if isLate { self.offence?.isLivedThrough = true }
      return
    }
    self.offence = nil
    let receiver = offence.sender.other.rawValue
    let wait = event.context.time.seconds(since: offence.moment.time)
    for rule in offence.ruleIndices {
      tally.violate(
        rule, event,
        FindingText(
          "the \(receiver) goes on after the bad \(offence.type.name) of frame "
            + "\(offence.moment.frame) that the \(offence.sender.rawValue) sent",
          expected: "the \(receiver) closes the connection", actual: "\(packet.seen) after \(wait)")
      )
    }
  }

  /// Judges the receiver of a bad packet when the connection is over.
  mutating func closeOffence(_ close: Closing, _ tally: inout Tally) {
    guard let offence else { return }
    self.offence = nil
    let doubt = close.doubt(afterFaultOf: offence.sender, isLate: offence.isLivedThrough)
    for rule in offence.ruleIndices {
      if let doubt {
        tally.leave(rule, doubt, at: offence.moment)
      } else {
        tally.satisfy(rule)
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

  /// The places of the rules that ask for the close.
  var ruleIndices: [RuleIndex] {
    (0..<64).filter { rules & (1 << UInt64($0)) != 0 }
      .map { RuleIndex(value: MQTT311Rule.allCases.count + $0) }
      + folds.map(\.index) + (isInText ? [MQTT311Rule.packetsInBinaryFrames.index] : [])
  }
}
