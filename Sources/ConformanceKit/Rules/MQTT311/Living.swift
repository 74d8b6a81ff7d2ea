internal import DataClient
internal import Wire

/// The PINGREQs without a PINGRESP, oldest first.
struct PendingPings {
  private(set) var open: [Moment] = []
  /// PINGREQs for whose successors a PINGRESP came, when they were open for too long.
  private(set) var passed: [Moment] = []
  private static let maximum = 64

  mutating func add(_ moment: Moment) -> Bool {
    guard open.count < Self.maximum else { return false }
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
    let isPrompt = time.nanoseconds(since: newest.time) <= ConnectionState.patience
    open.removeFirst()
    guard open.count > 0, isLate, isPrompt else { return true }
    if passed.count < Self.maximum { passed.append(oldest) }
    open.removeLast()
    return true
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
  private var isMeasured = false
  private var isBroken = false
  /// Whether CONNACK came within the silence; a client may wait for it.
  private var hasConnack = false

  /// Starts to measure at the CONNECT.
  mutating func start(at time: Timestamp) { last = time }

  /// Notes that CONNACK came.
  mutating func noteConnack() { hasConnack = true }

  /// Notes that bytes of the client are missing.
  mutating func lose() { last = nil }

  /// What a silence means.
  enum Outcome {
    case kept
    case undecided(UndecidedReason)
    case broken(seconds: Double)
  }

  /// Measures the silence up to a packet of the client, or its close.
  mutating func measure(
    to time: Timestamp, keepAlive: UInt16, packetSize: Int = 0
  ) -> Outcome {
    defer {
      last = time
      hasConnack = false
    }
    guard let last, keepAlive > 0 else { return .kept }
    isMeasured = true
    let silence = time.nanoseconds(since: last)
    let limit = Int64(keepAlive) * 1_000_000_000
    // A tenth, or half a second, is for timers and the way to where the capture was taken.
    guard silence > limit + max(limit / 10, 500_000_000) else { return .kept }
    isBroken = true
    if hasConnack { return .undecided(.connackInSilence) }
    guard silence > limit + max(limit / 2, 1_000_000_000) else {
      return .undecided(.keepAliveMargin)
    }
    // The time of a packet is that of its last byte; only the first had to come in time.
    if packetSize > 1_200 { return .undecided(.longPacket) }
    return .broken(seconds: Double(silence) / 1_000_000_000)
  }

  /// Whether silences were measured, and all of them were short enough.
  var isKept: Bool { isMeasured && !isBroken }
}

// Keep Alive, PINGREQ and PINGRESP: sections 3.1.2.10, 3.12 and 3.13.
extension ConnectionState {
  /// Measures how long the client was silent before its packet, or its close.
  @inline(__always)
  mutating func measureSilence(
    packetSize: Int, at time: Timestamp, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    guard let keepAlive = connect?.keepAlive, keepAlive > 0, disconnect == nil else { return }
    switch silence.measure(to: time, keepAlive: keepAlive, packetSize: packetSize) {
    case .kept: break
    case .undecided(let reason): tally.leave(.keepAlive, reason)
    case .broken where !hasPings: tally.leave(.keepAlive, .pingsNotRecorded)
    case .broken(let seconds):
      tally.violate(
        MQTT311Rule.keepAlive.index, event,
        FindingText(
          "the client was silent for longer than its Keep Alive",
          expected: "a packet at least every \(keepAlive) s",
          actual: "\(Self.rounded(seconds)) s of silence"))
    }
  }

  private static func rounded(_ seconds: Double) -> Double { (seconds * 1_000).rounded() / 1_000 }

  mutating func clientPings(_ context: EventContext, _ tally: inout Tally) {
    if pings.open.isEmpty, offence?.sender == .client { offence?.isPinged = true }
    if !pings.add(Moment(context)) { tally.leave(.pingIsAnswered, .tooMany) }
  }

  mutating func serverPongs(_ context: EventContext, _ tally: inout Tally) {
    if pings.answer(at: context.time) { tally.satisfy(.pingIsAnswered) }
  }

  /// Judges the PINGREQs that were never answered, and the client's last silence.
  mutating func closeLife(_ close: Closing, _ event: borrowing EventView, _ tally: inout Tally) {
    for ping in pings.passed + pings.open {
      let isPassed = pings.passed.contains { $0.frame == ping.frame }
      var absence = absence(since: ping.time, by: .server, at: close)
      if isPassed, close.how != .endOfCapture { absence = .violation }
      switch absence {
      case .undecided(let reason): tally.leave(.pingIsAnswered, reason)
      case .violation:
        tally.violate(
          MQTT311Rule.pingIsAnswered.index, event,
          FindingText(
            "the server never answered the PINGREQ of frame \(ping.frame), though it went on sending "
              + "for more than 30 s", expected: "PINGRESP", actual: "no PINGRESP"))
      }
    }
    if close.how != .endOfCapture { closeSilence(close, event, &tally) }
    if silence.isKept { tally.satisfy(.keepAlive) }
  }

  private mutating func closeSilence(
    _ close: Closing, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    guard close.first == .client, !client.isDeaf else {
      // Who was cut off may have been silent because it was gone.
      guard let keepAlive = connect?.keepAlive, keepAlive > 0, disconnect == nil else { return }
      if case .kept = silence.measure(to: close.time, keepAlive: keepAlive) { return }
      return tally.leave(.keepAlive, client.isDeaf ? .clientGap : .serverClosedFirst)
    }
    measureSilence(packetSize: 0, at: close.time, event, &tally)
  }
}
