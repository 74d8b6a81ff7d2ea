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

  /// Judges a packet and takes note of it.
  ///
  /// What asks how its connection stood before comes before what changes that: the order of these steps counts.
  @inline(__always)
  mutating func take(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let isFaultless = !packet.hasFaults
    let is5 = hearing.version == .v5_0
    let answersNothing = !is5 || isFaultless ? false : state.answersNothing(packet)
    let rules = judgeFaults(
      packet, isFaultless: isFaultless, answersNothing: answersNothing, event, hearing, &tally)
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
    if state.rare?.value.offence != nil { state.followOffence(packet, event, hearing, &tally) }
    let provocation = state.provocation(
      by: packet, isFaultless: isFaultless, isInText: isInText, is5: is5, event.context)
    if is5 { state.judgeOf5(packet, content, event, hearing, &tally) }
    if sender == .client {
      state.judgeClient(packet, isDirect: broker.hasOwnMessages, event, hearing, &tally)
      takeFromClient(packet, held, content, event, &state, hearing, &tally)
      state.client.hear(at: event.context.time)
      state.client.isDeaf = false
    } else {
      state.judgeServer(packet, event, hearing, &tally)
      if !broker.takenOver.isEmpty { broker.judgeTakenOver(packet, event, state, hearing, &tally) }
      takeFromServer(
        packet, held, content, isFaultless: isFaultless, event, &state, hearing, &tally)
      state.server.hear(at: event.context.time)
      state.server.isDeaf = false
    }
    if let provocation {
      provoke(packet, provocation, rules, event.context, &state, hearing, &tally)
    }
  }

  /// Judges what is wrong with a packet in itself.
  ///
  /// It is not handed the state of the connection, which the compiler would copy to inline it.
  /// - Returns: The rules by which its receiver must close.
  @inline(__always)
  private mutating func judgeFaults(
    _ packet: borrowing MQTTPacketView, isFaultless: Bool, answersNothing: Bool,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) -> RuleSet {
    guard hearing.version == .v5_0 else {
      return faults.take(packet, isFaultless: isFaultless, event, hearing, &tally)
    }
    return faultsOf5.take(
      packet, isFaultless: isFaultless, answersNothing: answersNothing, event, hearing, &tally)
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

  /// Notes a packet that its receiver has to notice.
  ///
  /// Of several the first one counts that its receiver must notice, or else the first one.
  private func provoke(
    _ packet: borrowing MQTTPacketView, _ provocation: Provocation, _ rules: RuleSet,
    _ context: EventContext, _ state: inout ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard state.rare?.value.offence?.rules.isEmpty != false else { return }
    let folds = state.provocations(
      by: packet, from: context.sender, isSecondConnect: provocation.isSecondConnect,
      isForbidden: !rules.isEmpty)
    let isStrict = !rules.isEmpty || provocation.isInText || !folds.isEmpty
    if let earlier = state.rare?.value.offence {
      guard isStrict else { return }
      earlier.leaveLenient(hearing, &tally)
    }
    guard isStrict || !provocation.errors.isEmpty else { return }
    let own = folds + (provocation.isInText ? [.packetsInBinaryFrames] : [])
    state.offend(
      packet, context,
      rules: (hearing.version == .v5_0 ? faultsOf5 : faults).indices(of: rules)
        + own.map { $0.index(in: hearing.version) },
      lenient: provocation.errors.filter { !folds.contains($0) }
        .map { $0.index(in: hearing.version) },
      awaitsConnack: provocation.isSecondConnect && !provocation.hasConnack,
      answer: provocation.answer)
  }
}

extension ConnectionState {
  /// Judges what only 5.0 has: codes that refuse, limits and what CONNACK allows.
  @inline(__always)
  mutating func judgeOf5(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    if rare?.value.refused.isEmpty == false {
      followRefusals(packet, content, event, hearing, &tally)
    }
    if packet.type == .puback || packet.type == .pubrec {
      noteRefusal(by: packet, event, hearing, &tally)
    }
    judgeLimits(packet, event, hearing, &tally)
    judgeAllowances(packet, event, hearing, &tally)
    if packet.type == .auth { judgeMethod(ofAuth: packet, event, hearing, &tally) }
    if event.context.sender == .client { judgeBeforeConnack(packet, event, hearing, &tally) }
    noteLimits(packet, event.context)
    noteAllowances(packet, event.context)
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
