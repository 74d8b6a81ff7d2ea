internal import RepriseCore
internal import Wire

/// What a side of MQTT 5.0 has sent that the other one has to take, and what its used up quota does not hold back.
struct Allowance {
  /// The messages whose alias shows to be taken by their acknowledgement.
  fileprivate var aliased: [UInt16] = []
  /// Whether an alias was sent that has to be taken, one that need not be, and whether it showed what became of them.
  fileprivate var hasAlias = false
  fileprivate var hasOddAlias = false
  fileprivate var isAliasJudged = false
  /// Since when the send quota is used up; nil where it is not, or is not known to be.
  fileprivate(set) var fullSince: Timestamp?
  /// Whether it ever was, and whether another packet than PUBLISH was sent meanwhile.
  fileprivate var wasFull = false
  fileprivate var wentOnWhileFull = false
  /// The highest QoS that was sent.
  fileprivate(set) var highestQoS: UInt8 = 0
  /// When the open messages of QoS 2 that expire are surely over, in nanoseconds.
  fileprivate var expiries: [UInt16: Int64] = [:]
  /// The clauses by which a message is a new one whose identifier was another one's, by the way in which that ended.
  fileprivate(set) var endings: [UInt16: MQTTRule] = [:]
  private static let mostMessages = 64
  /// How much a clock may be late, and what rounds to seconds.
  private static let tolerance: Int64 = 2_000_000_000

  /// The memory that it takes, in bytes.
  var reserved: Int { aliased.grownSize + expiries.capacity * 11 + endings.capacity * 5 }

  /// Takes a message.
  fileprivate mutating func publish(
    _ packet: borrowing MQTTPacketView, at time: Timestamp
  ) {
    if packet.qos <= 2 { highestQoS = max(highestQoS, packet.qos) }
    guard packet.qos == 2, let id = packet.packetID else { return }
    expiries[id] = nil
    guard let expiry = packet.properties.integer(.messageExpiryInterval),
      expiries.count < Self.mostMessages
    else { return }
    let ends = Int64(expiry) * 1_000_000_000 + Self.tolerance
    expiries[id] = time.nanoseconds.addingSaturating(ends)
  }

  /// Takes a Topic Alias.
  fileprivate mutating func use(aliasOf id: UInt16?, isAllowed: Bool) {
    guard isAllowed else {
      hasOddAlias = true
      return
    }
    hasAlias = true
    if let id, aliased.count < Self.mostMessages { aliased.append(id) }
  }

  /// Takes what ends a message.
  fileprivate mutating func end(_ id: UInt16, by rule: MQTTRule) {
    if endings.count < Self.mostMessages || endings[id] != nil { endings[id] = rule }
  }

  /// Takes the acknowledgement of a message; true where it had an alias.
  fileprivate mutating func acknowledge(_ id: UInt16) -> Bool {
    guard let place = aliased.firstIndex(of: id) else { return false }
    aliased.remove(at: place)
    return true
  }

  /// Notes at a time whether the quota is used up.
  fileprivate mutating func note(isFull: Bool, at time: Timestamp) {
    guard isFull != (fullSince != nil) else { return }
    fullSince = isFull ? time : nil
    // It is now, or was until now.
    wasFull = true
  }

  /// Forgets what bytes of the other side may have ended.
  mutating func lose() { fullSince = nil }
}

// What an end of MQTT 5.0 has to accept, and to go on with: sections 3.2.2.3.4, 3.3.2.3.4, 3.3.4, 4.3.3 and 4.9.
extension ConnectionState {
  /// Judges a packet by what its sender has to take of the other side, and to go on with itself.
  mutating func judgeAllowances(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let told = terms?.value.told else { return }
    let sender = event.context.sender
    if told.fullSince(of: sender) != nil { judgeGoingOn(packet, sender, hearing, &tally) }
    switch packet.type {
    case .publish: notePublication(packet, event.context)
    case .puback, .pubrec, .pubcomp, .pubrel: judgeStep(packet, sender, hearing, &tally)
    case .disconnect: judgeReproach(packet, event, hearing, &tally)
    case .connack:
      if packet.reasonCode == 0, let most = packet.properties.integer(.maximumQoS), most < 2 {
        tally.satisfy(.lowerQoSIsTold, hearing)
      }
    default: break
    }
  }

