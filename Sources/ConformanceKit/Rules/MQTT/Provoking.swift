internal import RepriseCore
internal import Wire

/// What a packet is that its receiver may have to notice, and how its connection stood before it.
struct Provocation {
  let isSecondConnect: Bool
  /// Whether it came in a frame of text.
  let isInText: Bool
  /// Errors that its receiver need not look for.
  let errors: [MQTTRule]
  /// The answer that is due to it.
  let answer: AwaitedAnswer?
  let hasConnack: Bool
}

// What a capture shows only where one end happens to provoke the other: sections 2.2.2, 3.1, 3.8.3,
// 3.14.1 and 4.8.
extension ConnectionState {
  /// What is in a packet that its receiver may have to notice; nil for most.
  ///
  /// To be asked before the packet is one of those that are open.
  @inline(__always)
  mutating func provocation(
    by packet: borrowing MQTTPacketView, isFaultless: Bool, isInText: Bool, is5: Bool,
    _ context: EventContext
  ) -> Provocation? {
    let sender = context.sender
    let isSecondConnect =
      sender == .client && packet.type == .connect && opening.connect != nil
    var errors: [MQTTRule] = []
    if is5 {
      errors = self.errors(in: packet, context)
    } else if !isFaultless {
      errors = Self.errorsOfName(in: packet, of: sender)
    }
    let isForeign = is5 && opening.connack == nil && isOfForeignSession(packet)
    guard !isFaultless || isSecondConnect || isInText || isForeign || !errors.isEmpty else {
      return nil
    }
    return Provocation(
      isSecondConnect: isSecondConnect, isInText: isInText, errors: errors,
      answer: packet.type == .pingreq ? nil : awaitedAnswer(to: packet, from: sender),
      hasConnack: opening.connack != nil)
  }

  /// Looks for the clauses about its receiver that a bad packet provokes.
  /// - Parameters:
  ///   - packet: The packet, which has faults or is a second CONNECT.
  ///   - sender: The end that sent it.
  ///   - isSecondConnect: Whether the client had sent a CONNECT before.
  ///   - isForbidden: Whether a clause of the packet asks for the close as well.
  /// - Returns: The clauses by which the receiver must close, besides those of the packet.
  func provocations(
    by packet: borrowing MQTTPacketView, from sender: Peer, isSecondConnect: Bool,
    isForbidden: Bool
  ) -> [MQTTRule] {
    let faults = packet.faults
    func has(_ code: MQTTFault.Code, _ field: MQTTField) -> Bool {
      faults.contains { $0.code == code && $0.field == field }
    }
    var rules: [MQTTRule] = []
    // In 5.0 nobody has to notice them but where a clause of the packet says so.
    if !is5, has(.reservedFlags, .fixedHeader) { rules.append(.wrongFlagsClose) }
    if is5, sender == .server, packet.type == .disconnect, has(.reservedFlags, .fixedHeader) {
      rules.append(.disconnectFlagsClose)
    }
    if is5, sender == .server, isOfForeignSession(packet) {
      rules.append(.clientLeavesForeignSession)
    }
    if sender == .client {
      switch packet.type {
      case .connect:
        if has(.reservedConnectFlag, .connectFlags) { rules.append(.reservedConnectFlagCloses) }
        if isSecondConnect, lossReason(of: .client) == nil { rules.append(.secondConnectCloses) }
      case .subscribe:
        // A QoS of 3 is no reserved bit in 5.0.
        if has(.reservedOptionBits, .subscriptionOptions)
          || (!is5 && has(.invalidQoS, .subscriptionOptions))
        {
          rules.append(.badOptionsClose)
        }
      case .disconnect where has(.reservedFlags, .fixedHeader): rules.append(.disconnectFlagsClose)
      default: break
      }
    }
    // These are what the standard calls protocol violations, or asks a close for by other words.
    // In 5.0 only a server is bound, and only by what it has to check.
    let isViolation = isForbidden || !rules.isEmpty || (!is5 && has(.emptyList, .filter))
    if isViolation, !is5 || sender == .client { rules.append(.violationCloses) }
    return rules
  }

  /// Whether a CONNACK says that there is a session to a client that has thrown its own away.
  func isOfForeignSession(_ packet: borrowing MQTTPacketView) -> Bool {
    packet.type == .connack && packet.reasonCode == 0 && packet.sessionPresent
      && opening.connect?.cleanStart == true && lossReason(of: .client) == nil
  }

  // MARK: CONNECT

