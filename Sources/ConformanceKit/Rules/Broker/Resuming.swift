internal import RepriseCore
internal import Wire

// Sessions that outlive their connections: sections 3.1.2.4 (5.0: 3.1.2.4 and 3.1.2.11.2), 3.2.2 and 4.1.
extension BrokerJudge {
  /// How long after the end of a connection the next one of a client is taken for the next that there was, in
  /// nanoseconds: behind a longer pause there may have been one elsewhere.
  private static let pause: Int64 = 5_000_000_000
  /// Within how long two connections of a client may be one that was captured twice, on two interfaces of a router that
  /// translates addresses or by two hosts, whose clocks differ, in nanoseconds.
  private static let twice: Int64 = 60_000_000_000

  /// Takes the CONNACK that accepts a client.
  mutating func accept(
    sessionPresent: Bool, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let connect = state.opening.connect, hearing.mode == .judged else { return }
    let client = state.identity.client
    let before = sessions[client]
    if let before, before.connection != event.context.connection {
      let isOne =
        before.host != state.identity.host
        && connect.moment.time.nanoseconds(since: before.began) <= Self.twice
      // What waited for bytes in front of it is told behind what is newer, and of two that were answered at one time
      // either may be the newer one.
      let isNewer =
        connect.moment.frame > before.accepted.frame
        && lastConnects.isLast(event.context.connection, of: state.identity.name)
      if before.end == nil, !isOne, isNewer {
        takenOver[before.connection] = Takeover(
          moment: Moment(event.context), connection: event.context.connection)
      } else if before.end?.isByServer(since: connect.moment) == true {
        // Most servers close the older connection before they accept the newer one.
        tally.satisfy(.olderConnectionEnds, hearing)
      }
    }
    if sessionPresent, before == nil { state.isSessionOlder = true }
    if sessionPresent, let before {
      let isNext = isNext(before, event.context, state)
      noteReturn(isNext: isNext, from: before.connection, event, state, hearing, &tally)
    }
    if connect.cleanStart {
      if !sessionPresent {
        for rule in [.cleanStartEndsSession, .cleanStartIsCarriedOut] as [MQTTRule] {
          tally.satisfy(rule, hearing)
        }
      }
    } else {
      // Whether there was one or not, there is a new one now.
      if !sessionPresent { tally.satisfy(.absentSessionIsMade, hearing) }
      judgePresence(sessionPresent, before, event, &state, hearing, &tally)
    }
    // What began before another one, and is told behind it, is not the last.
    if let before, connect.moment.time < before.accepted.time { return }
    var entry = ClientSessions.Entry(
      connection: event.context.connection, host: state.identity.host, began: connect.moment.time,
      accepted: Moment(event.context))
    if let before { entry.asked = before.asked }
    sessions.keep(entry, of: client)
  }

  /// Takes the identifier that the server gives a client which has none: from then on it has the session of that name.
  mutating func assign(_ name: [UInt8], _ context: EventContext) {
    _ = lastConnects.take(
      ConnectionIdentity.name(of: name.span.bytes), on: context.connection, isAnswered: true)
  }

  /// Judges whether a session is said to be there.
  private mutating func judgePresence(
    _ isPresent: Bool, _ before: ClientSessions.Entry?, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let before else {
      for rule in [.presentSessionIsTold, .absentSessionIsTold] as [MQTTRule] {
        tally.leave(rule, .earlierSessionNotSeen, hearing)
      }
      return
    }
    let isNext = isNext(before, event.context, state)
    if isNext, let end = before.end, let connect = state.opening.connect {
      // The next connection may be asked for before the end of this one is seen.
      tally.held.follow(
        event.context.connection, from: min(end.moment.time, connect.moment.time),
        to: max(end.moment.time, connect.moment.time))
    }
    guard let end = before.end else {
      // It is taken over: what becomes of it the CONNACK says.
      guard isPresent else { return }
      for rule in Self.rulesOfReturn { tally.satisfy(rule, hearing) }
      return resume(before, isNext: false, event, &state)
    }
    // When the client sent it, as it is the client that most often ends a connection.
    let isOver = end.isOver(
      at: state.opening.connect?.moment.time ?? event.context.time,
      endsWithConnection: hearing.version == .v5_0)
    switch (isPresent, isOver) {
    case (true, true?):
      noteUnseenConnection(of: state)
      guard isNext, !end.hasLoss else {
        return tally.leave(.absentSessionIsTold, .connectionsUnseen, hearing)
      }
      // What nobody answers the server may not have: to it the client takes over a connection that is open.
      guard end.isKnown else { return tally.leave(.absentSessionIsTold, .serverMayBeGone, hearing) }
      violatePresence(before, end, event, state, hearing, &tally)
    case (true, _):
      let rules: [MQTTRule] =
        [.presentSessionIsTold, .sessionGoesOn, .cleanStartIsCarriedOut] + Self.rulesOfReturn
        + (isOver == false ? [.sessionOutlivesConnection] : [])
      for rule in rules { tally.satisfy(rule, hearing) }
      resume(before, isNext: isNext, event, &state)
    case (false, true?):
      for rule in [.absentSessionIsTold, .sessionEndsInTime] as [MQTTRule] {
        tally.satisfy(rule, hearing)
      }
    case (false, _):
      // It may have expired, or an administrator or a restart may have ended it.
      let rules: [MQTTRule] =
        [.presentSessionIsTold, .sessionGoesOn, .sessionIsStored]
        + (isOver == false ? [.sessionOutlivesConnection] : [])
      for rule in rules {
        tally.leave(rule, .serverPolicy, hearing)
      }
      deny(before, isNext: isNext, event)
    }
  }

