internal import RepriseCore
internal import Wire

/// An end that has said by a Close frame that it fails the connection, and what came behind that frame.
struct FailedEnd {
  let peer: Peer
  /// Its Close frame, with the code of it.
  let moment: Moment
  let code: UInt16
  /// Pings of the other end behind it, with what no Ping before held: the first, and the first that came much later.
  var ping: (moment: Moment, data: [UInt8])?
  var latePing: (moment: Moment, data: [UInt8])?
  /// Whether it answered them.
  var hasRead = false
  var isOpen = false

  /// The memory that it takes, in bytes.
  var reserved: Int {
    MemoryLayout<Self>.stride + (ping?.data.grownSize ?? 0) + (latePing?.data.grownSize ?? 0)
  }
}

// What becomes of a connection that an endpoint has failed: section 7.1.7.
//
// A Ping that is captured behind a Close frame came to the sender of that behind it, wherever the capture was taken: a
// Pong with the data of that Ping, and of none before, shows that the sender went on reading.
extension WebSocketState {
  /// Notes that the receiver of something bad fails the connection: by these codes alone it says that it has seen it.
  mutating func noteFailure(
    _ offence: FrameOffence, by frame: borrowing WebSocketFrameView, _ context: EventContext
  ) {
    let code = frame.closeCode ?? 0
    guard code == 1_002 || code == 1_007, self[offence.sender].close == nil,
      offence.asksForFailure
    else { return }
    failed = Boxed(FailedEnd(peer: context.sender, moment: Moment(context), code: code))
  }

  /// Looks what follows the Close frame of an end that has failed the connection.
  mutating func judgeFailed(
    _ frame: borrowing WebSocketFrameView, isFreshPing: Bool, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard var failed = failed?.value, frame.missing == 0 else { return }
    defer { self.failed = Boxed(failed) }
    let context = event.context
    if isFreshPing, context.sender != failed.peer {
      let ping = (moment: Moment(context), data: [UInt8](copying: frame.payload))
      if failed.ping == nil, context.time.isBehindLeniency(since: failed.moment.time) {
        failed.ping = ping
      }
      if failed.latePing == nil, context.time.isLate(since: failed.moment.time) {
        failed.latePing = ping
      }
    }
    guard frame.opcode == .pong, context.sender == failed.peer else { return }
    let data = [UInt8](copying: frame.payload)
    if !failed.hasRead,
      let ping = [failed.ping, failed.latePing].first(where: { $0?.data == data })
    {
      failed.hasRead = true
      report(
        .nothingIsReadBehindFailure, failed, ping, "nothing of what comes in", event, hearing,
        &tally)
    }
    if !failed.isOpen, failed.latePing?.data == data {
      failed.isOpen = true
      report(
        .failureEndsConnection, failed, failed.latePing, "the end of the TCP connection", event,
        hearing,
        &tally)
    }
  }

  private func report(
    _ rule: FrameRule, _ failed: FailedEnd, _ ping: (moment: Moment, data: [UInt8])?,
    _ expected: String, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let ping else { return }
    if let clockDoubt { return tally.leave(rule, clockDoubt, hearing, at: failed.moment) }
    let asked = ping.moment.time.seconds(since: failed.moment.time)
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the \(failed.peer.rawValue) answers the PING of frame \(ping.moment.frame), and had failed the "
          + "connection by the CLOSE \(failed.code) of frame \(failed.moment.frame)",
        expected: expected, actual: "PONG to a PING that came \(asked) behind the CLOSE"))
  }

  /// Judges whether an end that has failed the connection ended it.
  mutating func closeFailed(_ close: Closing, _ hearing: Hearing, _ tally: inout Tally) {
    guard let failed = failed?.value else { return }
    self.failed = nil
    let hearing = hearing.of(failed.peer)
    let doubt: UndecidedReason? =
      if close.how == .endOfCapture {
        .endOfCapture
      } else if self[failed.peer].hasGapBehindClose {
        .gap(of: failed.peer)
      } else if close.first != failed.peer {
        .senderClosedFirst
      } else if close.time.isLate(since: failed.moment.time) {
        .closedLate(failed.peer)
      } else {
        nil
      }
    var rules: [FrameRule] = failed.isOpen ? [] : [.failureEndsConnection]
    if failed.ping != nil, !failed.hasRead { rules.append(.nothingIsReadBehindFailure) }
    for rule in rules {
      if let doubt {
        tally.leave(rule, doubt, hearing, at: failed.moment)
      } else {
        tally.satisfy(rule, hearing)
      }
    }
  }
}
