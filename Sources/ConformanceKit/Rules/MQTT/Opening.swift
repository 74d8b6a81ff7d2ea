internal import RepriseCore
internal import Wire

/// What is known of CONNECT and CONNACK.
struct OpeningState {
  var connect: ConnectFacts?
  var connack: ConnackFacts?
  /// Whether the client sent anything behind its CONNECT that asks for an answer.
  var hasAsked = false
  /// Whether all that the server has sent is AUTH, which may come before CONNACK.
  var isAuthenticating = false
}

/// What the CONNECT said.
struct ConnectFacts {
  var moment: Moment
  var cleanStart: Bool
  var keepAlive: UInt16
  var isFaulty: Bool
  /// Whether it breaks what section 3.1 asks of it, but for its level and an empty identifier.
  var isMalformed = false
  /// Whether it has neither an identifier nor Clean Session.
  var hasEmptyID = false
  /// Whether its identifier has 1 to 23 letters and digits of ASCII.
  var hasPlainID = false
  /// Whether it says who the client is, to whom the identifier may be denied that others may have.
  var hasCredentials = false
  /// Whether no CONNACK came yet that could be its answer.
  var isOpen = true
  /// How long the session is to outlive the connection, in seconds (5.0); nil where that is not known.
  var sessionExpiry: UInt32? = 0
  /// Whether it names a method of authentication (5.0).
  var hasMethod = false
  /// Whether it says that it is a bridge, to which servers pass on RETAIN as it was published.
  var isBridge = false
}

/// What the CONNACK said.
struct ConnackFacts {
  var moment: Moment
  var code: UInt8
  var sessionPresent: Bool
  /// Whether it refused, and it is not decided yet what the server did then.
  var isRefusalOpen: Bool
  /// Whether the server answered something behind its refusal.
  var hasServed = false
  /// Whether a server of an earlier version may have sent it in answer to a CONNECT of 5.0.
  var isOfOlderServer = false
  /// Whether all its properties could be read (5.0).
  var isRead = true
  /// The Keep Alive that the server wants instead, in seconds (5.0).
  var serverKeepAlive: UInt16?
  /// How long the session is to outlive the connection, in seconds, if the server says so (5.0).
  var sessionExpiry: UInt32?
}

// CONNECT and CONNACK: sections 3.1 and 3.2.
extension ConnectionState {
  /// Looks at the first packet of a peer, and at those behind the AUTH of a server that begins with it.
  mutating func begin(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let rule: MQTTRule = sender == .client ? .firstIsConnect : .firstIsConnack
    let required: MQTTPacketType = sender == .client ? .connect : .connack
    let isBehindAuth = sender == .server && opening.isAuthenticating
    if sender == .server { opening.isAuthenticating = false }
    if let reason = lossReason(of: sender) { return tally.leave(rule, reason, hearing) }
    // A CONNECT that is not the first is another matter; one that is seen first is one anyway.
    if packet.type == required { return tally.satisfy(rule, hearing) }
    // AUTH may come before CONNACK (5.0 section 3.2), and the next packet is judged in its place.
    if sender == .server, packet.type == .auth, is5 {
      opening.isAuthenticating = true
      return tally.satisfy(rule, hearing)
    }
    // CONNECT comes first in every version; but bytes that break rules may be no MQTT at all.
    let isOfAnyVersion =
      sender == .client && packet.type != .reserved && packet.missing == 0 && !packet.hasFaults
    let name = packet.type.name
    let place =
      isBehindAuth ? "packet behind AUTH, before its CONNACK," : "packet on the connection"
    tally.violate(
      rule, event, hearing, isOfAnyVersion: isOfAnyVersion,
      FindingText(
        "the \(sender.rawValue)'s first \(place) is \(name)",
        expected: "\(required.name)",
        actual: packet.seen))
  }

  mutating func clientConnects(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    // A second CONNECT is a violation of its own and must not change what the first one said.
    guard opening.connect == nil, let fields = packet.connect else { return }
    opening.connect = ConnectFacts(
      moment: Moment(context), cleanStart: fields.cleanStart, keepAlive: fields.keepAlive,
      isFaulty: !packet.isSound(context))
    identity.take(fields, on: context.connection)
    opening.connect?.isBridge = fields.isBridge
    if packet.missing == 0 { opening.connect?.look(at: packet, clientID: fields.clientID) }
    guard is5 else { return life.silence.start(at: Moment(context)) }
    beginTerms(packet)
    opening.connect?.sessionExpiry = packet.number(.sessionExpiryInterval, orElse: 0)
    opening.connect?.hasMethod = packet.propertySet.contains(.authenticationMethod)
  }

