internal import RepriseCore
internal import Wire

// What one end of MQTT 5.0 accepts, and the other has to keep to: sections 3.1.2.11, 3.2.2.3, 3.3.4 and 4.9.
//
// A client may send before it has the CONNACK, and does not know the limits in it then. At a capture near the
// server what stands behind the CONNACK may have been sent before it arrived: only what answers a later packet of
// the server, or half a minute, shows that the client has it.
extension ConnectionState {
  /// Judges a packet by what its receiver accepts.
  mutating func judgeLimits(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let terms else { return }
    let sender = event.context.sender
    guard let limits = sender == .client ? terms.value.server : terms.value.client else { return }
    judgeSize(packet, limits, terms, event, hearing, &tally)
    if packet.type == .publish {
      judgeAlias(packet, limits, terms, event, hearing, &tally)
      if sender == .client { judgeAbility(packet, terms, event, hearing, &tally) }
      judgeQuota(packet, limits, terms, event, hearing, &tally)
    }
    if sender == .server { judgeProblemInformation(packet, terms, event, hearing, &tally) }
  }

  /// Counts what the packet opens or ends, and whether it shows that the client has the CONNACK.
  mutating func noteLimits(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard terms != nil else { return }
    let sender = context.sender
    if sender == .client, showsConnack(packet, context) { change { $0.noteConnackSeen() } }
    guard let id = packet.packetID else { return }
    switch packet.type {
    // What is missing of it may be missing of what answers it as well.
    case .publish where packet.missing > 0: break
    case .publish:
      change {
        if sender == .client {
          $0.told.fromClient.publish(id)
        } else {
          $0.told.fromServer.publish(id)
        }
      }
    // One whose code is not there may be a failure.
    case .pubrec where packet.reasonCode.map({ $0 < 0x80 }) ?? false: break
    case .puback, .pubrec, .pubcomp:
      change {
        if sender == .client { $0.told.fromServer.end(id) } else { $0.told.fromClient.end(id) }
      }
    default: break
    }
  }

  /// Notes that bytes of a side are missing, which may have acknowledged anything.
  mutating func loseLimits(of peer: Peer) {
    change {
      $0.told[peer.other].lose()
      if peer == .client {
        $0.told.fromServer.lose()
        $0.told.aliasesOfClient.lose()
      } else {
        $0.told.fromClient.lose()
        $0.told.aliasesOfServer.lose()
      }
    }
  }

  private func showsConnack(
    _ packet: borrowing MQTTPacketView, _ context: EventContext
  ) -> Bool {
    guard terms?.value.clientHasConnack == false, !context.isOrderUncertain,
      let connack = opening.connack
    else { return false }
    if context.time.isLate(since: connack.moment.time) { return !clocks.differ }
    guard let id = packet.packetID else { return false }
    switch packet.type {
    case .puback, .pubrec:
      guard let message = exchanges.fromServer[id], message.lost == nil, !message.isRepeated else {
        return false
      }
      return message.moment.frame > connack.moment.frame
    case .pubrel:
      guard let message = exchanges.fromClient[id], message.lost == nil else { return false }
      return message.phase == .pubrel && message.moment.frame > connack.moment.frame
    default: return false
    }
  }

  /// Reports what a packet is by a limit.
  private func report(
    _ rules: [MQTTRule], breaks: Bool, _ terms: Boxed<Terms>, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally, _ text: @autoclosure () -> FindingText
  ) {
    let isBound = event.context.sender == .server || terms.value.clientHasConnack
    for rule in rules {
      if !breaks {
        tally.satisfy(rule, hearing)
      } else if isBound {
        tally.violate(rule, event, hearing, text())
      } else {
        tally.leave(rule, .limitNotKnown, hearing)
      }
    }
  }

  // MARK: Size

  private func judgeSize(
    _ packet: borrowing MQTTPacketView, _ limits: Terms.Limits, _ terms: Boxed<Terms>,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard limits.hasPacketSize else { return }
    let sender = event.context.sender
    let rule: MQTTRule = sender == .client ? .clientKeepsPacketSize : .serverKeepsPacketSize
    guard let most = limits.maximumPacketSize else {
      return tally.leave(rule, .unreadableProperty, hearing)
    }
    guard !event.context.isRebuilt else { return tally.leave(rule, .hidden, hearing) }
    let size = packet.header.packetSize
    let isTooLarge = size > Int(most)
    let isMessage = isTooLarge && sender == .server && packet.type == .publish
    report(
      isMessage ? [rule, .tooLargeIsDropped] : [rule], breaks: isTooLarge, terms, event, hearing,
      &tally,
      FindingText(
        "the \(sender.rawValue) sent \(packet.type.withArticle) that is larger than the "
          + "\(sender.other.rawValue) accepts",
        expected: "at most \(most) bytes", actual: "\(size) bytes",
        evidence: sender == .server
          ? opening.connect.map { hearing.evidence($0.moment, "CONNECT with the limit") } ?? []
          : opening.connack.map { hearing.evidence($0.moment, "CONNACK with the limit") } ?? []))
    judgeReasons(
      packet, within: Int(most), isBound: sender == .server || terms.value.clientHasConnack, event,
      hearing, &tally)
  }

