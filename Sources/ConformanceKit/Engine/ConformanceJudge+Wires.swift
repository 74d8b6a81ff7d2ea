internal import RepriseCore
internal import Wire

// Connections that speak something else than a version of MQTT that is judged, or nobody knows what.
extension ConformanceJudge {
  /// Takes what shows of TLS: of that which carries WebSocket, whether the client named the server.
  mutating func takeTLS(_ event: borrowing EventView) {
    let number = event.context.connection
    switch event.body {
    case .opened(let opening) where opening.server.hasSuffix(":443"):
      if pages.count < Self.mostPages { pages.insert(number) }
    case .closed: pages.remove(number)
    default: break
    }
    guard case .tls(.handshake(let hellos)) = event.body else { return }
    // Whose session is in it, and what is done to that, nobody knows; on the port of the Web it is hardly one of MQTT.
    if hellos.obstacle != nil {
      mqtt.noteLoss(event.context, behind: nil, &tally)
      if !pages.contains(number) { mqtt.meetUnreadable() }
    }
    guard hellos.obstacle == nil, table.knows(number) else { return }
    let place = table.place(of: number)
    table[place].identity.take(serverName: hellos.serverName)
    guard table[place].rare?.value.webSocket.isSeen == true else { return }
    table[place].ownRare.webSocket.namesServer = hellos.serverName != nil
  }

  /// Takes an event of a connection of a version that there are no clauses of.
  mutating func consumeOther(_ event: borrowing EventView) {
    note(event)
    mqtt.meetOther(event)
    // What was kept of it while its version was not known.
    if case .closed = event.body, event.context.over == nil {
      forget(at: table.place(of: event.context.connection))
    }
  }

  /// Forgets a connection whose end says nothing of it.
  mutating func forget(at place: Int) {
    tally.forgetClient(of: table[place].number)
    if let rare = table[place].rare?.value {
      tally.removeSuspicions(rare.suspicions.count + rare.suspicionsOfServer.count)
    }
    table.remove(at: place)
  }

  /// Takes an event of a connection whose version nobody knows, of which one thing is sure: whatever
  /// the version, CONNECT comes first.
  mutating func consumeUnnamed(_ event: borrowing EventView) {
    note(event)
    // What carries it is judged as what it is, and has its state here as well.
    guard event.context.over == nil else { return }
    let place = table.place(of: event.context.connection)
    if !table[place].isNoted { noteFirst(event, at: place) }
    table[place].wire = event.context.wire
    let sender = event.context.sender
    if event.context.isOrderUncertain {
      for peer in Peer.allCases { table[place][peer].hasGap = true }
    }
    switch event.body {
    case .opened(let opening): table.open(opening, at: place, event.context.wire)
    case .gap, .malformed: table[place][sender].hasGap = true
    case .mqtt(let packet):
      if sender == .client, table[place].client.lastTime == nil {
        let hearing = Hearing(event.context, .inferred, &table[place], of: sender)
        table[place].begin(packet, event, hearing, &tally)
      }
      table[place][sender].hear(at: event.context.time)
    case .closed: forget(at: place)
    case .attempted, .handshake, .webSocket, .http, .tls: break
    }
    lastContext = event.context
  }

  /// Takes an event of a WebSocket connection, which is news of the MQTT in its frames as well.
  mutating func consumeCarrier(_ event: borrowing EventView, _ givingUp: UndecidedReason?) {
    let place = table.place(of: event.context.connection)
    let wasRare = table[place].rare != nil
    // One that was forgotten may carry anything.
    let isRemade = table[place].givenUp != nil
    if isRemade, table[place].rare?.value.webSocket.isSeen != true {
      table[place].wire = .webSocket
    }
    table[place].meetCarrier()
    let wire = table[place].wire
    let isJudged = wire.isJudged
    let hearing = hear(event, at: place, table[place].hasPings ? .judged : .retold, givingUp)
    // What its frames carry, which is judged as what is known of its version.
    let cargo = hearing.judged(wire.isCertain ? .judged : .inferred)
    if case .closed(let closing) = event.body, isJudged {
      // What MQTT asks for may be why an end closes.
      let end = Closing(closing, event).carried(by: table[place].rare?.value.webSocket)
      mqtt.close(end, event, &table[place], cargo, &tally)
    }
    table[place].ownRare.webSocket.note(tally.blamed)
    webSocket.take(event, &table[place].ownRare.webSocket, hearing, &tally)
    switch event.body {
    case .handshake(.request(let request)): table[place].identity.take(request)
    case .opened(let opening):
      note(event)
      table.open(opening, at: place, .webSocket)
    // What is lost before the first packet may have been packets.
    case .gap where isJudged || wire == .webSocket, .malformed where isJudged || wire == .webSocket:
      mqtt.lose(from: event.context.sender, &table[place], hearing, &tally)
    case .closed:
      lastContext = event.context
      return forget(at: place)
    case .webSocket(let frame):
      let hearing = table[place].hasPings ? cargo : hearing
      if frame.hasUnreadData, isJudged || wire == .webSocket {
        mqtt.lose(from: event.context.sender, &table[place], hearing, &tally)
      }
      table[place].carries(frame, event, hearing, &tally)
    case .attempted, .gap, .malformed, .mqtt, .handshake(.response), .http, .tls: break
    }
    table[place].ownRare.webSocket.note(tally.blamed)
    if event.mayGrow || !wasRare { table.account(at: place) }
    lastContext = event.context
  }
}

extension WebSocketFrameView {
  /// Whether data of the frame was not captured, or could not be read.
  fileprivate var hasUnreadData: Bool {
    if opcode.isControl { return false }
    if case .kept = compression { return true }
    return missing > 0
  }
}
