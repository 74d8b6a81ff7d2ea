internal import RepriseCore
internal import Wire

/// The PINGREQs without a PINGRESP, oldest first.
struct PendingPings {
  private(set) var open: [Moment] = []
  /// PINGREQs for whose successors a PINGRESP came, when they were open for too long.
  private(set) var passed: [Moment] = []
  /// When the last of those came.
  private var passedAt = Timestamp(nanoseconds: .min)
  /// How long behind it an answer to one before may be on its way, in nanoseconds.
  private static let onItsWay: Int64 = 1_000_000_000
  /// Whether there were ever more than are kept.
  private var isOverfull = false
  private static let maximum = 64
  /// How soon behind the newest PINGREQ a PINGRESP comes that is no late one of an older, in nanoseconds.
  private static let prompt: Int64 = 5_000_000_000

  /// For how many a PINGRESP may still come; nil if nobody knows.
  var unanswered: Int? { isOverfull ? nil : open.count + passed.count }

  mutating func add(_ moment: Moment) -> Bool {
    guard open.count < Self.maximum else {
      isOverfull = true
      return false
    }
    open.append(moment)
    return true
  }

  /// Takes a PINGRESP; false when nothing is open.
  mutating func answer(at time: Timestamp) -> Bool {
    guard let oldest = open.first, let newest = open.last else {
      // A late answer to one that was passed over.
      guard !passed.isEmpty else { return false }
      passed.removeFirst()
      return true
    }
    let isLate = time.nanoseconds(since: oldest.time) > ConnectionState.patience
    let isPrompt = time.nanoseconds(since: newest.time) <= Self.prompt
    open.removeFirst()
    guard open.count > 0, isLate, isPrompt else { return true }
    if passed.count < Self.maximum { passed.append(oldest) } else { isOverfull = true }
    passedAt = time
    open.removeLast()
    return true
  }

  /// Whether the answer to a PINGREQ that was passed over is not on its way any more.
  func isSettled(by time: Timestamp) -> Bool {
    time.nanoseconds(since: passedAt) > Self.onItsWay
  }

  /// Forgets what missing bytes may have answered.
  mutating func lose() {
    open.removeAll()
    passed.removeAll()
  }
}

/// How long the client was silent.
struct Silence {
  /// When the client's last packet was completed; nil when that is not known.
  private var last: Timestamp?
  /// The frame of that packet, or of the CONNACK that it is measured from.
  private var lastFrame: UInt32 = 0
  /// The frame of the packet before the last one that was measured.
  private(set) var frameBefore: UInt32 = 0
  private var isMeasured = false
  /// How many silences were too long, and the last of them as long as that one, in seconds.
  private var brokenCount: UInt8 = 0
  private var brokenSeconds: UInt16 = 0
  /// When CONNACK came within the silence; a client may wait for it.
  private var accepted: Timestamp?
  /// Whether the CONNACK that the client may wait for was not captured yet.
  private var awaitsConnack = false

  /// Starts to measure at the CONNECT.
  mutating func start(at moment: Moment) {
    last = moment.time
    lastFrame = UInt32(clamping: moment.frame)
    awaitsConnack = true
  }

  /// Starts to measure at the CONNACK, before which no Keep Alive counts in 5.0.
  mutating func startAccepted(at moment: Moment) {
    last = moment.time
    lastFrame = UInt32(clamping: moment.frame)
  }

  /// Notes that CONNACK came.
  mutating func noteConnack(at time: Timestamp) {
    accepted = time
    awaitsConnack = false
  }

  /// Notes that bytes of the client are missing.
  mutating func lose() { last = nil }

  /// How long the client has been silent, or accepted; nil when that is not known.
  @inline(__always)
  func length(at time: Timestamp) -> Int64? {
    last.map { time.nanoseconds(since: accepted ?? $0) }
  }

  /// What a silence means.
  enum Outcome {
    case kept
    case undecided(UndecidedReason)
    case broken(nanoseconds: Int64)
  }