  /// Judges how a CONNECT was taken by the CONNACK that answers it.
  func judgeAcceptance(
    of connect: ConnectFacts, code: UInt8, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let frame = connect.moment.frame
    let seen = "CONNACK code \(code.hexadecimal)"
    if connect.isMalformed {
      if code == 0 {
        tally.violate(
          .connectIsValidated, event, hearing,
          FindingText(
            "the server accepts the malformed CONNECT of frame \(frame)",
            expected: is5
              ? "the end of the connection, without CONNACK or behind one that refuses"
              : "the end of the connection without CONNACK", actual: seen,
            evidence: hearing.evidence(connect.moment, "the malformed CONNECT")))
      } else if isRefusal(code), is5 {
        tally.satisfy(.connectIsValidated, hearing)
      } else {
        tally.leave(.connectIsValidated, .otherCode, hearing, at: connect.moment)
      }
    }
    if connect.hasEmptyID, code != 2 {
      if code == 0 {
        tally.violate(
          .emptyIdentifierIsRefused, event, hearing,
          FindingText(
            "the server accepts the CONNECT of frame \(frame), which has neither a client identifier "
              + "nor Clean Session", expected: "code 0x02, and then the end", actual: seen,
            evidence: hearing.evidence(connect.moment, "CONNECT")))
      } else {
        tally.leave(.emptyIdentifierIsRefused, .otherCode, hearing, at: connect.moment)
      }
    }
    guard connect.hasPlainID else { return }
    if code == 0 { tally.satisfy(.plainIdentifierIsAllowed, hearing) }
    guard code == (is5 ? 0x85 : 2) else { return }
    if connect.hasCredentials || hasOtherCredentials {
      tally.leave(.plainIdentifierIsAllowed, .serverPolicy, hearing, at: connect.moment)
    } else {
      tally.violate(
        .plainIdentifierIsAllowed, event, hearing,
        FindingText(
          "the server rejects the client identifier of frame \(frame), which has 1 to 23 letters and "
            + "digits", expected: "another code than \(is5 ? "0x85" : "0x02")", actual: seen,
          evidence: hearing.evidence(connect.moment, "CONNECT")))
    }
  }

  /// Whether the client may be known to the server by something else than its CONNECT: a certificate of TLS, or what stands
  /// in the handshake of WebSocket.
  private var hasOtherCredentials: Bool {
    guard !identity.isOverTLS else { return true }
    guard let webSocket = rare?.value.webSocket, webSocket.isSeen else { return false }
    guard let request = webSocket.request else { return true }
    return request.mayHaveCredentials
  }

  /// Looks at the code of a CONNACK.
  func judgeCode(
    _ code: UInt8, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard code != 0 else { return }
    guard code > 5 else { return tally.satisfy(.connackCodeIsDefined, hearing) }
    // By 5.0 section 3.1.2.2 a server that speaks nothing else may say so, which is the clause of no server of 3.1.1.
    guard code != 0x84 else { return tally.leave(.connackCodeIsDefined, .otherCode, hearing) }
    tally.violate(
      .connackCodeIsDefined, event, hearing,
      FindingText(
        "the server sent a CONNACK with a code of its own",
        expected: "a code from 0x00 to 0x05, or the end without CONNACK",
        actual: "CONNACK code \(code.hexadecimal)"))
  }

  /// Judges what became of a bad CONNECT that no CONNACK answered.
  func closeBadConnect(
    _ connect: ConnectFacts, _ close: Closing, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let reason: UndecidedReason? =
      close.how == .endOfCapture
      ? .endOfCapture
      : server.hasGap ? .serverGap : close.first == .client ? .senderClosedFirst : nil
    if connect.isMalformed {
      if let reason {
        tally.leave(.connectIsValidated, reason, hearing, at: connect.moment)
      } else {
        tally.satisfy(.connectIsValidated, hearing)
      }
    }
    if connect.hasEmptyID {
      tally.leave(.emptyIdentifierIsRefused, reason ?? .answererClosed, hearing, at: connect.moment)
    }
  }

  // MARK: Refusals

  /// Looks at a packet of the server behind its refusal: it may answer nothing any more.
  mutating func serverServesRefused(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let refusal = opening.connack, isRefusal(refusal.code), !refusal.isOfOlderServer else {
      return
    }
    switch packet.type {
    case .puback, .pubrec, .pubcomp, .suback, .unsuback, .pingresp: break
    default: return
    }
    opening.connack?.hasServed = true
    tally.violate(
      .refusedIsNotServed, event, hearing,
      FindingText(
        "the server answers a client that it refused in frame \(refusal.moment.frame)",
        expected: "no answer behind CONNACK code \(refusal.code.hexadecimal)", actual: packet.seen,
        evidence: hearing.evidence(refusal.moment, "the CONNACK that refuses")))
  }

  /// Judges at the end whether a server left alone what a refused client had sent.
  func closeServing(
    _ refusal: ConnackFacts, _ close: Closing, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard opening.hasAsked, !refusal.hasServed else { return }
    if close.how == .endOfCapture {
      tally.leave(.refusedIsNotServed, .endOfCapture, hearing, at: refusal.moment)
    } else if server.isDeaf {
      tally.leave(.refusedIsNotServed, .serverGap, hearing, at: refusal.moment)
    } else if close.first == .client {
      tally.leave(.refusedIsNotServed, .clientClosedFirst, hearing, at: refusal.moment)
    } else {
      tally.satisfy(.refusedIsNotServed, hearing)
    }
  }
}