  mutating func serverAccepts(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let code = packet.reasonCode else { return }
    if !is5 { judgeCode(code, event, hearing, &tally) }
    guard opening.connack == nil else {
      if is5 { judgeSecondConnack(packet, event, hearing, &tally) }
      return
    }
    opening.connack = ConnackFacts(
      moment: Moment(event.context), code: code, sessionPresent: packet.sessionPresent,
      isRefusalOpen: isRefusal(code))
    opening.connect?.isOpen = false
    if is5 {
      opening.connack?.look(at: packet)
      judgeTerms(ofConnack: packet, code: code, event, hearing, &tally)
    }
    if let connect = opening.connect {
      judgeAcceptance(of: connect, code: code, event, hearing, &tally)
    }
    if is5 {
      life.silence.startAccepted(at: Moment(event.context))
    } else {
      life.silence.noteConnack(at: event.context.time)
    }
    guard code == 0 else { return }
    guard let connect = opening.connect else {
      return tally.leave(.cleanSessionIsNew, .connectNotSeen, hearing)
    }
    tally.satisfy(.connectIsAnswered, hearing)
    guard connect.cleanStart else { return }
    guard packet.sessionPresent else { return tally.satisfy(.cleanSessionIsNew, hearing) }
    // By the server's own word it did not throw the old session away.
    let rules: [MQTTRule] =
      is5
      ? [.cleanSessionIsNew, .cleanStartEndsSession, .cleanStartIsCarriedOut]
      : [.cleanSessionIsNew, .cleanStartIsCarriedOut]
    for rule in rules {
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the server says that a session is present to a client that asked for a clean one",
          expected: "Session Present 0", actual: "Session Present 1"))
    }
  }

  /// Notes whether the client asks for anything behind its CONNECT.
  mutating func noteRequest(_ packet: borrowing MQTTPacketView) {
    guard opening.connect != nil, packet.type != .connect else { return }
    opening.hasAsked = packet.type.answer(toQoS: packet.qos) != nil
  }

  /// Looks at a packet that the server sends behind a refusal.
  mutating func serverGoesOnAfterRefusal(
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let refusal = opening.connack, !clocks.differ,
      event.context.time.isLate(since: refusal.moment.time)
    else { return }
    _ = takeRefusal()
    violateRefusal(
      refusal, event,
      "the server goes on sending more than 30 s after the refusal of frame "
        + "\(refusal.moment.frame)", until: event.context.time, hearing, &tally)
  }

  /// Judges what followed a refusal when the connection is over.
  mutating func closeRefusal(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let refusal = takeRefusal() else { return }
    let hearing = hearing.of(.server)
    closeServing(refusal, close, hearing, &tally)
    let rules = refusalRules(refusal.code)
    let isLate = close.time.isLate(since: refusal.moment.time)
    if close.how == .endOfCapture {
      for rule in rules { tally.leave(rule, .endOfCapture, hearing, at: refusal.moment) }
    } else if server.isDeaf {
      for rule in rules { tally.leave(rule, .serverGap, hearing, at: refusal.moment) }
    } else if isLate, clocks.differ {
      for rule in rules { tally.leave(rule, clocks.doubt, hearing, at: refusal.moment) }
    } else if isLate, close.first == .client, close.how == .reset || !close.isAnswered {
      // A server whose FIN got lost is gone, and does not close once more.
      for rule in rules { tally.leave(rule, .serverMayBeGone, hearing, at: refusal.moment) }
    } else if isLate, !close.showsLateness(of: .server, since: refusal.moment.time) {
      for rule in rules { tally.leave(rule, .endCapturedLate, hearing, at: refusal.moment) }
    } else if isLate {
      violateRefusal(
        refusal, event,
        "the server left the connection open for more than 30 s after the refusal of frame "
          + "\(refusal.moment.frame), until the \(close.first.rawValue) closed it",
        until: close.time, hearing, &tally)
    } else if close.first == .server {
      for rule in rules { tally.satisfy(rule, hearing) }
    } else {
      for rule in rules { tally.leave(rule, .clientClosedFirst, hearing, at: refusal.moment) }
    }
  }

  private mutating func takeRefusal() -> ConnackFacts? {
    guard let refusal = opening.connack, refusal.isRefusalOpen else { return nil }
    opening.connack?.isRefusalOpen = false
    return refusal
  }

  /// The clauses that ask for the close after a code.
  func refusalRules(_ code: UInt8) -> [MQTTRule] {
    guard !is5 else {
      var always: [MQTTRule] = [.refusalCloses, .failedCheckCloses, .failureCloses]
      if opening.connect?.hasMethod == true { always.append(.refusedAuthenticationCloses) }
      if opening.connect?.hasMethod == true, code == 0x8C { always.append(.unknownMethodCloses) }
      switch code {
      case 0x84: return always + [.refusedLevelCloses]
      case 0x85: return always + [.refusedIdentifierCloses]
      default: return always
      }
    }
    return switch code {
    case 1: [.refusalCloses, .refusedLevelCloses]
    case 2 where opening.connect?.hasEmptyID == true:
      [.refusalCloses, .refusedIdentifierCloses, .emptyIdentifierIsRefused]
    case 2: [.refusalCloses, .refusedIdentifierCloses]
    default: [.refusalCloses]
    }
  }

  private func violateRefusal(
    _ refusal: ConnackFacts, _ event: borrowing EventView, _ message: String,
    until end: Timestamp, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let wait = end.seconds(since: refusal.moment.time)
    for rule in refusalRules(refusal.code) {
      tally.violate(
        rule, event, hearing,
        FindingText(
          message,
          expected: "the server closes within 30 s of CONNACK code \(refusal.code.hexadecimal)",
          actual: "open for \(wait)"))
    }
  }

  /// Judges a CONNECT that was never answered.
  func closeConnect(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    if let connect = opening.connect, connect.isOpen {
      closeBadConnect(connect, close, hearing, &tally)
    }
    guard let connect = opening.connect, connect.isOpen, !server.hasGap else {
      if let connect = opening.connect, connect.isOpen {
        tally.leave(.connectIsAnswered, .serverGap, hearing, at: connect.moment)
      }
      return
    }
    guard !connect.isFaulty else {
      return tally.leave(.connectIsAnswered, .faultyRequest, hearing, at: connect.moment)
    }
    guard !connect.hasMethod else {
      return tally.leave(.connectIsAnswered, .authenticating, hearing, at: connect.moment)
    }
    switch absence(since: connect.moment.time, by: .server, at: close) {
    case .undecided(let reason):
      tally.leave(.connectIsAnswered, reason, hearing, at: connect.moment)
    case .violation:
      tally.violate(
        .connectIsAnswered, event, hearing,
        FindingText(
          "the server never answered the CONNECT of frame \(connect.moment.frame), though it went "
            + "on sending for more than 30 s", expected: "CONNACK",
          actual: "none in \(close.time.seconds(since: connect.moment.time))",
          evidence: hearing.evidence(connect.moment, "CONNECT")))
    }
  }
}