  /// Measures the silence up to a packet of the client, or its close.
  /// - Parameters:
  ///   - time: Its time.
  ///   - frame: Its frame.
  ///   - before: The time of a packet of the server that was there before it; what its own time says
  ///     less of was captured in another order than it was sent in.
  ///   - keepAlive: The Keep Alive, in seconds.
  ///   - packetSize: The size of the packet, in bytes.
  /// - Returns: What the silence means.
  mutating func measure(
    to time: Timestamp, frame: Int, before: Timestamp? = nil, keepAlive: UInt16,
    packetSize: Int = 0
  ) -> Outcome {
    (frameBefore, lastFrame) = (lastFrame, UInt32(clamping: frame))
    defer {
      last = before.map { max($0, time) } ?? time
      accepted = nil
      awaitsConnack = false
    }
    guard let last, keepAlive > 0 else { return .kept }
    isMeasured = true
    let whole = time.nanoseconds(since: last)
    // A tenth, or half a second, is for timers and the way to where the capture was taken.
    guard Self.isBeyond(whole, keepAlive, tolerance: 10, atLeast: Self.allowance) else {
      return .kept
    }
    noteBroken(whole)
    if awaitsConnack { return .undecided(.connackNotSeen) }
    let silence = accepted.map { min(whole, time.nanoseconds(since: $0)) } ?? whole
    guard Self.isTooLong(silence, keepAlive) else {
      return .undecided(accepted == nil ? .keepAliveMargin : .connackInSilence)
    }
    // The time of a packet is that of its last byte; only the first had to come in time.
    if packetSize > 1_200 { return .undecided(.longPacket) }
    return .broken(nanoseconds: silence)
  }

  /// Counts a silence that is too long, with those of about its length.
  private mutating func noteBroken(_ nanoseconds: Int64) {
    let seconds = UInt16(clamping: nanoseconds / 1_000_000_000)
    let difference = max(seconds, brokenSeconds) - min(seconds, brokenSeconds)
    brokenCount = difference <= seconds / 8 ? brokenCount &+ (brokenCount == .max ? 0 : 1) : 1
    brokenSeconds = seconds
  }

  /// Whether the silences that were too long are those of a timer, each as long as the others, and not of a network that
  /// was gone for a while.
  var isRegular: Bool { brokenCount >= 3 }

  /// What timers and the way of an acknowledgement take at most, in nanoseconds.
  static let allowance: Int64 = 500_000_000

  /// Whether a silence breaks the Keep Alive, wherever it was captured.
  static func isTooLong(_ silence: Int64, _ keepAlive: UInt16) -> Bool {
    isBeyond(silence, keepAlive, tolerance: 2, atLeast: 1_000_000_000)
  }

  /// Whether a silence is longer than the Keep Alive and a part of it, or a time, more.
  private static func isBeyond(
    _ silence: Int64, _ keepAlive: UInt16, tolerance part: Int64, atLeast least: Int64
  ) -> Bool {
    let limit = Int64(keepAlive) * 1_000_000_000
    return silence > limit + max(limit / part, least)
  }

  /// Whether silences were measured, and all of them were short enough.
  var isKept: Bool { isMeasured && brokenCount == 0 }
}

/// What is known of the signs of life.
struct LivingState {
  var pings = PendingPings()
  var silence = Silence()
}

// Keep Alive, PINGREQ and PINGRESP: sections 3.1.2.10, 3.12 and 3.13.
extension ConnectionState {
  /// Measures how long the client was silent before its packet, or its close.
  ///
  /// A proxy may have handed on late what the client had sent in time, and have ended the connection of one that was gone.
  /// But it does not do so again and again after the same time.
  @inline(__always)
  mutating func measureSilence(
    packetSize: Int, isDirect: Bool, at time: Timestamp, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let keepAlive = effectiveKeepAlive, keepAlive > 0, !isEnding else { return }
    let outcome = life.silence.measure(
      to: time, frame: event.context.frame, before: server.lastTime, keepAlive: keepAlive,
      packetSize: packetSize)
    switch outcome {
    case .kept: break
    case .undecided(let reason): leaveKeepAlive(reason, hearing, &tally)
    case .broken where !hasPings: leaveKeepAlive(.pingsNotRecorded, hearing, &tally)
    case .broken where clocks.differ: leaveKeepAlive(clocks.doubt, hearing, &tally)
    case .broken where !isDirect && !life.silence.isRegular:
      leaveKeepAlive(.clientMayBeGone, hearing, &tally)
    case .broken(let silence): violateKeepAlive(keepAlive, silence, event, hearing, &tally)
    }
  }

