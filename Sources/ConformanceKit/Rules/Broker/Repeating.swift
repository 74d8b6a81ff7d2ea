internal import RepriseCore
internal import Wire

/// A session that goes on, and what was open in it.
struct Resumption {
  /// The CONNACK by which it does.
  let moment: Moment
  /// The connection before, and when that ended.
  let before: Int
  let ended: Timestamp
  /// How many losses the capture had when that ended.
  let losses: UInt32
  var left: LeftMessages
  /// The order of the last message that each side sent again.
  var lastOfClient = -1
  var lastOfServer = -1
  /// The identifier of the first message of each side that was not open; nil where it sent none.
  var firstOfClient: UInt16?
  var firstOfServer: UInt16?
  /// Whether a side went on with a message that was not open either: then another connection was between.
  var hasOthers = false

  /// Whether a side went on by an identifier that lies far behind its latest, by the steps between those that were open:
  /// then it sent messages in between.
  func skips(of sender: Peer) -> Bool {
    let (first, latest) =
      sender == .client
      ? (firstOfClient, left.latestOfClient) : (firstOfServer, left.latestOfServer)
    let open = left[sender].sorted { $0.order < $1.order }
    guard let first, let widest = zip(open.dropFirst(), open).map({ $0.id &- $1.id }).max() else {
      return false
    }
    // One that lies in front of it tells of a new count.
    let step = first &- latest
    return step < 0x8000 && Int(step) > Self.mostSteps * Int(widest)
  }

  /// So many of the widest steps may lie between two messages that follow each other.
  private static let mostSteps = 16

  /// The time between both connections.
  var pause: ClosedRange<Timestamp> { min(ended, moment.time)...moment.time }
}

// Messages that are sent again when a session is resumed: sections 3.3.1.1, 4.4 and 4.6.
extension BrokerJudge {
  /// Looks at a PUBLISH or PUBREL of a session that goes on.
  mutating func judgeRepeat(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let connection = event.context.connection
    let sender = event.context.sender
    guard let id = packet.packetID else { return }
    let mayGoOn = packet.type == .pubrel || packet.dup
    let goesOn = mayGoOn ? !state.hasUsed(id, of: sender) : false
    guard var resumption = resumed[connection] else {
      if goesOn, state.isNewSession == false {
        noteStrange(packet, event.context, state, hearing, &tally)
      }
      return
    }
    // Which of its messages are not known is not known either.
    guard !resumption.left.isCut else { return }
    let place = resumption.left[sender].firstIndex { $0.id == id && !$0.wasRepeated }
    defer { resumed[connection] = resumption }
    guard let place else {
      if goesOn, !resumption.left[sender].contains(where: { $0.id == id }) {
        resumption.hasOthers = true
        noteStrange(packet, event.context, state, hearing, &tally)
      }
      if packet.type == .publish {
        if sender == .client {
          resumption.firstOfClient = resumption.firstOfClient ?? id
        } else {
          resumption.firstOfServer = resumption.firstOfServer ?? id
        }
      }
      return
    }
    let message = resumption.left[sender][place]
    resumption.left[sender][place].wasRepeated = true
    if packet.type == .pubrel {
      if message.phase == .pubcomp || message.phase == .pubrel {
        for rule in [.repeatsComeWithSession, .pubrelStaysOpen, .nothingAgainBehindPubrel]
          as [MQTTRule]
        { tally.satisfy(rule, hearing) }
      }
      return
    }
    judge(packet, content, repeats: message, &resumption, event, state, hearing, &tally)
  }

  /// Takes note that a side of a session goes on with a message that it did not send on a connection in the capture.
  ///
  /// It sent it on another one. A server may only hand on the DUP of the publisher: that says nothing of what others
  /// published.
  private mutating func noteStrange(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ state: borrowing ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    // What did not come in the session that went on before comes now.
    if let id = packet.packetID {
      let key = Self.key(ofLeft: id, of: context.sender, state)
      for entry in pending.remove(.repeatsComeWithSession, about: key) {
        tally.leave(
          .repeatsComeWithSession, .shortlySeen, entry.hearing, at: Moment(entry.event.context))
      }
    }
    if context.sender == .server, packet.type == .publish {
      if state.isContinued { noteUnseenConnection(of: state) }
      takeBackPresence(context, hearing, &tally)
    } else {
      noteConnectionUnseen(context, state, hearing, &tally)
    }
  }

  /// What tells a message that was left open in the session of a client.
  private static func key(
    ofLeft id: UInt16, of sender: Peer, _ state: borrowing ConnectionState
  ) -> UInt64 {
    let place = UInt64(id) << 1 | (sender == .client ? 1 : 0)
    return key(
      state.identity.client ^ (place &+ 1) &* 0x9E37_79B9_7F4A_7C15, at: state.identity.endpoint)
  }

