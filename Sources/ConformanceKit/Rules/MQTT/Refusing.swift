internal import RepriseCore
internal import Wire

/// A message above QoS 0 whose flow an acknowledgement with an error has ended.
struct RefusedMessage {
  var publisher: Peer
  var id: UInt16
  var content: ContentHash
  /// Its acknowledgement.
  var moment: Moment
  /// The answers to what the receiver sent behind that acknowledgement.
  var answers = AwaitedAnswers()
  /// Whether the publisher has answered one of them, and so had the acknowledgement.
  var isTold = false

  /// So many of a connection are kept.
  static let most = 8
}

// Messages that an error of PUBACK or PUBREC has ended, and that may not be sent again: section 4.4 of 5.0.
//
// How an acknowledgement and a repeat crossed on their way a capture does not tell. Only a publisher that has answered
// something that came behind the acknowledgement is known to have had it.
extension ConnectionState {
  /// Takes an acknowledgement; to be asked before it ends its exchange.
  mutating func noteRefusal(
    by packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let code = packet.reasonCode, code >= 0x80, let id = packet.packetID else { return }
    let publisher = event.context.sender.other
    let exchange =
      publisher == .client ? exchanges.fromClient[id] : exchanges.fromServer[id]
    guard let exchange, let content = exchange.content, exchange.lost == nil,
      exchange.phase == (packet.type == .puback ? .puback : .pubrec)
    else { return }
    let hearing = hearing.of(publisher)
    // A publisher that always sets DUP, or has sent the message more often, is another matter.
    guard !exchange.isRepeated else {
      return tally.leave(.refusedIsNotRepeated, .repeatedMessage, hearing)
    }
    guard ownRare.refused.count < RefusedMessage.most else {
      return tally.leave(.refusedIsNotRepeated, .tooMany, hearing)
    }
    ownRare.refused.append(
      RefusedMessage(
        publisher: publisher, id: id, content: content, moment: Moment(event.context)))
  }

  /// Takes a packet of either side behind an acknowledgement with an error; to be asked before it is taken note of.
  mutating func followRefusals(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let answer = awaitedAnswer(to: packet, from: sender)
    for place in ownRare.refused.indices {
      if ownRare.refused[place].publisher == sender {
        if ownRare.refused[place].answers.take(packet) { ownRare.refused[place].isTold = true }
      } else {
        ownRare.refused[place].answers.add(answer)
      }
    }
    guard packet.type == .publish, packet.qos > 0, let id = packet.packetID,
      let place = ownRare.refused.firstIndex(where: { $0.id == id && $0.publisher == sender })
    else { return }
    let refused = ownRare.refused.remove(at: place)
    judge(packet, content, again: refused, event, hearing, &tally)
  }

  private func judge(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?, again refused: RefusedMessage,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.refusedIsNotRepeated
    let sender = event.context.sender
    // Without DUP it is another message, be it of the same content.
    guard packet.dup else { return tally.satisfy(rule, hearing) }
    if let loss = lossReason(of: sender) { return tally.leave(rule, loss, hearing) }
    guard let content else { return tally.leave(rule, .incompletePacket, hearing) }
    guard content == refused.content else { return tally.leave(rule, .ambiguousMessage, hearing) }
    guard refused.isTold else { return tally.leave(rule, .crossedAnswer, hearing) }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the \(sender.rawValue) sent PUBLISH \(refused.id) again, though the acknowledgement of frame "
          + "\(refused.moment.frame) had ended it with an error",
        expected: "nothing more of that message", actual: packet.seen,
        evidence: [
          Finding.Evidence(
            frame: refused.moment.frame, connection: event.context.connection,
            role: "acknowledgement with an error")
        ]))
  }

  /// Judges at the end of a connection the messages that were not sent again.
  func closeRefusals(_ hearing: Hearing, _ tally: inout Tally) {
    guard let refused = rare?.value.refused else { return }
    for message in refused {
      let hearing = hearing.of(message.publisher)
      if let reason = hearing.givingUp ?? lossReason(of: message.publisher) {
        tally.leave(.refusedIsNotRepeated, reason, hearing, at: message.moment)
      } else {
        tally.satisfy(.refusedIsNotRepeated, hearing)
      }
    }
  }
}