  /// Keeps what was open in a session of which the server says that it is gone.
  private mutating func deny(
    _ before: ClientSessions.Entry, isNext: Bool, _ event: borrowing EventView
  ) {
    guard isNext, let end = before.end, !end.hasLoss, let left = end.rest?.value.left,
      !left.isEmpty
    else { return }
    denied[event.context.connection] = Resumption(
      moment: Moment(event.context), before: before.connection, ended: end.moment.time,
      losses: end.losses, left: left)
  }

  /// What is shown by a session that is there again under the identifier of its client.
  private static let rulesOfReturn: [MQTTRule] = [
    .sessionIsStored, .sessionLastsAsConnection, .identifierTellsSession,
  ]

  /// The rules by which a session that ended is not there.
  private static func rulesOfAbsence(_ version: MQTTVersion) -> [MQTTRule] {
    version == .v3_1_1
      ? [.absentSessionIsTold, .cleanStartEndsSession]
      : [.absentSessionIsTold, .absentSessionIsMade, .sessionEndsInTime]
  }

  /// Takes note that a message came which no filter matches that is known: in a session that goes on, or that should not
  /// be there, the client may have subscribed to it on a connection that is not in the capture.
  mutating func noteStray(
    _ topic: RawSpan, _ context: EventContext, _ state: borrowing ConnectionState,
    _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard !pending.entries.isEmpty,
      sessions[state.identity.client]?.hasAsked(for: topic) == true
    else { return noteConnectionUnseen(context, state, hearing, &tally) }
    // On a connection before it did.
    if state.isContinued { doubt(state.identity.endpoint, .connectionsUnseen) }
  }

  /// Takes note that a session holds what the client asked for on no connection in the capture: another one was between
  /// this and the one before.
  mutating func noteConnectionUnseen(
    _ context: EventContext, _ state: borrowing ConnectionState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    if state.isContinued {
      noteUnseenConnection(of: state)
      doubt(state.identity.endpoint, .connectionsUnseen)
    }
    takeBackPresence(context, hearing, &tally)
  }

  /// Takes back that a session should not be there, as another connection began it.
  mutating func takeBackPresence(
    _ context: EventContext, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard !pending.entries.isEmpty else { return }
    let rules = Self.rulesOfAbsence(hearing.version).map { $0.index(in: hearing.version) }
    for entry in pending.remove(rules, on: context.connection) {
      tally.leave(entry.rule, .connectionsUnseen, entry.hearing, at: Moment(entry.event.context))
    }
  }

  private mutating func violatePresence(
    _ before: ClientSessions.Entry, _ end: ClientSessions.End, _ event: borrowing EventView,
    _ state: borrowing ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let asked = state.opening.connect?.moment.time ?? event.context.time
    // What takes an open connection over tells why that one ended.
    let over = end.moment.time < asked ? end.moment.time : event.context.time
    for rule in Self.rulesOfAbsence(hearing.version) {
      pending.add(
        rule, by: .presence(over...max(over, event.context.time)), event,
        hearing,
        server: state.identity.endpoint, &tally,
        FindingText(
          "the server says that a session is present, though the client's last one ended with "
            + "connection \(before.connection)",
          expected: "Session Present 0", actual: "Session Present 1",
          evidence: [
            Finding.Evidence(
              frame: before.accepted.frame, connection: before.connection,
              role: "CONNACK of the session before"),
            Finding.Evidence(
              frame: end.moment.frame, connection: before.connection,
              role: "end of the connection, and of that session"),
          ]))
    }
  }

  /// Whether nothing can have happened between a connection and the next one of the client.
  private func isNext(
    _ before: ClientSessions.Entry, _ context: EventContext, _ state: borrowing ConnectionState
  ) -> Bool {
    guard let end = before.end, end.losses == losses, !end.isTakenOver,
      before.host == state.identity.host,
      state.identity.previous == Int32(clamping: before.connection), !lastConnects.hasUnnamed,
      lastConnects.isLast(context.connection, of: state.identity.name),
      let connect = state.opening.connect
    else { return false }
    return connect.moment.time.nanoseconds(since: end.moment.time) <= Self.pause
  }