  /// Notes whether the quota of a side is used up, once a packet is taken note of.
  mutating func noteAllowances(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard let terms else { return }
    switch packet.type {
    case .publish, .puback, .pubrec, .pubcomp: break
    default: return
    }
    let isClient = (packet.type == .publish) == (context.sender == .client)
    let publisher: Peer = isClient ? .client : .server
    let told = terms.value.told
    let most =
      isClient ? terms.value.server?.receiveMaximum : terms.value.client.receiveMaximum
    let open = isClient ? told.fromClient.count : told.fromServer.count
    let isFull = most.map { $0 < 65_535 && open >= Int($0) } ?? false
    guard isFull != (told.fullSince(of: publisher) != nil) else { return }
    ownTold()?[publisher].note(isFull: isFull, at: context.time)
  }

  private func told(by peer: Peer) -> Allowance? { terms?.value.told[peer] }

  private func rule(ofAliasesTakenBy receiver: Peer) -> MQTTRule {
    receiver == .client ? .clientTakesAliases : .serverTakesAliases
  }

  // MARK: Messages

  private mutating func notePublication(
    _ packet: borrowing MQTTPacketView, _ context: EventContext
  ) {
    let sender = context.sender
    let hasAlias = packet.propertySet.contains(.topicAlias)
    guard packet.qos > 0 || hasAlias else { return }
    let isAllowed = hasAlias && isAllowed(aliasOf: packet, context)
    guard let told = ownTold() else { return }
    told[sender].publish(packet, at: context.time)
    if hasAlias { told[sender].use(aliasOf: packet.packetID, isAllowed: isAllowed) }
  }

  /// Whether the receiver has to take the alias of a message.
  private func isAllowed(
    aliasOf packet: borrowing MQTTPacketView, _ context: EventContext
  ) -> Bool {
    guard let terms = terms?.value, packet.isSound(context),
      let limits = context.sender == .client ? terms.server : terms.client,
      let most = limits.topicAliasMaximum,
      let alias = packet.properties.integer(.topicAlias).flatMap({ UInt16(exactly: $0) }),
      alias > 0, alias <= most
    else { return false }
    let aliases =
      context.sender == .client ? terms.told.aliasesOfClient : terms.told.aliasesOfServer
    return packet.topic.byteCount > 0 || aliases[alias] != nil
  }

  /// Judges what an acknowledgement shows of the message.
  private mutating func judgeStep(
    _ packet: borrowing MQTTPacketView, _ sender: Peer, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let id = packet.packetID else { return }
    let publisher = packet.type == .pubrel ? sender : sender.other
    guard let told = ownTold() else { return }
    let over = told[publisher].expiries[id]
    // One whose code is not there may be a failure.
    let isTaken = packet.reasonCode.map { $0 < 0x80 } ?? false
    if packet.type == .pubrec, isTaken, sender == .server {
      tally.satisfy(.lowerQoSIsTold, hearing)
    }
    if packet.type == .puback || packet.type == .pubrec, told[publisher].acknowledge(id), isTaken {
      told[publisher].isAliasJudged = true
      tally.satisfy(rule(ofAliasesTakenBy: sender), hearing)
    }
    noteEnd(id, of: publisher, packet.type, isTaken: isTaken)
    guard let over else { return }
    switch packet.type {
    case .pubrel where hearing.moment.time.nanoseconds > over:
      tally.satisfy(.expiryEndsNoRelease, hearing)
    case .pubrec where !isTaken: told[publisher].expiries[id] = nil
    case .pubcomp:
      if isReleased(id, of: publisher, behind: over) {
        tally.satisfy(.expiryEndsNoCompletion, hearing)
      }
      told[publisher].expiries[id] = nil
    default: break
    }
  }

