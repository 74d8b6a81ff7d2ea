internal import RepriseCore
internal import Wire

/// What a server does about a client that is silent: section 3.1.2.10.
struct Enforcement {
  /// A silence that was far too long, and that the client ended itself.
  struct Overdue {
    /// The packet that ended it.
    var moment: Moment
    /// Its length in nanoseconds.
    var silence: Int64
    var keepAlive: UInt16
    /// The answers to that packet and to what the client sent behind it.
    var answers = AwaitedAnswers()
  }

  /// The silence for which the server is held to account once it answers.
  var overdue: Overdue?

  /// So long a client may be silent before the server has to be gone: one and a half times the Keep
  /// Alive, and this suite's 30 s.
  static func bound(_ keepAlive: UInt16) -> Int64 {
    limit(keepAlive) + ConnectionState.patience
  }

  /// One and a half times the Keep Alive.
  static func limit(_ keepAlive: UInt16) -> Int64 { Int64(keepAlive) * 1_500_000_000 }
}

// Keep Alive, as the server enforces it.
//
// A silence of that length is mostly the sleep of a machine. What is captured of the server on waking, its
// FIN included, may have been sent in time and repeated since. Only the server's answer to what ends the
// silence shows that it has kept the connection.
extension ConnectionState {
  /// The clauses that ask for the end.
  private var enforcementRules: [MQTTRule] {
    is5 && opening.connack?.serverKeepAlive == nil
      ? [.keepAliveIsEnforced, .clientKeepAliveIsEnforced] : [.keepAliveIsEnforced]
  }

  func leaveEnforcement(
    _ reason: UndecidedReason, _ hearing: Hearing, _ tally: inout Tally, at moment: Moment? = nil
  ) {
    for rule in enforcementRules { tally.leave(rule, reason, hearing, at: moment) }
  }

  /// The Keep Alive that the server has to enforce; nil where it has none, or it is not known.
  private var enforcedKeepAlive: UInt16? {
    guard let keepAlive = effectiveKeepAlive, keepAlive > 0, hasPings, !isEnding,
      opening.connack?.code == 0
    else { return nil }
    return keepAlive
  }

  /// Takes a packet of the client, which ends its silence.
  @inline(__always)
  mutating func noteSilence(
    before packet: borrowing MQTTPacketView, _ context: EventContext, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let silence = life.silence.length(at: context.time) ?? 0
    guard silence > Self.patience || rare?.value.enforcement.overdue != nil else { return }
    endSilence(silence, packet, context, hearing, &tally)
  }

  private mutating func endSilence(
    _ silence: Int64, _ packet: borrowing MQTTPacketView, _ context: EventContext,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    if rare?.value.enforcement.overdue == nil, let keepAlive = enforcedKeepAlive,
      silence > Enforcement.bound(keepAlive)
    {
      // The time of a packet is that of its last byte; the first may have come in time.
      guard packet.sizeOnWire <= 1_200 else {
        return leaveEnforcement(.longPacket, hearing, &tally)
      }
      ownRare.enforcement.overdue = .init(
        moment: Moment(context), silence: silence, keepAlive: keepAlive)
    }
    guard rare?.value.enforcement.overdue != nil else { return }
    let answer = awaitedAnswer(to: packet, from: .client)
    ownRare.enforcement.overdue?.answers.add(answer)
  }

  /// Looks at a packet of the server: whether it serves a client that it should have cut off.
  mutating func judgeEnforcement(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard ownRare.enforcement.overdue?.answers.take(packet) == true,
      let overdue = rare?.value.enforcement.overdue
    else { return }
    ownRare.enforcement.overdue = nil
    guard !clocks.differ else {
      return leaveEnforcement(clocks.doubt, hearing, &tally, at: overdue.moment)
    }
    for rule in enforcementRules {
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the server kept a client that was silent for more than one and a half times its Keep Alive",
          expected: "the end after \(Timestamp.seconds(Enforcement.limit(overdue.keepAlive)))",
          actual: "\(packet.seen) after \(Timestamp.seconds(overdue.silence)) of silence"))
    }
  }

  /// Judges the client's last silence when the connection is over.
  func closeEnforcement(_ close: Closing, _ hearing: Hearing, _ tally: inout Tally) {
    if let overdue = rare?.value.enforcement.overdue {
      let reason: UndecidedReason =
        close.how == .endOfCapture
        ? .endOfCapture : close.first == .client ? .clientClosedFirst : .serverClosedFirst
      return leaveEnforcement(reason, hearing, &tally, at: overdue.moment)
    }
    guard let keepAlive = enforcedKeepAlive, let silence = life.silence.length(at: close.time),
      silence >= Enforcement.limit(keepAlive) - 1_000_000_000
    else { return }
    let isLate = silence > Enforcement.bound(keepAlive)
    switch (close.how, close.first) {
    case (.endOfCapture, _): if isLate { leaveEnforcement(.endOfCapture, hearing, &tally) }
    case _ where client.isDeaf: leaveEnforcement(.clientGap, hearing, &tally)
    case (_, .server) where !isLate: for rule in enforcementRules { tally.satisfy(rule, hearing) }
    case (_, .client) where !isLate: leaveEnforcement(.clientClosedFirst, hearing, &tally)
    case (.reset, .client): leaveEnforcement(.serverMayBeGone, hearing, &tally)
    case (.fin, .client) where !close.isAnswered:
      leaveEnforcement(.serverMayBeGone, hearing, &tally)
    // Of a FIN the first copy may have come to nobody, be it the server's or its answer.
    case (_, .client), (_, .server): leaveEnforcement(.endCapturedLate, hearing, &tally)
    }
  }
}