  /// Judges a message that the server sends again in a session that it has called new: it had kept the old one, and what is
  /// open is part of it (section 4.1).
  ///
  /// Not inlined: where it is, the whole state of the connection is copied for it.
  @inline(never)
  func judgeDenied(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    // A client that has subscribed may get a message for that, and some servers hand the DUP of the publisher on.
    guard !denied.isEmpty, packet.dup, let content, state.requests.count == 0, !state.hasLoss,
      !state.isOrderUncertain, !event.context.isOrderUncertain,
      let session = denied[event.context.connection], session.losses == losses,
      let message = session.left.fromServer.first(where: {
        $0.id == packet.packetID && $0.content == content && !$0.isDoubtful
      })
    else { return }
    tally.violate(
      hearing.version == .v5_0 ? .absentSessionIsTold : .presentSessionIsTold, event, hearing,
      FindingText(
        "the server sent PUBLISH \(message.id) of frame \(message.moment.frame) again, and had said that it has "
          + "no session of the client",
        expected: "Session Present 1 in the CONNACK of frame \(session.moment.frame)",
        actual: "Session Present 0, and a message of that session",
        evidence: [
          Finding.Evidence(
            frame: message.moment.frame, connection: session.before,
            role: "message that was not answered"),
          Finding.Evidence(
            frame: session.moment.frame, connection: event.context.connection,
            role: "CONNACK with Session Present 0"),
        ]))
  }

  private mutating func judge(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash?,
    repeats message: LeftMessages.Message, _ resumption: inout Resumption,
    _ event: borrowing EventView, _ state: borrowing ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let sender = event.context.sender
    let name =
      message.phase == .pubrel
      ? "PUBLISH \(message.id)" : "PUBLISH \(message.id) of frame \(message.moment.frame)"
    let evidence = [
      Finding.Evidence(
        frame: message.moment.frame, connection: resumption.before, role: message.role),
      Finding.Evidence(
        frame: resumption.moment.frame, connection: event.context.connection,
        role: "CONNACK that resumes the session"),
    ]
    guard content != nil, content == message.content, packet.retain == message.retain,
      !message.isDoubtful
    else {
      // Whether it is another message, or the one before was ended, is not known.
      return tally.leave(.repeatsComeWithSession, .ambiguousMessage, hearing)
    }
    if message.phase == .pubcomp {
      return tally.violate(
        hearing.version == .v5_0 ? .nothingAgainBehindPubrel : .qos2TakesFreeIdentifier, event,
        hearing,
        FindingText(
          "the \(sender.rawValue) sent PUBLISH \(message.id) again, though it had sent PUBREL",
          expected: "PUBREL \(message.id)", actual: "PUBLISH \(message.id)", evidence: evidence))
    }
    tally.satisfy(.repeatsComeWithSession, hearing)
    tally.satisfy(message.phase == .puback ? .qos1StaysOpen : .qos2StaysOpen, hearing)
    if packet.dup {
      tally.satisfy(.repeatsHaveDup, hearing)
      if sender == .client { tally.satisfy(.clientRepeatsKeepIdentifier, hearing) }
    } else {
      violate(
        .repeatsHaveDup, of: sender, resumption, event, state, hearing, &tally,
        FindingText(
          "the \(sender.rawValue) sent \(name) again in the resumed session without DUP",
          expected: "DUP 1", actual: "DUP 0", evidence: evidence))
    }
    judgeOrder(of: message, &resumption, name, evidence, event, hearing, &tally)
  }

  private func judgeOrder(
    of message: LeftMessages.Message, _ resumption: inout Resumption, _ name: String,
    _ evidence: [Finding.Evidence], _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let isClient = event.context.sender == .client
    let last = isClient ? resumption.lastOfClient : resumption.lastOfServer
    if isClient { resumption.lastOfClient = max(last, message.order) }
    if !isClient { resumption.lastOfServer = max(last, message.order) }
    // In 5.0 the clause binds clients.
    guard last >= 0, isClient || hearing.version == .v3_1_1 else { return }
    guard message.order < last else { return tally.satisfy(.repeatsKeepOrder, hearing) }
    let behind = resumption.left[event.context.sender].first { $0.order == last }
    tally.violate(
      .repeatsKeepOrder, event, hearing,
      FindingText(
        "the \(event.context.sender.rawValue) sent \(name) again behind one that it had first sent later",
        expected: "the order in which they were first sent", actual: "another order",
        evidence: evidence
          + (behind.map {
            [
              Finding.Evidence(
                frame: $0.moment.frame, connection: resumption.before,
                role: "\($0.role) that it had first sent later")
            ]
          } ?? [])))
  }

  /// Judges what was not sent again.
  mutating func closeResumption(
    _ close: Closing, _ event: borrowing EventView, _ state: borrowing ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let resumption = resumed.removeValue(forKey: event.context.connection),
      !resumption.left.isCut
    else { return }
    for sender in Peer.allCases {
      for message in resumption.left[sender] where !message.wasRepeated {
        closeLeft(message, of: sender, resumption, close, event, state, hearing, &tally)
      }
    }
  }