  /// Notes how a message ends, behind which its identifier is free for another one.
  private mutating func noteEnd(
    _ id: UInt16, of publisher: Peer, _ type: MQTTPacketType, isTaken: Bool
  ) {
    let exchange = publisher == .client ? exchanges.fromClient[id] : exchanges.fromServer[id]
    guard let exchange, exchange.lost == nil else { return }
    let rule: MQTTRule? =
      switch (type, exchange.phase) {
      case (.puback, .puback): .acknowledgedIsOver
      case (.pubrec, .pubrec): isTaken ? nil : .refusedIsOver
      case (.pubcomp, .pubcomp): .completedIsOver
      default: nil
      }
    if let rule { ownTold()?[publisher].end(id, by: rule) }
  }

  /// Whether the open PUBREL of a message came when the message was over.
  private func isReleased(_ id: UInt16, of publisher: Peer, behind over: Int64) -> Bool {
    let exchange = publisher == .client ? exchanges.fromClient[id] : exchanges.fromServer[id]
    guard let exchange, exchange.phase == .pubcomp, exchange.lost == nil else { return false }
    return exchange.moment.time.nanoseconds > over
  }

  /// The rules that ask for the PUBCOMP of a message.
  func rulesOfCompletion(_ id: UInt16, _ publisher: Peer) -> [MQTTRule] {
    guard let over = told(by: publisher)?.expiries[id],
      isReleased(id, of: publisher, behind: over)
    else { return [.pubrelIsCompleted] }
    return [.pubrelIsCompleted, .expiryEndsNoCompletion]
  }

  // MARK: Quota

  /// Counts what a side sends whose quota is used up.
  private mutating func judgeGoingOn(
    _ packet: borrowing MQTTPacketView, _ sender: Peer, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard packet.type != .publish else { return }
    ownTold()?[sender].wentOnWhileFull = true
    tally.satisfy(
      sender == .client ? .clientDelaysOnlyMessages : .serverDelaysOnlyMessages, hearing)
    switch packet.type {
    case .puback, .pubrec, .pubcomp, .suback, .unsuback, .pingresp:
      tally.satisfy(.quotaZeroIsAnswered, hearing)
    default: break
    }
  }

  /// The rules that ask for an answer: where the quota of the one who owes it was used up all the while, one more.
  func rules(
    ofAnswer rules: [MQTTRule], to moment: Moment, by answerer: Peer
  ) -> [MQTTRule] {
    guard let since = told(by: answerer)?.fullSince, since < moment.time else { return rules }
    return rules + [.quotaZeroIsAnswered]
  }

  // MARK: The server's abilities

  /// Judges the codes of a SUBACK to filters that were asked for at more than the Maximum QoS.
  func judgeGrants(
    _ codes: [UInt8], of requested: [UInt8], _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let most = terms?.value.maximumQoS, most < 2 else { return }
    for (code, qos) in zip(codes, requested) where qos > most && qos <= 2 {
      if code < 0x80 {
        tally.satisfy(.anyQoSMayBeAskedFor, hearing)
      } else {
        tally.leave(.anyQoSMayBeAskedFor, .otherCode, hearing)
      }
    }
  }

  private func isBeyondMaximum(_ request: PendingSubscribe) -> Bool {
    guard let most = terms?.value.maximumQoS, most < 2 else { return false }
    return request.requested.contains { $0 > most && $0 <= 2 }
  }

  /// Leaves open what became of a SUBSCRIBE that was never answered.
  func leaveGrants(
    _ request: PendingSubscribe, _ reason: UndecidedReason, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    // One that the server rejected by its code is judged already.
    guard isBeyondMaximum(request), ending.server.code != 0x9B else { return }
    tally.leave(.anyQoSMayBeAskedFor, reason, hearing, at: request.moment)
  }

