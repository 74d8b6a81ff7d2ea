internal import RepriseCore

// Where a file ends, or what is known of a connection is given up.
extension ConformanceJudge {
  /// Ends the file: what is still open is left undecided.
  public mutating func endFile() {
    guard let last = lastContext else { return }
    for number in table.numbers { leave(number, last) }
    mqtt.endFile(&tally)
    lastContext = nil
  }

  /// Ends a connection of which nothing more is known.
  /// - Parameters:
  ///   - number: The number of the connection.
  ///   - last: The place that its end is given.
  ///   - givingUp: Why what is known of it is given up; nil where the file is over.
  private mutating func leave(
    _ number: Int, _ last: EventContext, givingUp: UndecidedReason? = nil
  ) {
    var context = last
    context.connection = number
    // Of the last event it has the place alone.
    context.over = nil
    context.isOrderUncertain = false
    context.isRebuilt = false
    let place = table.place(of: number)
    // The end of what carries a connection is that of what it carries as well.
    let isCarrier = table[place].rare?.value.webSocket.isSeen == true
    context.wire = isCarrier ? .webSocket : table[place].wire
    let closing = ConnectionClosing(
      how: .endOfCapture, firstFrame: last.frame, firstTime: last.time)
    Event(context, .closed(closing)).withView { take($0, givingUp: givingUp) }
  }

  /// Forgets the connections that take most, until half of the memory is free.
  mutating func makeRoom(_ last: EventContext) {
    for number in table.largest { forget(number, last) }
  }

  /// Forgets what is known of a connection: what is open is left undecided, and what comes later is
  /// judged as behind a loss of everything before.
  mutating func forget(_ number: Int, _ last: EventContext) {
    table.noteForgotten()
    leave(number, last, givingUp: .forgotten)
    forgottenConnections += 1
  }

  /// Takes the news that a selection left events of a connection out: what is open is left undecided, and what comes
  /// later is judged as behind a loss of everything before.
  mutating func leaveOut(_ event: borrowing EventView) {
    let number = event.context.connection
    let before = table.place(of: number)
    let wasOpened = table[before].isOpened
    let hadPings = table[before].hasPings
    if !wasOpened, table[before].isReported { seen.add(event.context.wire) }
    leave(number, lastContext ?? event.context, givingUp: .leftOut)
    let place = table.place(of: number)
    table[place].isOpened = true
    // Without its opening it may have been told by its client.
    table[place].loseAll(.leftOut, isRetold: !wasOpened || !hadPings)
  }
}
