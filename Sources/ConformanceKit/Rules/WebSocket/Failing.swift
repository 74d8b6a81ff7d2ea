internal import RepriseCore
internal import Wire

/// A frame or an answer for which its receiver must fail the connection, until it is known what it did.
struct FrameOffence {
  var sender: Peer
  var moment: Moment
  /// What it is, for a reader.
  var name: String
  var rules: [RuleIndex]
  /// Whether the message that holds it goes on: its receiver may look at the text of a whole one only.
  var isUnfinished = false
  /// What Pings of the sender from then on hold, and nothing before them did: that of a bad one, and of one that came late enough.
  var pings: [[UInt8]] = []
  /// Whether the receiver sent since what may have been on its way: data, or anything so much later
  /// that it can't have been under way as long as all else.
  var hasData = false
  /// Whether the receiver of bad text answered that Ping: it may read texts later than it answers Pings.
  var isAnswered = false
  /// What it sent behind that answer, as one sends that has read on.
  var sequel: Event?

  /// Whether its receiver must fail the connection, and has no choice.
  var asksForFailure: Bool { rules.contains { $0 != FrameRule.dataIsChecked.index } }

  /// The memory that it takes, in bytes.
  var reserved: Int { pings.reduce(0) { $0 + $1.grownSize } + (sequel == nil ? 0 : 8 << 10) }
}

// What a receiver must do about what breaks a rule: sections 4.1, 4.2, 5.1, 5.2, 8.1 and 9.1.
extension WebSocketState {
  /// Notes a bad frame; the first one counts.
  mutating func offend(
    _ frame: borrowing WebSocketFrameView, _ faults: FrameFaults, _ context: EventContext,
    isFreshPing: Bool
  ) {
    let sender = context.sender
    // The message with bad text is over: from here on its receiver is held to account.
    if offence?.sender == sender, frame.opcode == .continuation, frame.header.isFinal {
      offence?.isUnfinished = false
    }
    // An endpoint that has sent a Close frame closes anyway.
    guard offence == nil, self[sender.other].close == nil else {
      if isFreshPing { notePing(frame, context) }
      return
    }
    var rules: [FrameRule] = []
    if knowsRoles {
      if faults[.unmaskedFromClient] != nil { rules.append(.serverClosesOnNoMask) }
      if faults[.maskedFromServer] != nil { rules.append(.clientClosesOnMask) }
    }
    switch negotiation {
    case .nothing, .deflate:
      if faults[.reservedBits] != nil { rules.append(.receiverFailsOnBits) }
      if faults[.reservedOpcode] != nil { rules.append(.receiverFailsOnOpcode) }
    case .unknown, .other: break
    }
    var isUnfinished = false
    if faults[.invalidText] != nil || faults[.invalidReason] != nil {
      isUnfinished = frame.opcode != .close && !frame.header.isFinal
      if rules.isEmpty || !isUnfinished { rules.append(.receiverFailsOnText) }
      isUnfinished = isUnfinished && rules == [.receiverFailsOnText]
    }
    if negotiation.isKnown, faults.areToBeNoticed { rules.append(.dataIsChecked) }
    guard !rules.isEmpty else { return }
    offence = FrameOffence(
      sender: sender, moment: Moment(context), name: "\(frame.opcode.name) frame",
      rules: rules.map(\.index), isUnfinished: isUnfinished)
    // A receiver that answers what is bad has taken it for good.
    if isFreshPing { offence?.pings = [[UInt8](copying: frame.payload)] }
  }

  /// Tells whether a Pong with the data of a Ping can answer none but that, or one behind it.
  ///
  /// An endpoint may answer the last of several Pings only, and may answer the others later all the same;
  /// and it may send a Pong that nobody asked for, which is mostly empty (section 5.5.3).
  func isFresh(_ ping: borrowing WebSocketFrameView, from sender: Peer) -> Bool {
    guard ping.opcode == .ping, ping.missing == 0, ping.payload.byteCount > 0, response != nil,
      !self[.client].mayHaveClosed, !self[.server].mayHaveClosed
    else { return false }
    return !self[sender].pings.hasMet(PingData(ping.payload))
  }

  /// Notes a Ping behind a bad frame: a receiver that answers it has gone on.
  ///
  /// One that came so soon behind the bad frame may be answered while the receiver is about to fail the connection.
  private mutating func notePing(
    _ frame: borrowing WebSocketFrameView, _ context: EventContext
  ) {
    guard let offence, offence.sender == context.sender, !offence.isUnfinished,
      offence.pings.count < 2,
      context.time.isBehindLeniency(since: offence.moment.time)
    else { return }
    self.offence?.pings.append([UInt8](copying: frame.payload))
  }