  private func violateKeepAlive(
    _ keepAlive: UInt16, _ silence: Int64, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let isServers = opening.connack?.serverKeepAlive != nil
    for rule in keepAliveRules {
      tally.violate(
        rule, event, hearing,
        FindingText(
          "the client was silent for longer than \(isServers ? "the Server" : "its") Keep Alive",
          expected: "a packet at least every \(keepAlive) s",
          actual: "\(Timestamp.seconds(silence)) of silence",
          evidence: evidenceOfKeepAlive(event.context.connection),
          silence: Int64(keepAlive) * 1_000_000_000 + Silence.allowance))
    }
  }

  /// What told the Keep Alive, and the packet that the silence begins behind.
  private func evidenceOfKeepAlive(_ connection: Int) -> [Finding.Evidence] {
    var evidence: [Finding.Evidence] = []
    func add(_ frame: Int, _ role: String) {
      evidence.append(Finding.Evidence(frame: frame, connection: connection, role: role))
    }
    if let connect = opening.connect {
      add(connect.moment.frame, "CONNECT with Keep Alive \(connect.keepAlive)")
    }
    if let connack = opening.connack, let server = connack.serverKeepAlive {
      add(connack.moment.frame, "CONNACK with Server Keep Alive \(server)")
    }
    let begin = Int(life.silence.frameBefore)
    if begin > 0, !evidence.contains(where: { $0.frame == begin }) {
      add(begin, "the packet before the silence")
    }
    return evidence
  }

  private func leaveKeepAlive(
    _ reason: UndecidedReason, _ hearing: Hearing, _ tally: inout Tally
  ) {
    for rule in keepAliveRules { tally.leave(rule, reason, hearing) }
  }

  /// Whether a pause of the whole capture, and nothing but it, makes the client's silence one that breaks its Keep Alive:
  /// true, false, or not known.
  func isSilent(by pause: Int64, at time: Timestamp) -> Bool? {
    guard wire.isJudged, !isEnding, opening.connack?.code ?? 0 == 0 else { return false }
    guard let keepAlive = effectiveKeepAlive else { return nil }
    guard keepAlive > 0 else { return false }
    let silence = life.silence.length(at: time) ?? pause
    return Silence.isTooLong(silence, keepAlive) && !Silence.isTooLong(silence - pause, keepAlive)
  }

  /// The clauses that ask for the Keep Alive that counts.
  private var keepAliveRules: [MQTTRule] {
    guard let server = opening.connack?.serverKeepAlive, server > 0,
      let client = opening.connect?.keepAlive, client == 0 || server < client
    else { return [.keepAlive] }
    return [.keepAlive, .serverKeepAliveIsKept, .connackKeepAliveIsKept]
  }

  /// The Keep Alive that counts, in seconds; nil where it is not known.
  ///
  /// In 5.0 the server may set another one (section 3.2.2.3.14), and nothing counts before it could.
  var effectiveKeepAlive: UInt16? {
    guard is5 else {
      // A client that was refused waits for the server to end the connection (3.1.1 section 3.2.2.3).
      return opening.connack?.code ?? 0 == 0 ? opening.connect?.keepAlive : nil
    }
    guard let connack = opening.connack, connack.code == 0, connack.isRead else { return nil }
    return connack.serverKeepAlive ?? opening.connect?.keepAlive
  }

  /// Whether a side has said by DISCONNECT that it leaves.
  var isEnding: Bool { ending.client.disconnect != nil || ending.server.disconnect != nil }

  mutating func clientPings(_ context: EventContext, _ hearing: Hearing, _ tally: inout Tally) {
    if !life.pings.add(Moment(context)) { tally.leave(.pingIsAnswered, .tooMany, hearing) }
  }