  /// Takes over what is known of the session that goes on.
  private mutating func resume(
    _ before: ClientSessions.Entry, isNext: Bool, _ event: borrowing EventView,
    _ state: inout ConnectionState
  ) {
    ends[event.context.connection] = before.end?.moment.time ?? Timestamp(nanoseconds: .max)
    // What waited for the client comes now.
    state.exchanges.fromServer.noteIdle(at: event.context.time)
    guard isNext, let end = before.end, !end.hasLoss, let rest = end.rest?.value else { return }
    // What the client asked for before the CONNACK is not among those of the session before.
    if let subscriptions = rest.subscriptions, state.requests.count == 0 {
      state.subscribing.subscriptions = subscriptions
      state.subscribing.subscriptions.connection = UInt32(clamping: event.context.connection)
      state.isContinued = true
      state.lossesBefore = end.losses
      absences[event.context.connection] = end.moment.time
    }
    guard !rest.left.isEmpty else { return }
    resumed[event.context.connection] = Resumption(
      moment: Moment(event.context), before: before.connection, ended: end.moment.time,
      losses: end.losses, left: rest.left)
  }

  /// Takes the end of a connection.
  mutating func end(
    _ close: Closing, _ event: borrowing EventView, _ state: borrowing ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let connection = event.context.connection
    absences[connection] = nil
    ends[connection] = nil
    closeDenied(close, event, state, hearing, &tally)
    lags.leave(connection)
    leaveUnanswered(state, &tally)
    noteBreak(close, state)
    endWill(close, event, state, hearing, &tally)
    retained.leave(connection)
    closeResumption(close, event, state, hearing, &tally)
    closeTakeover(close, event, state, hearing, &tally)
    closeUnsubscribed(connection, state, hearing, &tally)
    closeCopies(connection, state, &tally)
    guard let entry = sessions[state.identity.client], entry.connection == connection else {
      return
    }
    var ended = entry
    ended.ask(state.subscribing.subscriptions)
    let lasts = state.sessionLasts
    if lasts == 0, close.how != .endOfCapture, !state.hasLoss {
      breakOff(
        Moment(time: close.time, frame: event.context.frame), connection, state)
    }
    let isUnsure = state.isUnsure
    ended.end = ClientSessions.End(
      moment: Moment(time: close.time, frame: event.context.frame),
      last: max(close.time, event.context.time), first: close.first,
      lasts: lasts,
      hasLoss: close.how == .endOfCapture || isUnsure, losses: losses,
      isTakenOver: state.ending.isTakenOver,
      isKnown: close.how == .fin ? close.isAnswered : close.first == .server)
    if lasts != 0, close.how != .endOfCapture {
      ended.end?.rest = Boxed(
        ClientSessions.Rest(
          left: LeftMessages(state.exchanges),
          subscriptions: state.routesAreKnown ? state.subscribing.subscriptions : nil))
    }
    sessions.keep(ended, of: state.identity.client)
  }
}

extension ClientSessions.End {
  /// Whether the server ended the connection behind something that was sent on another one.
  fileprivate func isByServer(since moment: Moment) -> Bool {
    first == .server && !hasLoss && self.moment.frame > moment.frame
      && self.moment.time.nanoseconds >= moment.time.nanoseconds
  }

  /// Tells whether the session is over at a time.
  /// - Parameters:
  ///   - time: When the client asked for it again.
  ///   - endsWithConnection: Whether the end of the connection ends it (5.0), and not that it was asked for (3.1.1).
  /// - Returns: Whether it is; nil where that is not known.
  fileprivate func isOver(at time: Timestamp, endsWithConnection: Bool) -> Bool? {
    guard let lasts else { return nil }
    guard lasts < .max else { return false }
    let least = time.nanoseconds(since: last)
    // The server may have read the next CONNECT before it ended the connection, by which its session ends.
    if lasts == 0, least < 0, endsWithConnection { return nil }
    if lasts == 0 || least > (Int64(lasts) + Self.tolerance) * 1_000_000_000 { return true }
    let most = time.nanoseconds(since: moment.time)
    return most < (Int64(lasts) - Self.tolerance) * 1_000_000_000 ? false : nil
  }

  /// How much a server may be late, in seconds.
  private static let tolerance: Int64 = 2
}

extension ConnectionState {
  /// How long the session outlives the connection, in seconds; the most is for ever, and nil is not known.
  fileprivate var sessionLasts: UInt32? {
    guard let connect = opening.connect else { return nil }
    // A peer that ends the connection by DISCONNECT need not have read the other's, in which the expiry may be
    // another one.
    if ending.client.disconnect != nil, ending.server.disconnect != nil { return nil }
    if is5 { return sessionExpiry }
    return connect.cleanStart ? 0 : .max
  }
}