  /// Looks whether the receiver of what breaks a rule goes on.
  mutating func judgeFailing(
    _ frame: borrowing WebSocketFrameView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let offence, offence.sender != event.context.sender else { return }
    if frame.opcode == .close {
      noteFailure(offence, by: frame, event.context)
      return judgeFailing(offence, by: frame, hearing, &tally)
    }
    let isAnswer =
      frame.opcode == .pong && offence.pings.contains([UInt8](copying: frame.payload))
    guard isAnswer else {
      // Before the last fragment nothing is asked of the receiver.
      guard !offence.isUnfinished else { return }
      if offence.isAnswered, offence.sequel == nil, !frame.opcode.isControl {
        self.offence?.sequel = Event(copying: event.start(of: 4 << 10))
      }
      let isLate = event.context.time.isLate(since: offence.moment.time)
      if !frame.opcode.isControl || isLate { self.offence?.hasData = true }
      return
    }
    let texts = offence.rules.filter { $0 == FrameRule.receiverFailsOnText.index }
    self.offence?.rules = texts
    self.offence?.isAnswered = true
    if texts.isEmpty { self.offence = nil }
    for rule in offence.rules where !texts.contains(rule) {
      if rule == FrameRule.dataIsChecked.index {
        tally.leave(rule, .needNotCheck, hearing, at: offence.moment)
      } else {
        violate(rule, offence, event, hearing, &tally)
      }
    }
  }

  /// Judges the Close frame of a receiver.
  private mutating func judgeFailing(
    _ offence: FrameOffence, by frame: borrowing WebSocketFrameView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    self.offence = nil
    let isOwn = self[offence.sender].close == nil
    let code = frame.closeCode ?? 1_000
    for rule in offence.rules {
      // By these codes alone an endpoint says that it has seen what was wrong (section 7.4.1).
      if code == 1_007 || rule == FrameRule.dataIsChecked.index && code == 1_002 {
        tally.satisfy(rule, hearing)
      } else if offence.isAnswered, code == 1_000 {
        judgeSequel(rule, offence, hearing, &tally)
      } else if !isOwn {
        tally.leave(rule, .senderClosedFirst, hearing, at: offence.moment)
      } else if offence.hasData {
        tally.leave(rule, .onTheirWay, hearing, at: offence.moment)
      } else {
        tally.satisfy(rule, hearing)
      }
    }
  }

  /// Judges a receiver of bad text that answered a Ping behind it, and closes as if all were well.
  private func judgeSequel(
    _ rule: RuleIndex, _ offence: FrameOffence, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let sequel = offence.sequel else {
      return tally.leave(rule, .needNotCheck, hearing, at: offence.moment)
    }
    sequel.withView { event in violate(rule, offence, event, hearing, &tally) }
  }

