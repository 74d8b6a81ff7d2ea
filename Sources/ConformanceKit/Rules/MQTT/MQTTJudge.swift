internal import RepriseCore
internal import Wire

/// All clauses of MQTT that are checked, judged in one pass: the rules are the same for all versions, and what
/// differs stands in their tables.
///
/// Each event brings the state of its connection up to date once, and the rules that its type and
/// sender touch report on the way.
struct MQTTJudge {
  /// The versions by whose clauses it judges.
  static let versions: [MQTTVersion] = [.v3_1_1, .v5_0]
  /// The clauses in the order of their places in the tally: version by version folds, then rules of faults; nil
  /// in the place of a fold that the version does not have.
  static let clauses: [ClauseKey?] = versions.flatMap { version in
    (MQTTRule.allCases.map { $0.clauses[version] }
      + FaultRule.rules(of: version).map { $0.clauses[version] })
      .map { id in id.map { ClauseKey(spec: version.spec, id: $0) } }
  }
  private static let baseOf5 =
    MQTTRule.allCases.count + FaultRule.rules(of: .v3_1_1).count

  /// The place of a version's first rule in the tally.
  @inline(__always)
  static func base(of version: MQTTVersion) -> Int { version == .v5_0 ? baseOf5 : 0 }

  // To make their tables takes longer than to judge a short session; a copy costs nothing.
  private static let fresh = FaultJudge(.v3_1_1, base: MQTTRule.allCases.count)
  private static let freshOf5 = FaultJudge(.v5_0, base: baseOf5 + MQTTRule.allCases.count)

  private var faults = Self.fresh
  private var faultsOf5 = Self.freshOf5

  @inline(__always)
  mutating func take(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    // Asked once, because the list is copied to be looked at.
    let isFaultless = packet.faults.isEmpty
    let is5 = hearing.version == .v5_0
    let rules =
      is5
      ? faultsOf5.take(packet, isFaultless: isFaultless, event, hearing, &tally)
      : faults.take(packet, isFaultless: isFaultless, event, hearing, &tally)
    if is5 { Self.judgePacket(packet, event, hearing, &tally) }
    if packet.missing > 0, !packet.saysWhatItSettles { lose(from: sender, &state, hearing, &tally) }
    var isInText = false
    if event.context.over != nil {
      state.beginCarriage(event, hearing, &tally)
      isInText = state.unpack(packet, event.context, hearing, &tally)
    }
    if state.rare?.value.offence != nil { state.judgeReceiver(packet, event, hearing, &tally) }
    if state.rare?.value.offence?.sender == sender {
      let later = state.awaitedAnswer(to: packet, from: sender)
      state.ownRare.offence?.answers.add(later)
    }
    let isSecondConnect =
      sender == .client && packet.type == .connect && state.opening.connect != nil
    let isProvocation = !isFaultless || isSecondConnect || isInText
    // Asked before the packet is one of those that are open.
    let answer =
      isProvocation && packet.type != .pingreq
      ? state.awaitedAnswer(to: packet, from: sender) : nil
    let hasConnack = state.opening.connack != nil
    if is5 {
      state.judgeLimits(packet, event, hearing, &tally)
      if packet.type == .auth { state.judgeMethod(ofAuth: packet, event, hearing, &tally) }
      if sender == .client { state.judgeBeforeConnack(packet, event, hearing, &tally) }
      state.noteLimits(packet, event.context)
    }
    if sender == .client {
      if state.rare?.value.suspicions.isEmpty == false {
        state.confirmSuspicions(by: packet, hearing, &tally)
      }
      if state.client.lastTime == nil { state.begin(packet, event, hearing, &tally) }
      if state.ending.client.disconnect != nil {
        state.judgeAfterDisconnect(packet, event, hearing, &tally)
      }
      if !state.opening.hasAsked { state.noteRequest(packet) }
      state.noteSilence(before: packet, event.context, hearing, &tally)
      state.measureSilence(
        packetSize: packet.sizeOnWire, at: event.context.time, event, hearing, &tally)
      takeFromClient(packet, event, &state, hearing, &tally)
      state.client.lastTime = event.context.time
      state.client.isDeaf = false
    } else {
      if state.server.lastTime == nil { state.begin(packet, event, hearing, &tally) }
      if state.ending.server.disconnect != nil {
        state.judgeAfterDisconnect(packet, event, hearing, &tally)
      }
      if state.opening.connack?.isRefusalOpen == true {
        state.serverServesRefused(packet, event, hearing, &tally)
        state.serverGoesOnAfterRefusal(event, hearing, &tally)
      }
      if state.rare?.value.enforcement.overdue != nil {
        state.judgeEnforcement(packet, event, hearing, &tally)
      }
      takeFromServer(packet, isFaultless: isFaultless, event, &state, hearing, &tally)
      state.server.lastTime = event.context.time
      state.server.isDeaf = false
    }
    // Of several bad packets the first one counts.
    guard isProvocation, state.rare?.value.offence == nil else { return }
    let folds = state.provocations(
      by: packet, from: sender, isSecondConnect: isSecondConnect, isForbidden: !rules.isEmpty)
    guard !rules.isEmpty || isInText || !folds.isEmpty else { return }
    state.offend(
      packet, event.context,
      rules: (is5 ? faultsOf5 : faults).indices(of: rules)
        + (folds + (isInText ? [.packetsInBinaryFrames] : [])).map {
          $0.index(in: hearing.version)
        },
      awaitsConnack: isSecondConnect && !hasConnack, answer: answer)
  }

