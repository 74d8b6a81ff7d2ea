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

  /// The places of the clauses of 5.0 on identifiers, of which a fault tells as well as a fold.
  static let identifierOfClient = place(of5: "MQTT-2.2.1-3")
  static let identifierOfServer = place(of5: "MQTT-2.2.1-4")

  /// The place of the clause of 5.0 on the codes of an UNSUBACK, whose number a fold tells.
  static let unsubackHasCodes = place(of5: "MQTT-3.11.3-2")

  private static func place(of5 id: String) -> RuleIndex {
    let key = ClauseKey(spec: MQTTVersion.v5_0.spec, id: id)
    guard let place = clauses.firstIndex(of: key) else { preconditionFailure("\(id) has no rule") }
    return RuleIndex(value: place)
  }

  // To make their tables takes longer than to judge a short session; a copy costs nothing.
  private static let fresh = FaultJudge(.v3_1_1, base: MQTTRule.allCases.count)
  private static let freshOf5 = FaultJudge(.v5_0, base: baseOf5 + MQTTRule.allCases.count)

  var faults = Self.fresh
  var faultsOf5 = Self.freshOf5
  var broker = BrokerJudge()

  @inline(__always)
  mutating func take(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let isFaultless = !packet.hasFaults
    let is5 = hearing.version == .v5_0
    let rules =
      is5
      ? faultsOf5.take(
        packet, isFaultless: isFaultless,
        answersNothing: !isFaultless && state.answersNothing(packet), event, hearing, &tally)
      : faults.take(packet, isFaultless: isFaultless, event, hearing, &tally)
    if is5 { Self.judgePacket(packet, event, hearing, &tally) }
    broker.note(event.context)
    var held: [UInt8] = []
    if is5, packet.type == .publish { held = state.takeAlias(packet, event.context) }
    if state.isContinued, state.lossesBefore != broker.losses { state.isContinued = false }
    let content = Self.content(of: packet, isFaultless: isFaultless, held, event.context)
    if let content { broker.prefetch(content, on: event.context.connection, state) }
    if packet.missing > 0, !packet.saysWhatItSettles { lose(from: sender, &state, hearing, &tally) }
    var isInText = false
    if event.context.over != nil {
      state.beginCarriage(event, hearing, &tally)
      isInText = state.unpack(packet, event.context, hearing, &tally)
    }
    if state.rare?.value.offence != nil { state.judgeReceiver(packet, event, hearing, &tally) }
    if state.rare?.value.offence?.sender == sender {
      let later = state.awaitedAnswer(to: packet, from: sender)
      state.ownRare.offence?.add(later, sentAt: event.context.time)
    }
    let isSecondConnect =
      sender == .client && packet.type == .connect && state.opening.connect != nil
    var errors: [MQTTRule] = []
    if is5 {
      errors = state.errors(in: packet, event.context)
    } else if !isFaultless {
      errors = ConnectionState.errorsOfName(in: packet, of: sender)
    }
    let isForeign = is5 && state.opening.connack == nil && state.isOfForeignSession(packet)
    let isProvocation =
      !isFaultless || isSecondConnect || isInText || isForeign || !errors.isEmpty
    // Asked before the packet is one of those that are open.
    let answer =
      isProvocation && packet.type != .pingreq
      ? state.awaitedAnswer(to: packet, from: sender) : nil
    let hasConnack = state.opening.connack != nil
    if is5, state.rare?.value.refused.isEmpty == false {
      state.followRefusals(packet, content, event, hearing, &tally)
    }
    if is5, packet.type == .puback || packet.type == .pubrec {
      state.noteRefusal(by: packet, event, hearing, &tally)
    }
    if is5 {
      state.judgeLimits(packet, event, hearing, &tally)
      state.judgeAllowances(packet, event, hearing, &tally)
      if packet.type == .auth { state.judgeMethod(ofAuth: packet, event, hearing, &tally) }
      if sender == .client { state.judgeBeforeConnack(packet, event, hearing, &tally) }
      state.noteLimits(packet, event.context)
      state.noteAllowances(packet, event.context)
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
      takeFromClient(packet, held, content, event, &state, hearing, &tally)
      state.client.lastTime = event.context.time
      state.client.isDeaf = false
    } else {
      if state.rare?.value.suspicionsOfServer.isEmpty == false {
        state.confirmSuspicionsOfServer(by: packet, hearing, &tally)
      }
      if state.server.lastTime == nil || state.opening.isAuthenticating {
        state.begin(packet, event, hearing, &tally)
      }
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
      if !broker.takenOver.isEmpty { broker.judgeTakenOver(packet, event, state, hearing, &tally) }
      takeFromServer(
        packet, held, content, isFaultless: isFaultless, event, &state, hearing, &tally)
      state.server.lastTime = event.context.time
      state.server.isDeaf = false
    }
    // Of several bad packets the first one counts that its receiver has to notice, or else the first one.
    guard isProvocation, state.rare?.value.offence?.rules.isEmpty != false else { return }
    let folds = state.provocations(
      by: packet, from: sender, isSecondConnect: isSecondConnect, isForbidden: !rules.isEmpty)
    let isStrict = !rules.isEmpty || isInText || !folds.isEmpty
    if let earlier = state.rare?.value.offence {
      guard isStrict else { return }
      earlier.leaveLenient(hearing, &tally)
    }
    guard isStrict || !errors.isEmpty else { return }
    state.offend(
      packet, event.context,
      rules: (is5 ? faultsOf5 : faults).indices(of: rules)
        + (folds + (isInText ? [.packetsInBinaryFrames] : [])).map {
          $0.index(in: hearing.version)
        },
      lenient: errors.filter { !folds.contains($0) }.map { $0.index(in: hearing.version) },
      awaitsConnack: isSecondConnect && !hasConnack, answer: answer)
  }

  /// What tells the topic and the payload of a PUBLISH; nil where they are not known.
  ///
  /// The topic that is held is the one that an alias stands for, where the packet has none.
  @inline(__always)
  private static func content(
    of packet: borrowing MQTTPacketView, isFaultless: Bool, _ held: [UInt8], _ context: EventContext
  ) -> ContentHash? {
    guard packet.type == .publish, isFaultless, packet.missing == 0, !context.isRebuilt else {
      return nil
    }
    if packet.topic.byteCount > 0 {
      return ContentHash(topic: packet.topic, payload: packet.payload)
    }
    return held.isEmpty ? nil : ContentHash(topic: held.span.bytes, payload: packet.payload)
  }

  @inline(__always)
  private mutating func takeFromClient(
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

  @inline(__always)
  private mutating func takeFromServer(
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
      let isNew = state.isFromStart && state.isNewSession == true
      if !state.exchanges.fromClient.acknowledge(
        packet, isNewSession: isNew, event, hearing, &tally)
      {
        state.judgeStray(acknowledgement: packet, event, hearing, &tally)
      }
    case .pubrel:
      broker.judgeRepeat(packet, nil, event, state, hearing, &tally)
      if !state.exchanges.fromServer.acknowledge(
        packet, isNewSession: true, event, hearing, &tally)
      {
        state.judgeStray(acknowledgement: packet, event, hearing, &tally)
      }
    case .pingresp: state.serverPongs(event.context, hearing, &tally)
    case .connack:
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
    case .suback: state.serverAnswersSubscribe(packet, event, hearing, &tally)
    case .unsuback: state.serverAnswersUnsubscribe(packet, event, hearing, &tally)
    case .disconnect where hearing.version == .v5_0:
      state.judgePlace(ofDisconnect: packet, event, hearing, &tally)
      state.disconnects(packet, event.context)
    case .connect, .subscribe, .unsubscribe, .pingreq, .disconnect, .reserved, .auth: break
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

  /// Takes a message of a server.
  @inline(__always)
  private mutating func deliver(
    _ packet: borrowing MQTTPacketView, _ topic: RawSpan, _ content: ContentHash?,
    _ event: borrowing EventView, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    var delivery = BrokerJudge.Delivery(at: state.identity.endpoint)
    state.subscribing.subscriptions.forEachMatch(of: topic) { delivery.matching.add($0) }
    state.judgeTopic(topic, delivery.matching, event, hearing, &tally)
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