extension ConnackFacts {
  /// Notes what the properties of a CONNACK of 5.0 say.
  fileprivate mutating func look(at packet: borrowing MQTTPacketView) {
    isOfOlderServer = packet.isOfOlderServer
    if isOfOlderServer { isRefusalOpen = false }
    guard packet.missing == 0, packet.propertySet.isWhole else {
      isRead = false
      return
    }
    for id in [MQTTPropertyID.serverKeepAlive, .sessionExpiryInterval]
    where packet.propertySet.contains(id) && packet.number(id, orElse: 0) == nil { isRead = false }
    if packet.propertySet.contains(.serverKeepAlive) {
      serverKeepAlive = packet.number(.serverKeepAlive, orElse: 0).map(
        UInt16.init(truncatingIfNeeded:))
    }
    if packet.propertySet.contains(.sessionExpiryInterval) {
      sessionExpiry = packet.number(.sessionExpiryInterval, orElse: 0)
    }
  }
}

extension MQTTPacketView {
  /// The value of a property that is a number.
  /// - Parameters:
  ///   - id: The property.
  ///   - value: What holds where it is not there.
  /// - Returns: The value; nil where it is not known, be it that it can't be read, stands twice, or is none that it
  ///   may have.
  func number(_ id: MQTTPropertyID, orElse value: UInt32) -> UInt32? {
    guard hasProperties, propertySet.isWhole else {
      // Some packets may end in front of them.
      return !hasProperties && missing == 0 && faults.isEmpty ? value : nil
    }
    guard propertySet.contains(id) else { return value }
    let isBad = faults.contains {
      $0.property == id && ($0.code == .repeatedProperty || $0.code == .invalidPropertyValue)
    }
    return isBad ? nil : properties.integer(id).flatMap { UInt32(exactly: $0) }
  }
}

extension ConnectionState {
  /// How long the session outlives the connection, in seconds (5.0); nil where that is not known.
  var sessionExpiry: UInt32? {
    // What a client retells of itself may lack properties.
    guard hasPings, let connect = opening.connect, let connack = opening.connack, connack.isRead
    else { return nil }
    return lastExpiry ?? connack.sessionExpiry ?? connect.sessionExpiry
  }

  /// Takes the expiry that the client's DISCONNECT sets anew.
  mutating func noteExpiry(of disconnect: borrowing MQTTPacketView) {
    if disconnect.propertySet.contains(.sessionExpiryInterval) || disconnect.missing > 0 {
      // One that can't be read, or was not captured, may be any.
      lastExpiry = disconnect.number(.sessionExpiryInterval, orElse: 0) ?? .max
    }
  }
}

extension ConnectFacts {
  /// Notes what clauses about the server want to know of a CONNECT.
  fileprivate mutating func look(at packet: borrowing MQTTPacketView, clientID: RawSpan) {
    let faults = packet.faults
    hasEmptyID = faults.contains { $0.code == .emptyClientID }
    hasCredentials =
      packet.connect?.hasUsername == true || packet.propertySet.contains(.authenticationMethod)
    isMalformed = faults.contains {
      switch $0.code {
      case .fieldCut, .invalidUTF8, .nullCharacter, .invalidQoS, .reservedConnectFlag,
        .willQoSWithoutWill, .willRetainWithoutWill, .passwordWithoutUserName, .unknownProperty,
        .propertyCut, .propertyNotAllowed, .repeatedProperty:
        true
      case .invalidPropertyValue: $0.property != .payloadFormatIndicator
      default: false
      }
    }
    guard faults.isEmpty, (1...23).contains(clientID.byteCount) else { return }
    hasPlainID = clientID.withUnsafeBytes { bytes in
      bytes.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
      }
    }
  }
}