  // MARK: Topic aliases

  private func judgeAlias(
    _ packet: borrowing MQTTPacketView, _ limits: Terms.Limits, _ terms: Boxed<Terms>,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let isClient = event.context.sender == .client
    let keeps: MQTTRule = isClient ? .clientKeepsAliasMaximum : .serverKeepsAliasMaximum
    let uses: MQTTRule = isClient ? .clientUsesNoAlias : .serverUsesNoAlias
    let all: MQTTRule = isClient ? .clientAliasIsAccepted : .serverAliasIsAccepted
    guard let most = limits.topicAliasMaximum else {
      if packet.propertySet.contains(.topicAlias) {
        for rule in [keeps, uses, all] { tally.leave(rule, .unreadableProperty, hearing) }
      }
      return
    }
    guard packet.propertySet.contains(.topicAlias) else {
      guard most == 0, packet.hasProperties else { return }
      if packet.propertySet.isWhole { return tally.satisfy(uses, hearing) }
      return tally.leave(uses, .unreadableProperty, hearing)
    }
    guard let alias = packet.properties.integer(.topicAlias) else { return }
    report(
      [most > 0 ? keeps : uses, all], breaks: alias > Int(most), terms, event, hearing, &tally,
      FindingText(
        "the \(event.context.sender.rawValue) uses a Topic Alias that the "
          + "\(event.context.sender.other.rawValue) does not accept",
        expected: most > 0 ? "an alias of at most \(most)" : "no Topic Alias",
        actual: "Topic Alias \(alias)"))
  }

  // MARK: What the server can do

  private mutating func judgeAbility(
    _ packet: borrowing MQTTPacketView, _ terms: Boxed<Terms>, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    if let most = terms.value.maximumQoS, most < 2, packet.qos <= 2 {
      report(
        [.clientKeepsMaximumQoS], breaks: packet.qos > most, terms, event, hearing, &tally,
        FindingText(
          "the client sent a PUBLISH of a QoS that the server does not take",
          expected: "QoS \(most) at most", actual: "QoS \(packet.qos)"))
    }
    if terms.value.retainAvailable == 0 {
      report(
        [.clientRetainsNothing], breaks: packet.retain, terms, event, hearing, &tally,
        FindingText(
          "the client sent a PUBLISH to be retained to a server that retains nothing",
          expected: "RETAIN 0", actual: "RETAIN 1"))
    }
  }

  // MARK: Quota

  private func judgeQuota(
    _ packet: borrowing MQTTPacketView, _ limits: Terms.Limits, _ terms: Boxed<Terms>,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard packet.qos == 1 || packet.qos == 2, let id = packet.packetID else { return }
    let sender = event.context.sender
    // There are no more identifiers than that.
    guard limits.receiveMaximum != 65_535 else { return }
    let rules: [MQTTRule] = [
      sender == .client ? .clientKeepsReceiveMaximum : .serverKeepsReceiveMaximum,
      .quotaIsNoHigher, .nothingIsSentAtQuotaZero,
    ]
    guard let most = limits.receiveMaximum else {
      for rule in rules { tally.leave(rule, .unreadableProperty, hearing) }
      return
    }
    let messages = sender == .client ? terms.value.told.fromClient : terms.value.told.fromServer
    guard !messages.isKnown(id) else { return }
    guard !messages.isFull else {
      for rule in rules { tally.leave(rule, .tooMany, hearing) }
      return
    }
    // What is missing of the sender may have been open; what is missing of its receiver may have ended what was sent later:
    // where missing bytes stand among those of the other direction is only known to be before what acknowledges them.
    let isOver = messages.count >= Int(most)
    let gap = isOver ? sender.other : sender
    if self[gap].hasGap {
      for rule in rules { tally.leave(rule, .gap(of: gap), hearing) }
      return
    }
    report(
      rules, breaks: isOver, terms, event, hearing, &tally,
      FindingText(
        "the \(sender.rawValue) sent another message above QoS 0 than the "
          + "\(sender.other.rawValue) receives at once",
        expected: "\(most) open at most", actual: "\(messages.count) open, and PUBLISH \(id)"))
  }

  // MARK: Reasons

  private func judgeProblemInformation(
    _ packet: borrowing MQTTPacketView, _ terms: Boxed<Terms>, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard terms.value.wantsProblemInformation == 0 else { return }
    switch packet.type {
    case .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .auth: break
    default: return
    }
    let set = packet.propertySet
    let isTold = set.contains(.reasonString) || set.contains(.userProperty)
    guard isTold || set.isWhole || !packet.hasProperties else {
      return tally.leave(.serverTellsNoReasons, .unreadableProperty, hearing)
    }
    report(
      [.serverTellsNoReasons], breaks: isTold, terms, event, hearing, &tally,
      FindingText(
        "the server sent \(packet.type.withArticle) with a reason to a client that wants none",
        expected: "neither Reason String nor User Property", actual: packet.seen))
  }
}
