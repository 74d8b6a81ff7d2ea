internal import RepriseCore
internal import Wire

// What a server sends, type by type.
extension MQTTJudge {
  /// Takes a packet of a server.
  @inline(__always)
  mutating func takeFromServer(
    _ packet: borrowing MQTTPacketView, _ held: [UInt8], _ content: ContentHash?,
    isFaultless: Bool, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    switch packet.type {
    case .publish:
      // A topic that is bad in itself is for other clauses.
      if isFaultless {
        if packet.topic.byteCount > 0 {
          deliver(packet, packet.topic, content, event, &state, hearing, &tally)
        } else {
          deliver(packet, held.span.bytes, content, event, &state, hearing, &tally)
        }
      }
      broker.judgeRepeat(packet, content, event, state, hearing, &tally)
      broker.judgeDenied(packet, content, event, state, hearing, &tally)
      state.publishes(packet, content, event, hearing, &tally)
    case .puback, .pubrec, .pubcomp:
      serverAcknowledges(packet, event, &state, hearing, &tally)
    case .pubrel:
      broker.judgeRepeat(packet, nil, event, state, hearing, &tally)
      if !state.exchanges.fromServer.acknowledge(
        packet, isNewSession: true, event, hearing, &tally)
      {
        state.judgeStray(acknowledgement: packet, event, hearing, &tally)
      }
    case .pingresp: state.serverPongs(event.context, hearing, &tally)
    case .connack: takeConnack(packet, event, &state, hearing, &tally)
    case .suback: state.serverAnswersSubscribe(packet, event, hearing, &tally)
    case .unsuback: state.serverAnswersUnsubscribe(packet, event, hearing, &tally)
    case .disconnect where hearing.version == .v5_0:
      state.judgePlace(ofDisconnect: packet, event, hearing, &tally)
      state.disconnects(packet, event.context)
    case .connect, .subscribe, .unsubscribe, .pingreq, .disconnect, .reserved, .auth: break
    }
  }

  /// Takes a PUBACK, PUBREC or PUBCOMP of a server.
  @inline(__always)
  private mutating func serverAcknowledges(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let isRefusal = packet.reasonCode.map { $0 >= 0x80 } ?? false
    if isRefusal || broker.hasExpiries || broker.hasOwnMessages, let id = packet.packetID,
      let content = state.exchanges.fromClient[id]?.content
    {
      if isRefusal {
        broker.refuse(content, state, &tally)
      } else {
        broker.takeIn(
          content, at: event.context.time, by: state.identity.endpoint)
      }
    }
    broker.noteForgotten(packet, event.context)
    let isNew = state.isFromStart && state.isNewSession == true
    if !state.exchanges.fromClient.acknowledge(
      packet, isNewSession: isNew, event, hearing, &tally)
    {
      state.judgeStray(acknowledgement: packet, event, hearing, &tally)
    }
  }

  /// Takes a CONNACK: what became of the session, or of the try.
  private mutating func takeConnack(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let isFirst = state.opening.connack == nil
    broker.lastConnects.answer(event.context.connection)
    state.serverAccepts(packet, event, hearing, &tally)
    if packet.reasonCode ?? 0 != 0 {
      broker.lastConnects.takeBack(state.identity, on: event.context.connection)
      if state.opening.connect?.cleanStart == true {
        broker.sessions.dropOpen(of: state.identity.client)
      }
    }
    if isFirst, packet.reasonCode == 0 {
      if let name = packet.assignedClientID { broker.assign(name, event.context) }
      broker.accept(
        sessionPresent: packet.sessionPresent, event, &state, hearing, &tally)
    }
  }

  /// Takes a message of a server.
  @inline(__always)
  private mutating func deliver(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ content: ContentHash?,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    var delivery = BrokerJudge.Delivery(at: state.identity.endpoint)
    state.subscribing.subscriptions.forEachMatch(of: topic) { delivery.matching.add($0) }
    var isOfServer = topic.begins(with: "$")
    if isOfServer, let content { isOfServer = !broker.isPublished(content, at: delivery.server) }
    state.judgeTopic(
      topic, delivery.matching, isOfServer: isOfServer, isDriven: broker.hasOwnMessages, event,
      hearing, &tally)
    if delivery.matching.count == 0, delivery.matching.removed == nil, !packet.retain {
      broker.noteStray(topic, event.context, state, hearing, &tally)
    }
    guard let content, hearing.mode == .judged else {
      // It may be one that nobody in the capture published, or the copy that others are said to lack.
      if event.context.isRebuilt { broker.doubt(state.identity.endpoint, .hidden) }
      if packet.missing > 0 { broker.doubt(state.identity.endpoint, .incompletePacket) }
      return broker.loseCopies(on: event.context.connection, &tally)
    }
    broker.deliver(packet, topic, content, &delivery, event, &state, hearing, &tally)
  }
}

extension ConnectionState {
  /// Judges what a packet of a server says of what was before it.
  @inline(__always)
  mutating func judgeServer(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    if rare?.value.suspicionsOfServer.isEmpty == false {
      confirmSuspicionsOfServer(by: packet, hearing, &tally)
    }
    if server.lastTime == nil || opening.isAuthenticating { begin(packet, event, hearing, &tally) }
    if ending.server.disconnect != nil { judgeAfterDisconnect(packet, event, hearing, &tally) }
    if opening.connack?.isRefusalOpen == true {
      serverServesRefused(packet, event, hearing, &tally)
      serverGoesOnAfterRefusal(event, hearing, &tally)
    }
    if rare?.value.enforcement.overdue != nil { judgeEnforcement(packet, event, hearing, &tally) }
  }
}