  @inline(__always)
  private func takeFromClient(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    switch packet.type {
    case .publish: state.publishes(packet, event, hearing, &tally)
    case .puback, .pubrec, .pubcomp:
      let isNew = state.isFromStart && state.isNewSession == true
      state.exchanges.fromServer.acknowledge(packet, isNewSession: isNew, event, hearing, &tally)
    case .pubrel:
      state.exchanges.fromClient.acknowledge(packet, isNewSession: true, event, hearing, &tally)
    case .pingreq: state.clientPings(event.context, hearing, &tally)
    case .connect: state.clientConnects(packet, event.context)
    case .subscribe: state.clientSubscribes(packet, event.context, hearing, &tally)
    case .unsubscribe: state.clientUnsubscribes(packet, event.context, hearing, &tally)
    case .disconnect: state.disconnects(packet, event.context)
    case .connack, .suback, .unsuback, .pingresp, .reserved, .auth: break
    }
  }

  @inline(__always)
  private func takeFromServer(
    _ packet: borrowing MQTTPacketView, isFaultless: Bool, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    switch packet.type {
    case .publish:
      // A topic that is bad in itself is for other clauses.
      if isFaultless, hearing.version == .v3_1_1 {
        state.matchTopic(packet, event, hearing, &tally)
      }
      state.publishes(packet, event, hearing, &tally)
    case .puback, .pubrec, .pubcomp:
      let isNew = state.isFromStart && state.isNewSession == true
      state.exchanges.fromClient.acknowledge(packet, isNewSession: isNew, event, hearing, &tally)
    case .pubrel:
      state.exchanges.fromServer.acknowledge(packet, isNewSession: true, event, hearing, &tally)
    case .pingresp: state.serverPongs(event.context, hearing, &tally)
    case .connack: state.serverAccepts(packet, event, hearing, &tally)
    case .suback: state.serverAnswersSubscribe(packet, event, hearing, &tally)
    case .unsuback: state.serverAnswersUnsubscribe(packet, event, hearing, &tally)
    case .disconnect where hearing.version == .v5_0:
      state.judgePlace(ofDisconnect: packet, event, hearing, &tally)
      state.disconnects(packet, event.context)
    case .connect, .subscribe, .unsubscribe, .pingreq, .disconnect, .reserved, .auth: break
    }
  }

  /// Takes the news that bytes of a peer are missing, or can't be read.
  func lose(
    from peer: Peer, _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    state[peer].hasGap = true
    state[peer].isDeaf = true
    if let overdue = state.rare?.value.enforcement.overdue {
      state.leaveEnforcement(.gap(of: peer), hearing, &tally, at: overdue.moment)
      state.ownRare.enforcement.overdue = nil
    }
    if let offence = state.rare?.value.offence, offence.sender != peer {
      for rule in offence.rules { tally.leave(rule, .gap(of: peer), hearing) }
      state.ownRare.offence = nil
    }
    state.loseExchanges(of: peer)
    state.loseLimits(of: peer)
    state.loseCarriage(of: peer, hearing, &tally)
    if peer == .client {
      state.life.silence.lose()
      if state.rare?.value.suspicions.isEmpty == false {
        state.ownRare.suspicions.drop(.clientGap, hearing, &tally)
      }
    } else {
      state.loseAnswers(hearing, &tally)
    }
  }

  /// Leaves open what waits under the clauses of another version than the one that a connection turns out to speak.
  func forgetVersion(_ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally) {
    state.ownRare.suspicions.drop(.inferredVersion, hearing, &tally)
    state.ownRare.offence = nil
  }

  /// Judges what was left open when a connection is over.
  func close(
    _ close: Closing, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    state.closeSuspicions(close, hearing, &tally)
    state.closeOffence(close, hearing, &tally)
    state.closeConnect(close, event, hearing, &tally)
    state.closeRefusal(close, event, hearing, &tally)
    state.closeEnforcement(close, hearing, &tally)
    state.closeSubscribes(close, event, hearing, &tally)
    state.closeUnsubscribes(close, event, hearing, &tally)
    state.closeExchanges(close, event, hearing, &tally)
    state.closeLife(close, event, hearing, &tally)
    state.closeDisconnect(close, event, hearing, &tally)
    state.closeUnaligned(close, event, hearing, &tally)
    state.closeTerms(hearing, &tally)
  }

  /// Adds what is counted rather than reported; called once, when everything was taken.
  func finish(_ tally: inout Tally) {
    faults.finish(&tally)
    faultsOf5.finish(&tally)
  }
}

extension MQTTVersion {
  /// What the catalogue calls the version's standard.
  var spec: String {
    switch self {
    case .v3_1: "mqtt-3.1"
    case .v3_1_1: "mqtt-3.1.1"
    case .v5_0: "mqtt-5.0"
    }
  }
}
