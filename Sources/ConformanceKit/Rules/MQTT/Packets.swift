internal import RepriseCore
internal import Wire

// What a single packet of MQTT 5.0 must or must not hold by who sends it, or by what else is in it: nothing that
// its format alone says.
extension MQTTJudge {
  /// Judges a packet by these rules.
  @inline(__always)
  static func judgePacket(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    switch packet.type {
    // A server forwards what it was given.
    case .publish where event.context.sender == .client:
      judgePublish(packet, event, hearing, &tally)
    case .connect: judgeConnect(packet, event, hearing, &tally)
    case .disconnect where event.context.sender == .server:
      judge(
        .noExpiryFromServer, packet, .sessionExpiryInterval,
        "the server sent a DISCONNECT with a Session Expiry Interval", event, hearing, &tally)
    case .auth: judgeAuth(packet, event, hearing, &tally)
    default: break
    }
  }

  /// Judges a packet that must not hold a property.
  private static func judge(
    _ rule: MQTTRule, _ packet: borrowing MQTTPacketView, _ property: MQTTPropertyID,
    _ message: String, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    if packet.propertySet.contains(property) {
      return tally.violate(
        rule, event, hearing,
        FindingText(
          message, expected: "no \(property.name)", actual: "\(packet.seen) with \(property.name)"))
    }
    // A packet may end in front of the properties.
    if packet.propertySet.isWhole || (!packet.hasProperties && packet.isFaultless) {
      return tally.satisfy(rule, hearing)
    }
    tally.leave(
      rule, packet.missing > 0 ? .incompletePacket : .unreadableProperty, hearing)
  }

  // MARK: PUBLISH

  private static func judgePublish(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    judge(
      .noSubscriptionIdentifierFromClient, packet, .subscriptionIdentifier,
      "the client sent a PUBLISH with a Subscription Identifier", event, hearing, &tally)
    guard packet.propertySet.contains(.payloadFormatIndicator) else { return }
    let faults = packet.faults
    if faults.contains(where: { $0.isRepeated(.payloadFormatIndicator, in: .properties) }) {
      return tally.violate(
        .payloadIsText, event, hearing,
        FindingText(
          "the client sent a PUBLISH with two Payload Format Indicators",
          expected: "one Payload Format Indicator at most", actual: packet.seen))
    }
    guard packet.properties.integer(.payloadFormatIndicator) == 1 else {
      return tally.satisfy(.payloadIsText, hearing)
    }
    if packet.payload.isHidden { return tally.leave(.payloadIsText, .hidden, hearing) }
    judgeText(.payloadIsText, packet.payload, "payload", packet, event, hearing, &tally)
  }