  mutating func serverPongs(_ context: EventContext, _ hearing: Hearing, _ tally: inout Tally) {
    if let oldest = life.pings.open.first { noteWait(of: oldest, context) }
    if life.pings.answer(at: context.time) { tally.satisfy(.pingIsAnswered, hearing) }
  }

  /// Judges the PINGREQs that were never answered, and the client's last silence.
  ///
  /// Where it is not known that the connection is direct, a proxy may answer and end it for a client that is gone.
  mutating func closeLife(
    _ close: Closing, isDirect: Bool, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    closePings(close, event, hearing.of(.server), &tally)
    if close.how != .endOfCapture {
      closeSilence(close, isDirect: isDirect, event, hearing, &tally)
    }
    guard life.silence.isKept else { return }
    // The first silence is measured from the server's CONNACK.
    if clocks.differ {
      leaveKeepAlive(clocks.doubt, hearing, &tally)
    } else {
      for rule in keepAliveRules { tally.satisfy(rule, hearing) }
    }
  }

  private func closePings(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    for ping in life.pings.passed + life.pings.open {
      let isPassed = life.pings.passed.contains { $0.frame == ping.frame }
      var absence = absence(since: ping.time, by: .server, at: close)
      if isPassed, close.how != .endOfCapture {
        absence =
          clocks.differ
          ? .undecided(clocks.doubt)
          : life.pings.isSettled(by: close.time) ? .violation : .undecided(.onTheirWay)
      }
      for rule in rules(ofAnswer: [.pingIsAnswered], to: ping, by: .server) {
        if let reason = absence.reason {
          tally.leave(rule, reason, hearing, at: ping)
          continue
        }
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the server never answered the PINGREQ of frame \(ping.frame), though it went on sending "
              + "for more than 30 s", expected: "PINGRESP",
            actual: "none in \(close.time.seconds(since: ping.time))",
            evidence: hearing.evidence(ping, "PINGREQ")))
      }
    }
  }

  private mutating func closeSilence(
    _ close: Closing, isDirect: Bool, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard close.first == .client, !client.isDeaf else {
      return closeCutSilence(close, isDirect: isDirect, event, hearing, &tally)
    }
    measureSilence(packetSize: 0, isDirect: isDirect, at: close.time, event, hearing, &tally)
  }

  /// Judges the last silence of a client that the server cut off, or of which bytes are missing.
  private mutating func closeCutSilence(
    _ close: Closing, isDirect: Bool, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let keepAlive = effectiveKeepAlive, keepAlive > 0, !isEnding else { return }
    let outcome = life.silence.measure(
      to: close.time, frame: event.context.frame, keepAlive: keepAlive)
    // By other clocks it may have been longer.
    if case .kept = outcome, !clocks.differ { return }
    // A server has to close then, without a word of WebSocket.
    if rare != nil { ownRare.webSocket.note(.client) }
    if case .kept = outcome { return }
    guard !client.isDeaf else { return leaveKeepAlive(.clientGap, hearing, &tally) }
    guard case .broken(let silence) = outcome else {
      return leaveKeepAlive(.serverClosedFirst, hearing, &tally)
    }
    guard hasPings else { return leaveKeepAlive(.pingsNotRecorded, hearing, &tally) }
    // A client that did not close as well may have been silent because it was gone; in its place a proxy does.
    guard close.how == .fin, close.isAnswered, isDirect else {
      return leaveKeepAlive(.clientMayBeGone, hearing, &tally)
    }
    guard !clocks.differ else { return leaveKeepAlive(clocks.doubt, hearing, &tally) }
    violateKeepAlive(keepAlive, silence, event, hearing, &tally)
  }
}

extension MQTTPacketView {
  /// How long the packet may have been on the wire, in bytes: one whose payload is hidden may have been any.
  @inline(__always)
  var sizeOnWire: Int {
    guard payload.byteCount + missing == RedactionRules.mark.utf8.count,
      RedactionRules.mark.hasPrefix(String(copying: payload))
    else { return header.packetSize }
    return .max
  }
}
