internal import RepriseCore
internal import Wire

/// All clauses of MQTT 3.1.1 that are checked, judged in one pass.
///
/// Each event brings the state of its connection up to date once, and the rules that its type and
/// sender touch report on the way.
struct MQTT311Judge {
  /// The clauses in the order of their places in the tally: folds, then rules of faults.
  static let clauses: [String] =
    MQTT311Rule.allCases.map(\.clause) + FaultRule.mqtt311.map(\.clause)

  private var faults = FaultJudge(FaultRule.mqtt311, base: MQTT311Rule.allCases.count)

  @inline(__always)
  mutating func take(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    // Asked once, because the list is copied to be looked at.
    let isFaultless = packet.faults.isEmpty
    let rules = faults.take(packet, isFaultless: isFaultless, event, &tally)
    if packet.missing > 0, !packet.saysWhatItSettles { lose(from: sender, &state, &tally) }
    var isInText = false
    if event.context.over != nil {
      state.beginCarriage(event, &tally)
      isInText = state.unpack(packet, event.context, &tally)
    }
    if state.offence != nil { state.judgeReceiver(packet, event, &tally) }
    if state.offence?.sender == sender {
      let later = state.awaitedAnswer(to: packet, from: sender)
      state.offence?.answers.add(later)
    }
    let isSecondConnect =
      sender == .client && packet.type == .connect && state.connect != nil
    let isProvocation = !isFaultless || isSecondConnect || isInText
    // Asked before the packet is one of those that are open.
    let answer =
      isProvocation && packet.type != .pingreq
      ? state.awaitedAnswer(to: packet, from: sender) : nil
    let hasConnack = state.connack != nil
    if sender == .client {
      if !state.suspicions.isEmpty { state.confirmSuspicions(by: packet, &tally) }
      if state.client.lastTime == nil { state.begin(packet, event, &tally) }
      if state.disconnect != nil {
        state.client.sentAfterDisconnect = true
        state.judgeAfterDisconnect(packet, event, &tally)
      }
      if !state.hasAsked { state.noteRequest(packet) }
      state.noteSilence(before: packet, event.context, &tally)
      state.measureSilence(
        packetSize: packet.sizeOnWire, at: event.context.time, event, &tally)
      takeFromClient(packet, event, &state, &tally)
      state.client.lastTime = event.context.time
      state.client.isDeaf = false
    } else {
      if state.server.lastTime == nil { state.begin(packet, event, &tally) }
      if state.connack?.isRefusalOpen == true {
        state.serverServesRefused(packet, event, &tally)
        state.serverGoesOnAfterRefusal(event, &tally)
      }
      if state.enforcement.overdue != nil { state.judgeEnforcement(packet, event, &tally) }
      takeFromServer(packet, isFaultless: isFaultless, event, &state, &tally)
      state.server.lastTime = event.context.time
      state.server.isDeaf = false
    }
    guard isProvocation else { return }
    let folds = state.provocations(
      by: packet, from: sender, isSecondConnect: isSecondConnect, isForbidden: rules != 0)
    guard rules != 0 || isInText || !folds.isEmpty else { return }
    state.offend(
      packet, event.context, rules: rules, folds: folds, isInText: isInText,
      awaitsConnack: isSecondConnect && !hasConnack, answer: answer)
  }

  @inline(__always)
  private func takeFromClient(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ tally: inout Tally
  ) {
    switch packet.type {
    case .publish: state.publishes(packet, event, &tally)
    case .puback, .pubrec, .pubcomp:
      let isNew = state.isFromStart && state.isNewSession == true
      state.fromServer.acknowledge(packet, isNewSession: isNew, event, &tally)
    case .pubrel: state.fromClient.acknowledge(packet, isNewSession: true, event, &tally)
    case .pingreq: state.clientPings(event.context, &tally)
    case .connect: state.clientConnects(packet, event.context)
    case .subscribe: state.clientSubscribes(packet, event.context, &tally)
    case .unsubscribe: state.clientUnsubscribes(packet, event.context, &tally)
    case .disconnect: state.clientDisconnects(event.context)
    case .connack, .suback, .unsuback, .pingresp, .reserved, .auth: break
    }
  }

  @inline(__always)
  private func takeFromServer(
    _ packet: borrowing MQTTPacketView, isFaultless: Bool, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ tally: inout Tally
  ) {
    switch packet.type {
    case .publish:
      // A topic that is bad in itself is for other clauses.
      if isFaultless { state.matchTopic(packet, event, &tally) }
      state.publishes(packet, event, &tally)
    case .puback, .pubrec, .pubcomp:
      let isNew = state.isFromStart && state.isNewSession == true
      state.fromClient.acknowledge(packet, isNewSession: isNew, event, &tally)
    case .pubrel: state.fromServer.acknowledge(packet, isNewSession: true, event, &tally)
    case .pingresp: state.serverPongs(event.context, &tally)
    case .connack: state.serverAccepts(packet, event, &tally)
    case .suback: state.serverAnswersSubscribe(packet, event, &tally)
    case .unsuback: state.serverAnswersUnsubscribe(packet, event, &tally)
    case .connect, .subscribe, .unsubscribe, .pingreq, .disconnect, .reserved, .auth: break
    }
  }

  /// Takes the news that bytes of a peer are missing, or can't be read.
  func lose(from peer: Peer, _ state: inout ConnectionState, _ tally: inout Tally) {
    state[peer].hasGap = true
    state[peer].isDeaf = true
    if let overdue = state.enforcement.overdue {
      tally.leave(.keepAliveIsEnforced, .gap(of: peer), at: overdue.moment)
      state.enforcement.overdue = nil
    }
    if let offence = state.offence, offence.sender != peer {
      for rule in offence.ruleIndices { tally.leave(rule, .gap(of: peer)) }
      state.offence = nil
    }
    state.loseExchanges(of: peer)
    state.loseCarriage(of: peer, &tally)
    if peer == .client {
      state.silence.lose()
      state.suspicions.drop(.clientGap, &tally)
    } else {
      state.loseAnswers(&tally)
    }
  }

  /// Judges what was left open when a connection is over.
  func close(
    _ close: Closing, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ tally: inout Tally
  ) {
    state.closeSuspicions(close, &tally)
    state.closeOffence(close, &tally)
    state.closeConnect(close, event, &tally)
    state.closeRefusal(close, event, &tally)
    state.closeEnforcement(close, &tally)
    state.closeSubscribes(close, event, &tally)
    state.closeUnsubscribes(close, event, &tally)
    state.closeExchanges(close, event, &tally)
    state.closeLife(close, event, &tally)
    state.closeDisconnect(close, event, &tally)
    state.closeUnaligned(close, event, &tally)
  }

  /// Adds what is counted rather than reported; called once, when everything was taken.
  func finish(_ tally: inout Tally) { faults.finish(&tally) }
}