  private func violate(
    _ rule: RuleIndex, _ offence: FrameOffence, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let receiver = event.context.sender.rawValue
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the \(receiver) goes on after the bad \(offence.name) of frame \(offence.moment.frame) that "
          + "the \(offence.sender.rawValue) sent",
        expected: "the \(receiver) fails the connection",
        actual: "\(event.seenFrame) after "
          + event.context.time.seconds(since: offence.moment.time)))
  }

  /// Gives up when bytes of the receiver are missing.
  mutating func loseFailing(of peer: Peer, _ hearing: Hearing, _ tally: inout Tally) {
    guard let offence, offence.sender != peer else { return }
    self.offence = nil
    for rule in offence.rules { tally.leave(rule, .gap(of: peer), hearing, at: offence.moment) }
  }

  /// Judges what the receiver did when the connection is over.
  mutating func closeFailing(_ close: Closing, _ hearing: Hearing, _ tally: inout Tally) {
    guard let offence else { return }
    self.offence = nil
    let hearing = hearing.of(offence.sender.other)
    let doubt = close.doubt(afterFaultOf: offence.sender, isLate: offence.hasData)
    let ends = offence.asksForFailure ? [FrameRule.failureEndsConnection.index] : []
    for rule in offence.rules + ends {
      if let doubt {
        tally.leave(rule, doubt, hearing, at: offence.moment)
      } else {
        tally.satisfy(rule, hearing)
      }
    }
  }

  // MARK: Handshakes

  /// Judges how a server takes a request that it must refuse.
  func judgeRefusal(
    _ response: WebSocketResponse, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let request else { return }
    let seen = "status \(response.status)"
    func judge(_ rule: HandshakeRule, _ expected: String, _ message: String) {
      if response.accepts {
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the server accepts the request of frame \(request.moment.frame), \(message)",
            expected: expected, actual: seen))
      } else if response.status >= 400 {
        tally.satisfy(rule, hearing)
      } else {
        tally.leave(rule, .otherStatus, hearing)
      }
    }
    if let header = request.missing {
      judge(.badRequestIsRefused, "an error of HTTP such as 400", "whose \(header) is not right")
    }
    if request.hasBadExtensions {
      judge(.badExtensionsFail, "an error of HTTP such as 400", "whose extensions can't be read")
    }
    if request.hasOtherVersion { judgeVersions(response, request, event, hearing, &tally) }
  }

  /// Judges what a server says that refuses the version that it is asked for.
  private func judgeVersions(
    _ response: WebSocketResponse, _ request: RequestFacts, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rules: [HandshakeRule] = [.otherVersionIsRefused, .versionsAreNamed]
    let named = response.head.fields(named: "Sec-WebSocket-Version")
    if response.accepts {
      for rule in rules { tally.leave(rule, .versionMayBeKnown, hearing) }
    } else if response.status >= 400, !named.isEmpty {
      tally.satisfy(.otherVersionIsRefused, hearing)
      // No other version than 13 came of a standard: a server that leaves it out may know drafts alone.
      if response.head.list("Sec-WebSocket-Version").contains("13") {
        tally.satisfy(.versionsAreNamed, hearing)
      } else {
        tally.leave(.versionsAreNamed, .versionsMayBeAll, hearing)
      }
    } else if response.status == 426, request.missing == nil, response.mayUpgradeToWebSocket {
      for rule in rules {
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the server refuses the version in the request of frame \(request.moment.frame) and names "
              + "none", expected: "Sec-WebSocket-Version with the versions that it knows",
            actual: "status 426, 0 lines of Sec-WebSocket-Version"))
      }
    } else {
      for rule in rules { tally.leave(rule, .otherStatus, hearing) }
    }
  }

  /// Notes an answer for which the client must fail the connection.
  mutating func offend(_ response: WebSocketResponse, _ context: EventContext) {
    guard response.accepts else { return }
    let conditions: [(WebSocketFault.Code, WebSocketField, HandshakeRule)] = [
      (.missingHeader, .upgrade, .clientFailsWithoutUpgrade),
      (.missingHeader, .connection, .clientFailsWithoutConnection),
      (.missingHeader, .accept, .clientFailsOnAccept),
      (.wrongAccept, .accept, .clientFailsOnAccept),
      (.subprotocolNotOffered, .subprotocol, .clientFailsOnSubprotocol),
      (.malformedExtensions, .extensions, .badExtensionsFail),
    ]
    var rules = conditions.filter { code, field, _ in
      response.faults.contains { $0.code == code && $0.field == field }
    }.map(\.2)
    // A list is no subprotocol, and neither is nothing (section 4.2.2); one that was not offered is for the clause above.
    if !rules.contains(.clientFailsOnSubprotocol),
      response.faults.contains(where: { $0.code == .invalidSubprotocol })
    {
      rules.append(.clientFailsOnOther)
    }
    // That the parameters answer no offer is a fault of the same kind, and for another clause.
    if !extensionsNotOffered(in: response).isEmpty { rules.append(.clientFailsOnExtension) }
    guard !rules.isEmpty else { return }
    offence = FrameOffence(
      sender: .server, moment: Moment(context), name: "answer", rules: rules.map(\.index))
  }
}

extension WebSocketRequest {
  /// The first thing that section 4.2.1 asks of a request and that this one does not have, as a server
  /// can't but see: whether a key has 16 bytes it need not look (section 4.2.2).
  var missing: String? {
    guard !faults.contains(where: { $0.code == .malformedStartLine }) else { return nil }
    let fault = faults.first {
      switch $0.code {
      case .notGET, .oldHTTPVersion: true
      case .missingHeader: [.host, .upgrade, .connection, .key, .version].contains($0.field)
      default: false
      }
    }
    return fault.map { $0.field == .startLine ? "first line" : "\($0.field.rawValue) header" }
  }
}

extension WebSocketResponse {
  /// Whether it asks for no other protocol, as a server does that wants TLS first (RFC 2817 section 4.2).
  fileprivate var mayUpgradeToWebSocket: Bool {
    let protocols = head.list("Upgrade")
    return protocols.isEmpty || protocols.contains { $0.lowercased() == "websocket" }
  }
}

extension WebSocketState.Negotiation {
  /// Whether it is known what extensions give a meaning to.
  fileprivate var isKnown: Bool {
    switch self {
    case .nothing, .deflate: true
    case .unknown, .other: false
    }
  }
}

extension FrameFaults {
  /// Whether a frame breaks a rule of which the RFC does not say what a receiver does about it, but that it checks what
  /// comes in (section 10.7).
  fileprivate var areToBeNoticed: Bool {
    let codes: [WebSocketFault.Code] = [
      .fragmentedControl, .longControl, .continuationOfNothing, .messageInsideMessage,
      .lengthNotShortest, .lengthTooLarge, .halfCloseCode, .invalidCloseCode, .invalidReason,
    ]
    return codes.contains { self[$0] != nil }
  }
}