  // MARK: DISCONNECT

  /// Judges a DISCONNECT that reproaches the other side with what it may do.
  private mutating func judgeReproach(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let sender = event.context.sender
    switch packet.reasonCode {
    case 0x94: judgeReproach(ofAliasesTo: sender.other, event, hearing, &tally)
    case 0x9B where sender == .server: judgeReproach(ofQoS: event, hearing, &tally)
    case 0x82 where sender == .server:
      guard ending.client.raisesExpiry, ending.server.disconnect == nil else { return }
      tally.satisfy(.raisedExpiryIsRejected, hearing)
    default: break
    }
  }

  private mutating func judgeReproach(
    ofAliasesTo publisher: Peer, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let allowance = told(by: publisher), allowance.hasAlias else { return }
    let rule = rule(ofAliasesTakenBy: publisher.other)
    ownTold()?[publisher].isAliasJudged = true
    if let reason = lossReason(of: publisher) { return tally.leave(rule, reason, hearing) }
    guard !allowance.hasOddAlias else { return tally.leave(rule, .otherAtFault, hearing) }
    guard !event.context.isOrderUncertain, !isOrderUncertain else {
      return tally.leave(rule, .orderUncertain, hearing)
    }
    suspect(
      rule.index(in: hearing.version), event, hearing, &tally,
      FindingText(
        "the \(publisher.other.rawValue) rejects a Topic Alias, though all aliases of the "
          + "\(publisher.rawValue) were from 1 to the Topic Alias Maximum",
        expected: "every alias from 1 to that maximum taken", actual: "DISCONNECT code 0x94"))
  }

  private mutating func judgeReproach(
    ofQoS event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.anyQoSMayBeAskedFor
    let requests = subscribing.open.entries.map(\.value).filter(isBeyondMaximum)
    guard let request = requests.first, let terms = terms?.value, let most = terms.maximumQoS
    else { return }
    if let reason = lossReason(of: .client) { return tally.leave(rule, reason, hearing) }
    let isProvoked =
      terms.told[.client].highestQoS > most || (terms.willQoS ?? 0) > most || request.isFaulty
    guard !isProvoked else { return tally.leave(rule, .otherAtFault, hearing) }
    guard !event.context.isOrderUncertain, !isOrderUncertain else {
      return tally.leave(rule, .orderUncertain, hearing)
    }
    suspect(
      rule.index(in: hearing.version), event, hearing, &tally,
      FindingText(
        "the server ends the connection behind the SUBSCRIBE of frame \(request.moment.frame) as its QoS "
          + "is not supported",
        expected: "a SUBACK with a QoS of at most \(most)", actual: "DISCONNECT code 0x9B",
        evidence: [
          Finding.Evidence(
            frame: request.moment.frame, connection: event.context.connection,
            role: "SUBSCRIBE for more than the Maximum QoS")
        ]))
  }

  // MARK: The end

  /// Leaves open at the end of a connection what nothing showed.
  func closeAllowances(_ hearing: Hearing, _ tally: inout Tally) {
    for peer in Peer.allCases {
      guard let allowance = told(by: peer) else { continue }
      let receiver = peer.other
      if allowance.hasAlias, !allowance.isAliasJudged {
        let isAwaited = !allowance.aliased.isEmpty
        tally.leave(
          rule(ofAliasesTakenBy: receiver), isAwaited ? .answererClosed : .nothingAnswers,
          hearing.of(receiver))
      }
      if allowance.wasFull, !allowance.wentOnWhileFull {
        tally.leave(
          peer == .client ? .clientDelaysOnlyMessages : .serverDelaysOnlyMessages,
          .nothingToSend, hearing.of(peer))
      }
    }
    guard ending.client.raisesExpiry, ending.server.code != 0x82 else { return }
    tally.leave(.raisedExpiryIsRejected, .answererClosed, hearing.of(.server))
  }
}
