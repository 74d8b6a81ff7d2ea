internal import RepriseCore
internal import Wire

// What a client sends, type by type.
extension MQTTJudge {
  /// Takes a packet of a client.
  @inline(__always)
  mutating func takeFromClient(
    _ packet: borrowing MQTTPacketView, _ held: [UInt8], _ content: ContentHash?,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    switch packet.type {
    case .publish:
      if packet.qos == 0 { state.lastPlain = event.context.time.nanoseconds }
      if let content {
        publish(packet, held, content, event, &state, &tally)
      } else {
        broker.doubt(everywhere: .publishersUnseen)
      }
      broker.judgeRepeat(packet, content, event, state, hearing, &tally)
      broker.judgeForgotten(packet, content, event, state, hearing, &tally)
      state.publishes(packet, content, event, hearing, &tally)
    case .puback, .pubrec, .pubcomp:
      if hearing.version == .v5_0 { broker.refuse(packet, event.context, state) }
      let isNew = state.isFromStart && state.isNewSession == true
      if !state.exchanges.fromServer.acknowledge(
        packet, isNewSession: isNew, event, hearing, &tally)
      {
        state.judgeStray(acknowledgement: packet, event, hearing, &tally)
      }
      state.exchanges.fromServer.noteIdle(at: event.context.time)
    case .pubrel:
      broker.judgeRepeat(packet, nil, event, state, hearing, &tally)
      broker.judgeForgotten(packet, nil, event, state, hearing, &tally)
      if state.exchanges.fromClient.isLate(releaseOf: packet.packetID) {
        broker.noteDisorder(on: event.context.connection)
      }
      if !state.exchanges.fromClient.acknowledge(
        packet, isNewSession: true, event, hearing, &tally)
      {
        state.judgeStray(acknowledgement: packet, event, hearing, &tally)
      }
    case .pingreq: state.clientPings(event.context, hearing, &tally)
    case .connect:
      state.clientConnects(packet, event.context)
      broker.connect(packet, event.context, &state)
    case .subscribe:
      broker.retained.leave(event.context.connection)
      state.clientSubscribes(packet, event, hearing, &tally)
    case .unsubscribe:
      broker.retained.leave(event.context.connection)
      state.clientUnsubscribes(packet, event, hearing, &tally)
    case .disconnect:
      broker.disconnect(packet, event.context, state)
      state.judgeExpiry(of: packet, event, hearing, &tally)
      state.disconnects(packet, event.context)
    case .connack, .suback, .unsuback, .pingresp, .reserved, .auth: break
    }
  }

  /// Takes a message of a client.
  private mutating func publish(
    _ packet: borrowing MQTTPacketView, _ held: [UInt8], _ content: ContentHash,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ tally: inout Tally
  ) {
    let open = packet.packetID.flatMap { state.exchanges.fromClient[$0] }
    // Where the answer to the first one may be missing, one without DUP may be another one.
    let isAgain = open?.content == content && (packet.dup || open?.lost == nil)
    let isRepeat =
      packet.qos > 0
      && (isAgain || broker.isLeft(packet.packetID, content, event.context.connection))
    if packet.topic.byteCount > 0 {
      broker.publish(
        packet, packet.topic, content, isRepeat: isRepeat, event.context, &state, &tally)
    } else {
      broker.publish(
        packet, held.span.bytes, content, isRepeat: isRepeat, event.context, &state, &tally)
    }
  }
}

extension ConnectionState {
  /// Judges what a packet of a client says of what was before it.
  ///
  /// Where it is not known that the connection is direct, a proxy may hand on late what the client has sent in time.
  @inline(__always)
  mutating func judgeClient(
    _ packet: borrowing MQTTPacketView, isDirect: Bool, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    if rare?.value.suspicions.isEmpty == false { confirmSuspicions(by: packet, hearing, &tally) }
    if client.lastTime == nil { begin(packet, event, hearing, &tally) }
    if ending.client.disconnect != nil { judgeAfterDisconnect(packet, event, hearing, &tally) }
    if !opening.hasAsked { noteRequest(packet) }
    noteSilence(before: packet, event.context, hearing, &tally)
    measureSilence(
      packetSize: packet.sizeOnWire, isDirect: isDirect, at: event.context.time, event, hearing,
      &tally)
  }
}