  /// Judges bytes that a Payload Format Indicator calls UTF-8; U+0000 may be in them.
  private static func judgeText(
    _ rule: MQTTRule, _ text: RawSpan, _ name: String, _ packet: borrowing MQTTPacketView,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    if packet.missing > 0 { return tally.leave(rule, .incompletePacket, hearing) }
    guard let offset = UTF8Text.firstInvalidByte(in: text) else {
      return tally.satisfy(rule, hearing)
    }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the client calls a \(name) UTF-8 by Payload Format Indicator 1 that is none",
        expected: "a \(name) in UTF-8", actual: "no UTF-8 from byte \(offset) of the \(name) on"))
  }

  // MARK: CONNECT

  private static func judgeConnect(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let connect = packet.connect, packet.missing == 0 else { return }
    let faults = packet.faults
    if packet.propertySet.contains(.authenticationData) {
      let isRepeated = faults.contains { $0.isRepeated(.authenticationData, in: .properties) }
      let hasMethod = packet.propertySet.contains(.authenticationMethod)
      if isRepeated || (!hasMethod && packet.propertySet.isWhole) {
        tally.violate(
          .authenticationDataNeedsMethod, event, hearing,
          FindingText(
            "the client sent a CONNECT with Authentication Data "
              + (isRepeated ? "twice" : "and no Authentication Method"),
            expected: "Authentication Data once, with an Authentication Method",
            actual: packet.seen))
      } else if hasMethod, packet.propertySet.isWhole {
        tally.satisfy(.authenticationDataNeedsMethod, hearing)
      } else {
        tally.leave(.authenticationDataNeedsMethod, .unreadableProperty, hearing)
      }
    }
    guard connect.willPropertySet.contains(.payloadFormatIndicator) else { return }
    if faults.contains(where: { $0.isRepeated(.payloadFormatIndicator, in: .willProperties) }) {
      return tally.violate(
        .willIsText, event, hearing,
        FindingText(
          "the client sent a CONNECT whose will has two Payload Format Indicators",
          expected: "one Payload Format Indicator at most", actual: packet.seen))
    }
    guard !faults.contains(where: { $0.code == .fieldCut }) else {
      return tally.leave(.willIsText, .earlierFieldCut, hearing)
    }
    guard connect.willProperties.integer(.payloadFormatIndicator) == 1 else {
      return tally.satisfy(.willIsText, hearing)
    }
    if connect.willPayload.isHidden { return tally.leave(.willIsText, .hidden, hearing) }
    judgeText(
      .willIsText, connect.willPayload, "will message", packet, event, hearing, &tally)
  }

  // MARK: AUTH

  private static func judgeAuth(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let rule: MQTTRule =
      sender == .server ? .serverBeginsNoAuthentication : .clientEndsNoAuthentication
    let forbidden: UInt8 = sender == .server ? 0x19 : 0
    if let code = packet.explicitReasonCode {
      if code == forbidden {
        tally.violate(
          rule, event, hearing,
          FindingText(
            sender == .server
              ? "the server asks by AUTH for another authentication, which only a client may"
              : "the client says by AUTH that an authentication succeeded, which only a server may",
            expected: sender == .server ? "code 0x00 or 0x18" : "code 0x18 or 0x19",
            actual: "AUTH code \(code.hexadecimal)"))
      } else if code == 0x18, packet.isFaultless {
        tally.satisfy(rule, hearing)
      }
    }
    judgeMethod(of: packet, event, hearing, &tally)
  }

  /// Judges whether an AUTH names its method, once.
  private static func judgeMethod(
    of packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rule = MQTTRule.authHasMethod
    let isRepeated = packet.faults.contains {
      $0.isRepeated(.authenticationMethod, in: .properties)
    }
    if packet.propertySet.contains(.authenticationMethod), !isRepeated {
      guard packet.propertySet.isWhole else {
        return tally.leave(rule, .unreadableProperty, hearing)
      }
      return tally.satisfy(rule, hearing)
    }
    guard packet.missing == 0 else { return tally.leave(rule, .incompletePacket, hearing) }
    // Section 3.15.2.1 lets a success without properties leave everything out, against section 3.15.2.2.2; what it may
    // leave out says the same where it is there.
    let hasNone =
      !packet.hasProperties || packet.propertySet.isEmpty && packet.propertySet.isWhole
    let isPlain = hasNone && (packet.reasonCode ?? 0) == 0
    let isUnread = packet.hasProperties && !packet.propertySet.isWhole
    let isCut = packet.faults.contains {
      $0.field == .properties && ($0.code == .fieldCut || $0.code == .noPropertyLength)
    }
    guard isRepeated || !(isPlain || isUnread || isCut) else {
      return tally.leave(rule, isPlain ? .successInShort : .unreadableProperty, hearing)
    }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the \(event.context.sender.rawValue) sent an AUTH with "
          + (isRepeated ? "two Authentication Methods" : "no Authentication Method"),
        expected: "one Authentication Method", actual: packet.seen))
  }
}

extension MQTTPacketView {
  /// Whether it is all there, and breaks no rule of its format.
  fileprivate var isFaultless: Bool { missing == 0 && faults.isEmpty }
}

extension MQTTFault {
  /// Whether it is the repetition of a property.
  fileprivate func isRepeated(_ id: MQTTPropertyID, in field: MQTTField) -> Bool {
    code == .repeatedProperty && property == id && self.field == field
  }
}
