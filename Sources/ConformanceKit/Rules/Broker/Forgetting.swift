internal import RepriseCore
internal import Wire

// What a client makes of a session that the server has not: 5.0 section 3.2.2.1.1.
extension BrokerJudge {
  /// Judges a packet with which a client goes on, as it can't if it has thrown its session away.
  ///
  /// A PUBREL that answers no PUBREC of the connection comes from that session. A PUBLISH with DUP may come from an
  /// application that says it again.
  ///
  /// Not inlined: where it is, the whole state of the connection is copied for it.
  @inline(never)
  mutating func judgeForgotten(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard !denied.isEmpty, state.is5, let id = packet.packetID,
      var session = denied[event.context.connection],
      let place = session.left.fromClient.firstIndex(where: { $0.id == id && !$0.wasRepeated })
    else { return }
    let message = session.left.fromClient[place]
    session.left.fromClient[place].wasRepeated = true
    denied[event.context.connection] = session
    let rule = MQTTRule.absentSessionIsThrownAway
    // An identifier that it gives to another message was free.
    guard packet.type == .pubrel || packet.dup else {
      guard let content, let first = message.content, content != first else { return }
      return tally.satisfy(rule, hearing)
    }
    // One that was published on this connection goes on in its own session.
    guard !state.exchanges.fromClient.used.contains(id) else { return }
    let doubt: UndecidedReason? =
      if packet.type == .publish {
        .mayBeRepeat
      } else if message.phase == .puback || packet.reasonCode != 0 {
        // That there is no such message a client may say that has thrown its session away.
        .ambiguousMessage
      } else if message.isDoubtful || session.left.isCut {
        .gap(of: .client)
      } else if session.losses != losses {
        .connectionsUnseen
      } else if let lost = state.lossReason(of: .client) {
        lost
      } else if let lost = state.lossReason(of: .server) {
        lost
      } else if state.isOrderUncertain || event.context.isOrderUncertain {
        .orderUncertain
      } else if state.terms?.value.clientHasConnack != true {
        .crossedAnswer
      } else {
        nil
      }
    if let doubt { return tally.leave(rule, doubt, hearing) }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the client goes on with message \(id) of frame \(message.moment.frame), and had been told that "
          + "the server has no session",
        expected: "no packet of the session before", actual: "PUBREL \(id)",
        evidence: [
          Finding.Evidence(
            frame: message.moment.frame, connection: session.before,
            role: "what was open in that session"),
          Finding.Evidence(
            frame: session.moment.frame, connection: event.context.connection,
            role: "CONNACK with Session Present 0"),
        ]))
  }

  /// Takes note that a server goes on with a message of a client that it has no session of: what the client says to that
  /// is an answer.
  mutating func noteForgotten(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard !denied.isEmpty, let id = packet.packetID else { return }
    denied[context.connection]?.left.fromClient.removeAll { $0.id == id }
  }

  /// Judges a client that went on without anything of the session that the server has not.
  mutating func closeDenied(
    _ close: Closing, _ event: borrowing EventView, _ state: borrowing ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let session = denied.removeValue(forKey: event.context.connection), state.is5,
      !session.left.fromClient.isEmpty, !session.left.fromClient.contains(where: \.wasRepeated)
    else { return }
    let rule = MQTTRule.absentSessionIsThrownAway
    let hearing = hearing.of(.client)
    if close.how == .endOfCapture {
      tally.leave(rule, .endOfCapture, hearing, at: session.moment)
    } else if let lost = state.lossReason(of: .client) {
      tally.leave(rule, lost, hearing, at: session.moment)
    } else if state.ending.client.disconnect == nil {
      tally.leave(rule, .shortlySeen, hearing, at: session.moment)
    } else {
      tally.satisfy(rule, hearing)
    }
  }
}
