internal import RepriseCore
internal import Wire

// Errors of MQTT 5.0 for which a packet is a Malformed Packet or a Protocol Error without a sentence that makes its
// receiver check it (section 4.13.1): a receiver that closes the connection noticed, one that goes on need not have.
extension ConnectionState {
  /// Looks for such errors; to be asked before the packet is taken note of, and behind its Topic Alias.
  /// - Parameters:
  ///   - packet: A packet of MQTT 5.0.
  ///   - context: Its place.
  /// - Returns: The clauses that call it an error.
  @inline(__always)
  mutating func errors(
    in packet: borrowing MQTTPacketView, _ context: EventContext
  ) -> [MQTTRule] {
    let isLimited = terms != nil && packet.missing == 0
    guard isLimited || packet.hasFaults else { return [] }
    var rules = !packet.hasFaults ? [] : Self.faults(in: packet, of: context.sender)
    if isLimited { addLimits(packet, context, to: &rules) }
    if context.sender == .server, !rules.isEmpty, !rules.contains(.clientClosesOnError) {
      rules.append(.clientClosesOnError)
    }
    return rules
  }

  /// Looks for a CONNECT that names another protocol, with which a server of 3.1.1 may go on by another specification.
  static func errorsOfName(in packet: borrowing MQTTPacketView, of sender: Peer) -> [MQTTRule] {
    guard sender == .client, packet.type == .connect,
      packet.faults.contains(where: { $0.code == .unknownProtocolName })
    else { return [] }
    return [.otherNameIsNotServed]
  }

  // MARK: Form

  private static func faults(
    in packet: borrowing MQTTPacketView, of sender: Peer
  ) -> [MQTTRule] {
    var rules: [MQTTRule] = []
    for fault in packet.faults {
      guard let rule = rule(of: fault, in: packet.type), !rules.contains(rule) else { continue }
      rules.append(rule)
    }
    // Whatever is wrong: a server that closes did what it has to do about errors that it finds (section 4.13.1).
    rules.append(sender == .client ? .violationCloses : .clientClosesOnError)
    return rules
  }

  private static func rule(of fault: MQTTFault, in type: MQTTPacketType) -> MQTTRule? {
    switch (fault.code, fault.field) {
    case (.invalidUTF8, _), (.nullCharacter, _):
      fault.property == .userProperty ? .badPairIsRejected : .badTextIsRejected
    case (.reservedFlags, .fixedHeader):
      // Of these the numbered clauses speak.
      [.pubrel, .subscribe, .unsubscribe, .auth, .disconnect].contains(type)
        ? nil : .wrongFlagsAreRejected
    case (.invalidQoS, .fixedHeader) where type == .publish: .bothQoSBitsAreRejected
    case (.invalidPropertyValue, .properties)
    where type == .publish && fault.property == .topicAlias:
      .badAliasIsRejected
    case (.emptyList, .filter) where type == .subscribe: .emptySubscribeIsRejected
    case (.emptyList, .filter) where type == .unsubscribe: .emptyUnsubscribeIsRejected
    default: nil
    }
  }

  // MARK: Limits

  /// Adds the clauses about what the receiver said that it does not take.
  private func addLimits(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, to rules: inout [MQTTRule]
  ) {
    guard let terms else { return }
    let isClient = context.sender == .client
    // A client may send before it has the CONNACK.
    guard let limits = isClient ? terms.value.server : terms.value.client,
      !isClient || terms.value.clientHasConnack
    else { return }
    if limits.hasPacketSize, !context.isRebuilt, let most = limits.maximumPacketSize,
      packet.header.packetSize > Int(most)
    {
      rules.append(isClient ? .serverRejectsLargePacket : .clientRejectsLargePacket)
    }
    switch packet.type {
    case .publish: addPublish(packet, limits, terms, context.sender, to: &rules)
    case .subscribe where isClient: addSubscribe(packet, terms, to: &rules)
    case .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .auth:
      let set = packet.propertySet
      if !isClient, terms.value.wantsProblemInformation == 0,
        set.contains(.reasonString) || set.contains(.userProperty)
      {
        rules.append(.clientRejectsReasons)
      }
    default: break
    }
  }

  private func addPublish(
    _ packet: borrowing MQTTPacketView, _ limits: Terms.Limits, _ terms: Boxed<Terms>,
    _ sender: Peer,
    to rules: inout [MQTTRule]
  ) {
    if sender == .client {
      if let most = terms.value.maximumQoS, packet.qos > most, packet.qos <= 2 {
        rules.append(.serverRejectsQoS)
      }
      if terms.value.retainAvailable == 0, packet.retain { rules.append(.serverRejectsRetain) }
    }
    guard packet.propertySet.contains(.topicAlias),
      let alias = packet.properties.integer(.topicAlias).flatMap({ UInt16(exactly: $0) }), alias > 0
    else { return }
    if let most = limits.topicAliasMaximum, alias > most {
      if !rules.contains(.badAliasIsRejected) { rules.append(.badAliasIsRejected) }
      return
    }
    let known =
      sender == .client ? terms.value.told.aliasesOfClient : terms.value.told.aliasesOfServer
    // One that comes with its topic is known by now.
    if known[alias] == nil, !known.hasForgotten, lossReason(of: sender) == nil {
      rules += [.unknownAliasIsRejected, .aliasEndsWithConnection]
    }
  }

  private func addSubscribe(
    _ packet: borrowing MQTTPacketView, _ terms: Boxed<Terms>, to rules: inout [MQTTRule]
  ) {
    if terms.value.identifiersAvailable == 0, packet.propertySet.contains(.subscriptionIdentifier) {
      rules.append(.serverRejectsIdentifier)
    }
    guard terms.value.wildcardsAvailable == 0 || terms.value.sharedAvailable == 0 else { return }
    var (hasWildcard, hasShare) = (false, false)
    var filters = packet.filters
    while let filter = filters.next() {
      let inner = MQTTTopicFilter.withoutShare(filter.text)
      if inner.byteCount < filter.text.byteCount { hasShare = true }
      inner.withUnsafeBytes { bytes in
        if bytes.contains(UInt8(ascii: "+")) || bytes.contains(UInt8(ascii: "#")) {
          hasWildcard = true
        }
      }
    }
    if hasWildcard, terms.value.wildcardsAvailable == 0 { rules.append(.serverRejectsWildcard) }
    if hasShare, terms.value.sharedAvailable == 0 { rules.append(.serverRejectsShared) }
  }
}
