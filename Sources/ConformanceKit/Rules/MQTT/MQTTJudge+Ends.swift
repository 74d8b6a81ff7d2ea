internal import RepriseCore
internal import Wire

// What begins and ends, and what is missing: connections, and what nobody knows of them.
extension MQTTJudge {
  /// Takes the news that bytes of a peer are missing, or can't be read.
  mutating func lose(
    from peer: Peer, _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    state[peer].hasGap = true
    state[peer].isDeaf = true
    if peer == .client { broker.doubt(everywhere: .publishersUnseen) }
    if let overdue = state.rare?.value.enforcement.overdue {
      state.leaveEnforcement(.gap(of: peer), hearing, &tally, at: overdue.moment)
      state.ownRare.enforcement.overdue = nil
    }
    if let offence = state.rare?.value.offence, offence.sender != peer {
      for rule in offence.rules + offence.lenient {
        tally.leave(rule, .gap(of: peer), hearing)
      }
      state.ownRare.offence = nil
    }
    state.loseExchanges(of: peer)
    state.loseLimits(of: peer)
    state.loseCarriage(of: peer, hearing, &tally)
    if peer == .client {
      state.life.silence.lose()
      if state.rare?.value.suspicions.isEmpty == false {
        state.ownRare.suspicions.drop(.clientGap, hearing, &tally)
      }
    } else {
      state.loseAnswers(hearing, &tally)
      if state.rare?.value.suspicionsOfServer.isEmpty == false {
        state.ownRare.suspicionsOfServer.drop(.serverGap, hearing, &tally)
      }
      broker.loseCopies(on: hearing.connection, &tally)
    }
  }

  /// Leaves open what waits under the clauses of another version than the one that a connection turns out to speak.
  func forgetVersion(_ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally) {
    state.ownRare.suspicions.drop(.inferredVersion, hearing, &tally)
    state.ownRare.suspicionsOfServer.drop(.inferredVersion, hearing, &tally)
    state.ownRare.offence = nil
  }

  /// Judges what was left open when a connection is over.
  mutating func close(
    _ close: Closing, _ event: borrowing EventView, _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    broker.lastConnects.answer(event.context.connection)
    state.closeSuspicions(close, hearing, &tally)
    if let reason = hearing.givingUp {
      // The server to which goes what its client publishes behind that is not known any more, nor whose session it has.
      broker.doubt(state.identity.endpoint, reason)
      noteLoss()
    }
    broker.end(close, event, state, hearing, &tally)
    state.closeOffence(close, hearing, &tally)
    state.closeConnect(close, event, hearing, &tally)
    state.closeRefusal(close, event, hearing, &tally)
    state.closeEnforcement(close, hearing, &tally)
    state.closeSubscribes(close, event, hearing, &tally)
    state.closeUnsubscribes(close, event, hearing, &tally)
    state.closeExchanges(close, event, hearing, &tally)
    state.closeRefusals(hearing, &tally)
    let isDirect = broker.hasOwnMessages
    state.closeLife(close, isDirect: isDirect, event, hearing, &tally)
    state.closeDisconnect(close, isDirect: isDirect, event, hearing, &tally)
    state.closeUnaligned(close, event, hearing, &tally)
    state.closeTerms(hearing, &tally)
    state.closeAllowances(hearing, &tally)
  }

  /// Takes note of a connection, of which it may never show whose it is.
  mutating func open(_ opening: ConnectionOpening, _ context: EventContext, _ tally: inout Tally) {
    if !opening.isFromStart || !broker.lastConnects.open(context.connection, opening.firstTime) {
      noteLoss()
      tally.held.noteUnseen(from: opening.firstTime, to: context.time)
    }
  }

  /// Takes the end of a connection: where nobody knows whose it was, it may have been anybody's.
  mutating func endUnnamed(_ context: EventContext, isNamed: Bool, _ tally: inout Tally) {
    let start = broker.lastConnects.end(context.connection)
    guard start != nil || !isNamed else { return }
    noteLoss()
    tally.held.noteUnseen(from: start ?? context.time, to: context.time)
  }

  /// Takes the news that bytes of any connection are missing from the capture, with which all of another one may be.
  mutating func noteLoss() { broker.losses &+= 1 }

  /// Takes the news that bytes of a connection are missing, behind what was last seen of it: all that another client said
  /// may be missing as well.
  mutating func noteLoss(_ context: EventContext, behind last: Timestamp?, _ tally: inout Tally) {
    noteLoss()
    let start = last ?? broker.lastConnects.opened(context.connection)
    tally.held.noteUnseen(from: start ?? Timestamp(nanoseconds: .min), to: context.time)
  }

  /// Notes a client of a version that there are no clauses of, which may have the session of one that is judged.
  mutating func meetOther(_ event: borrowing EventView) {
    broker.wills.meetOther()
    let connection = event.context.connection
    guard case .mqtt(let packet) = event.body else {
      switch event.body {
      case .closed: broker.lastConnects.answer(connection)
      case .gap, .malformed:
        if event.context.sender == .client { broker.doubt(everywhere: .publishersUnseen) }
      case .opened, .attempted, .mqtt, .handshake, .webSocket, .http, .tls: break
      }
      return
    }
    if packet.type == .connack { broker.lastConnects.answer(connection) }
    if packet.type == .publish, event.context.sender == .client {
      broker.doubt(everywhere: .publishersUnseen)
    }
    guard let connect = packet.connect, connect.clientID.byteCount > 0 else { return }
    _ = broker.lastConnects.take(ConnectionIdentity.name(of: connect.clientID), on: connection)
  }

  /// Notes a connection whose traffic can't be read, and may be that of a client of any server.
  mutating func meetUnreadable() {
    broker.doubt(everywhere: .publishersUnseen)
    broker.wills.meetOther()
  }

  /// Judges what had to wait for the end of a file.
  mutating func endFile(_ tally: inout Tally) {
    broker.endFile(&tally)
    tally.settleHeld()
  }

  /// Adds what is counted rather than reported; called once, when everything was taken.
  func finish(_ tally: inout Tally) {
    faults.finish(&tally)
    faultsOf5.finish(&tally)
  }
}