  /// Holds against a side what it makes of a session that goes on: a server may have lost some of it meanwhile, and there
  /// may have been a connection in between.
  private mutating func violate(
    _ rule: MQTTRule, of sender: Peer, _ resumption: Resumption, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, key: UInt64 = 0,
    _ tally: inout Tally, _ text: FindingText
  ) {
    pending.add(
      rule, by: .session(of: sender, resumption.pause), event, hearing, key: key,
      server: state.identity.endpoint, &tally, text)
  }

  private mutating func closeLeft(
    _ message: LeftMessages.Message, of sender: Peer, _ resumption: Resumption, _ close: Closing,
    _ event: borrowing EventView, _ state: borrowing ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let rule = MQTTRule.repeatsComeWithSession
    let hearing = hearing.of(sender)
    let doubt: UndecidedReason? =
      if message.isDoubtful {
        .gap(of: sender)
      } else if state[sender].hasGap {
        .gap(of: sender)
      } else if message.mayBeAnswered {
        .crossedAnswer
      } else if resumption.losses != losses || resumption.hasOthers || resumption.skips(of: sender)
      {
        .connectionsUnseen
      } else if close.how == .endOfCapture {
        .endOfCapture
      } else if state.is5, sender == .server {
        .messageMayExpire
      } else if let terms = state.terms,
        !terms.value.mayTake(message, behind: state.exchanges.fromClient.open.count)
      {
        .serverPolicy
      } else if message.mayExpire {
        .messageMayExpire
      } else {
        isPast(sender, resumption, close, state) ? nil : .shortlySeen
      }
    if let doubt { return tally.leave(rule, doubt, hearing, at: resumption.moment) }
    let (id, frame) = (message.id, message.moment.frame)
    let unanswered = "which was not answered when the connection ended"
    let (missing, expected) =
      switch message.phase {
      case .pubrel: ("PUBREL \(id), which PUBREC of frame \(frame) asks for", "PUBREL \(id)")
      case .pubcomp: ("PUBREL \(id) of frame \(frame) again, \(unanswered)", "PUBREL \(id) again")
      case .puback, .pubrec:
        ("PUBLISH \(id) of frame \(frame) again, \(unanswered)", "PUBLISH \(id) again")
      }
    violate(
      rule, of: sender, resumption, event, state, hearing,
      key: Self.key(ofLeft: id, of: sender, state), &tally,
      FindingText(
        "the \(sender.rawValue) never sent \(missing), though the session was resumed",
        expected: expected, actual: "other packets only",
        evidence: [
          Finding.Evidence(
            frame: frame, connection: resumption.before, role: message.role),
          Finding.Evidence(
            frame: resumption.moment.frame, connection: event.context.connection,
            role: "CONNACK that resumes the session"),
        ]))
  }

  /// How long a side may take at least to send again what was open, in nanoseconds.
  private static let soon: Int64 = 1_000_000_000

  /// Whether a side went on so far that it won't send again what was open.
  private func isPast(
    _ sender: Peer, _ resumption: Resumption, _ close: Closing, _ state: borrowing ConnectionState
  ) -> Bool {
    if case .violation = state.absence(since: resumption.moment.time, by: sender, at: close) {
      return true
    }
    let went = close.time.nanoseconds(since: resumption.moment.time)
    guard went > Self.soon else { return false }
    switch sender {
    // No text says how soon; a server that is driven is asked for nothing else meanwhile.
    case .server:
      guard isDriven || went > ConnectionState.patience else { return false }
      return resumption.firstOfServer != nil
    case .client:
      guard resumption.firstOfClient != nil else { return false }
      return state.ending.client.disconnect != nil
    }
  }
}

extension Terms {
  /// Whether a client may send a message again that it sent on a connection before, as far as the server's CONNACK says
  /// (5.0 sections 3.2.2.3.3 to 3.2.2.3.6); a message that is too large for the server is never sent.
  /// - Parameters:
  ///   - message: The message.
  ///   - count: How many messages of the client were open on the connection when it ended.
  /// - Returns: Whether it may.
  fileprivate func mayTake(_ message: LeftMessages.Message, behind count: Int) -> Bool {
    let qos: UInt32
    switch message.phase {
    case .puback: qos = 1
    case .pubrec: qos = 2
    // PUBREL goes on with what the server has taken.
    case .pubrel, .pubcomp: return true
    }
    guard let server, let most = server.maximumPacketSize, let maximumQoS, let retainAvailable,
      let atOnce = server.receiveMaximum, count < Int(atOnce)
    else { return false }
    return message.size <= most && qos <= maximumQoS && (retainAvailable == 1 || !message.retain)
  }
}

extension LeftMessages.Message {
  /// What the packet is that it was left at.
  fileprivate var role: String {
    switch phase {
    case .puback, .pubrec: "PUBLISH that was not answered"
    case .pubrel: "PUBREC that was not answered"
    case .pubcomp: "PUBREL that was not answered"
    }
  }
}

extension ConnectionState {
  /// Whether a side has used an identifier on this connection.
  fileprivate func hasUsed(_ id: UInt16, of sender: Peer) -> Bool {
    sender == .client
      ? exchanges.fromClient.used.contains(id) : exchanges.fromServer.used.contains(id)
  }
}
