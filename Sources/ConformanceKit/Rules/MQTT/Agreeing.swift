internal import RepriseCore
internal import Wire

// What CONNACK and AUTH of MQTT 5.0 must be by what the CONNECT said: sections 3.1.2.11, 3.1.3.1, 3.2 and 4.12.
extension ConnectionState {
  /// Takes the CONNECT, which is the first of its connection.
  mutating func beginTerms(_ packet: borrowing MQTTPacketView) {
    // What a client retells of itself may lack properties.
    guard hasPings, packet.missing == 0, let connect = packet.connect else { return }
    terms = Boxed(Terms(packet, connect))
  }

  /// Judges the first CONNACK by what the CONNECT asked for.
  mutating func judgeTerms(
    ofConnack packet: borrowing MQTTPacketView, code: UInt8, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let terms = terms?.value, opening.connack?.isOfOlderServer != true else { return }
    judgeResponseInformation(packet, terms, event, hearing, &tally)
    judgeMethod(ofConnack: packet, code: code, terms, event, hearing, &tally)
    judgeWill(packet, code: code, terms, event, hearing, &tally)
    if code == 0, terms.hasEmptyClientID { judgeAssignment(packet, event, hearing, &tally) }
    change { $0.accept(packet) }
  }

  /// Judges a CONNACK that is not the first.
  func judgeSecondConnack(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let first = opening.connack else { return }
    tally.violate(
      .connackComesOnce, event, hearing,
      FindingText(
        "the server sent another CONNACK than that of frame \(first.moment.frame)",
        expected: "one CONNACK", actual: packet.seen,
        evidence: hearing.evidence(first.moment, "the first CONNACK")))
  }

  private func judgeAssignment(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rules: [MQTTRule] = [
      .emptyIdentifierIsReplaced, .assignedIdentifierIsTold, .connackAssignsIdentifier,
    ]
    var isAssigned = false
    var properties = packet.properties
    while let property = properties.next() {
      if property.id == .assignedClientIdentifier {
        isAssigned = property.bytes(in: packet.bytes).byteCount > 0
      }
    }
    for rule in rules {
      if isAssigned {
        tally.satisfy(rule, hearing)
      } else if !packet.propertySet.isWhole {
        tally.leave(rule, .unreadableProperty, hearing)
      } else {
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the server accepts a client without an identifier, and gives it none",
            expected: "an Assigned Client Identifier", actual: packet.seen))
      }
    }
  }

  private func judgeResponseInformation(
    _ packet: borrowing MQTTPacketView, _ terms: Terms, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.responseInformationIsAskedFor
    let isTold = packet.propertySet.contains(.responseInformation)
    guard let wants = terms.wantsResponseInformation else {
      if isTold { tally.leave(rule, .unreadableProperty, hearing) }
      return
    }
    if !isTold, !packet.propertySet.isWhole {
      return tally.leave(rule, .unreadableProperty, hearing)
    }
    guard isTold, wants == 0 else { return tally.satisfy(rule, hearing) }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the server sent Response Information to a client that did not ask for it",
        expected: "no responseInformation", actual: packet.seen))
  }

  /// Judges whether a server accepts a will that it says it can't keep.
  private func judgeWill(
    _ packet: borrowing MQTTPacketView, code: UInt8, _ terms: Terms, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    if let qos = terms.willQoS, qos > 0, qos <= 2 {
      if code == 0x9B {
        tally.satisfy(.willQoSIsKept, hearing)
      } else if code == 0, let most = packet.number(.maximumQoS, orElse: 2), most < 2 {
        if qos <= most {
          tally.satisfy(.willQoSIsKept, hearing)
        } else {
          tally.violate(
            .willQoSIsKept, event, hearing,
            FindingText(
              "the server accepts a will of QoS \(qos), and says that it takes none above \(most)",
              expected: "a refusal by code 0x9B", actual: packet.seen))
        }
      }
    }
    guard terms.retainsWill else { return }
    if code == 0x9A { return tally.satisfy(.willIsRetained, hearing) }
    if code == 0, packet.number(.retainAvailable, orElse: 1) == 0 {
      tally.violate(
        .willIsRetained, event, hearing,
        FindingText(
          "the server accepts a will to be retained, and says that it retains nothing",
          expected: "a refusal by code 0x9A", actual: packet.seen))
    }
  }

  // MARK: Authentication

  private func judgeMethod(
    ofConnack packet: borrowing MQTTPacketView, code: UInt8, _ terms: Terms,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let method = AuthenticationMethod(packet)
    switch terms.method {
    case .unknown: break
    case .none where method == .unknown:
      tally.leave(.serverBeginsNoMethod, .unreadableProperty, hearing)
    case .none where method == .none: tally.satisfy(.serverBeginsNoMethod, hearing)
    case .none:
      tally.violate(
        .serverBeginsNoMethod, event, hearing,
        FindingText(
          "the server names an Authentication Method to a client that named none",
          expected: "no authenticationMethod", actual: packet.seen))
    case .named where code == 0:
      judgeSameMethod(method, terms, [.methodStays], packet, event, hearing, &tally)
    case .named: break
    }
  }

  /// Judges an AUTH by the method of the CONNECT, and notes whether it begins or ends an authentication.
  mutating func judgeMethod(
    ofAuth packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let terms = terms?.value else { return }
    let sender = event.context.sender
    switch terms.method {
    case .unknown: return
    case .none:
      let rules: [MQTTRule] = [
        sender == .client ? .clientBeginsNoMethod : .serverBeginsNoMethod, .authGoesWithConnect,
      ]
      for rule in rules {
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the \(sender.rawValue) sent AUTH though the CONNECT names no Authentication Method",
            expected: "no AUTH", actual: packet.seen))
      }
    case .named:
      if sender == .server, packet.reasonCode == 0 { ending.isReauthenticating = false }
      if sender == .client, packet.reasonCode == 0x19 {
        ending.isReauthenticating = true
        judgeReauthentication(packet, terms, event, hearing, &tally)
      }
      // Section 3.15.2.1 lets a plain success leave it out.
      guard packet.hasProperties || (packet.reasonCode ?? 0) != 0 else {
        for rule in [MQTTRule.methodStays, .authGoesWithConnect] {
          tally.leave(rule, .successInShort, hearing)
        }
        return
      }
      judgeSameMethod(
        AuthenticationMethod(packet), terms, [.methodStays, .authGoesWithConnect], packet, event,
        hearing, &tally)
    }
  }

  /// Judges an AUTH by which the client authenticates again (section 4.12.1).
  private func judgeReauthentication(
    _ packet: borrowing MQTTPacketView, _ terms: Terms, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.reauthenticationKeepsMethod
    guard opening.connack == nil else {
      return judgeSameMethod(
        AuthenticationMethod(packet), terms, [rule], packet, event, hearing, &tally)
    }
    // Where the server has asked for more, this is the answer to it as well.
    let rules = opening.isAuthenticating ? [rule, .clientEndsNoAuthentication] : [rule]
    let isOrderUncertain = event.context.isOrderUncertain || isOrderUncertain
    let reason = lossReason(of: .server) ?? lossReason(of: .client)
    if let reason = reason ?? (isOrderUncertain ? .orderUncertain : nil) {
      for rule in rules { tally.leave(rule, reason, hearing) }
      return
    }
    for rule in rules {
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the client authenticates again before the server has accepted it",
          expected: rule == .clientEndsNoAuthentication
            ? "AUTH with code 0x18" : "AUTH with code 0x19 behind the CONNACK",
          actual: packet.seen))
    }
  }

  private func judgeSameMethod(
    _ method: AuthenticationMethod, _ terms: Terms, _ rules: [MQTTRule],
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    for rule in rules {
      if method == .unknown || packet.missing > 0 {
        tally.leave(rule, .unreadableProperty, hearing)
      } else if method == terms.method {
        tally.satisfy(rule, hearing)
      } else {
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the \(event.context.sender.rawValue) sent \(packet.type.withArticle) without the "
              + "Authentication Method of the CONNECT",
            expected: "the same Authentication Method", actual: packet.seen))
      }
    }
  }

  /// Judges what a client with an Authentication Method sends before the CONNACK.
  func judgeBeforeConnack(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let terms = terms?.value, case .named = terms.method, opening.connack == nil,
      packet.type != .connect
    else { return }
    if packet.type == .auth || packet.type == .disconnect {
      return tally.satisfy(.authenticationComesFirst, hearing)
    }
    if let reason = lossReason(of: .server) {
      return tally.leave(.authenticationComesFirst, reason, hearing)
    }
    guard !event.context.isOrderUncertain, !isOrderUncertain else {
      return tally.leave(.authenticationComesFirst, .orderUncertain, hearing)
    }
    tally.violate(
      .authenticationComesFirst, event, hearing,
      FindingText(
        "the client, which named an Authentication Method, sent \(packet.type.name) before the "
          + "CONNACK",
        expected: "AUTH or DISCONNECT", actual: packet.seen))
  }

  // MARK: DISCONNECT of the server

  /// Judges whether a DISCONNECT of the server comes behind a CONNACK that accepts.
  func judgePlace(
    ofDisconnect packet: borrowing MQTTPacketView, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    if opening.connack?.code == 0 { return tally.satisfy(.disconnectComesLater, hearing) }
    if let reason = lossReason(of: .server) {
      return tally.leave(.disconnectComesLater, reason, hearing)
    }
    tally.violate(
      .disconnectComesLater, event, hearing,
      FindingText(
        opening.connack == nil
          ? "the server sent DISCONNECT before any CONNACK"
          : "the server sent DISCONNECT behind a CONNACK that refuses",
        expected: "CONNACK with code 0x00 first", actual: packet.seen))
  }

  /// Judges at the end of a connection what only its whole shows.
  func closeTerms(_ hearing: Hearing, _ tally: inout Tally) {
    if opening.connack != nil, is5 {
      if let reason = hearing.givingUp ?? lossReason(of: .server) {
        tally.leave(.connackComesOnce, reason, hearing)
      } else {
        tally.satisfy(.connackComesOnce, hearing)
      }
    }
    guard let terms = terms?.value, terms.method == .none else { return }
    if let reason = hearing.givingUp ?? lossReason(of: .client) {
      tally.leave(.clientBeginsNoMethod, reason, hearing)
    } else {
      tally.satisfy(.clientBeginsNoMethod, hearing)
    }
  }
}
