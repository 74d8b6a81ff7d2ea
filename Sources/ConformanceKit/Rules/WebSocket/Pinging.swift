internal import RepriseCore
internal import Wire

/// The Ping frames of a side that were not answered yet, oldest first.
struct OpenPings {
  struct Ping {
    var moment: Moment
    /// What the Pong must repeat; nil when bytes of it are missing.
    var data: PingData?
    /// Whether it stands between the fragments of a message.
    var isBetween = false
    /// Whether a message in fragments was ended before.
    var isBehind = false
  }

  private(set) var open: [Ping] = []
  /// A Pong that repeats none of them, until it is clear whether it was meant as an answer.
  var stray: Event?
  /// What tells the data of the last Pong that nobody had asked for; 0 where there was none.
  var unasked: UInt32 = 0
  private static let maximum = 64
  /// What the last Pings held, be they answered or not, and the place of the next one.
  private var met: [PingData] = []
  private var next = 0

  /// The memory that they take, in bytes.
  var reserved: Int {
    (stray == nil ? 0 : 8 << 10) + open.grownSize + met.grownSize
  }

  /// Tells whether one of the last Pings held the same.
  func hasMet(_ data: PingData) -> Bool { met.contains(data) }

  /// Notes what a Ping holds.
  mutating func meet(_ data: PingData) {
    guard !met.contains(data) else { return }
    if met.count < Self.maximum {
      met.append(data)
    } else {
      met[next] = data
      next = (next + 1) % Self.maximum
    }
  }

  mutating func add(_ ping: Ping) -> Bool {
    guard open.count < Self.maximum else { return false }
    open.append(ping)
    return true
  }

  /// Takes a Pong.
  ///
  /// An endpoint that is asked several times may answer the last time only, so all before it are answered, too.
  /// - Parameter data: What it holds.
  /// - Returns: The Ping that it answers; nil when it repeats none that is open.
  mutating func answer(with data: PingData?) -> Ping? {
    let index = open.lastIndex { data == nil || $0.data == nil || $0.data == data }
    guard let index else { return nil }
    let ping = open[index]
    open.removeFirst(index + 1)
    stray = nil
    return ping
  }

  mutating func removeAll() {
    open.removeAll()
    stray = nil
  }
}

/// What is kept of the data of a Ping frame, which may be of any size where it breaks the rules.
///
/// Two that are equal here are taken for the same: at worst, a Pong for the answer that it is not.
struct PingData: Equatable {
  let count: Int
  let hash: UInt64

  init(_ data: RawSpan) {
    count = data.byteCount
    hash = TextHash.of(data)
  }
}

// Ping and Pong: sections 5.5.2 and 5.5.3.
extension WebSocketState {
  mutating func takePing(
    _ frame: borrowing WebSocketFrameView, _ context: EventContext, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let data = Self.data(of: frame)
    if let data { self[context.sender].pings.meet(data) }
    // A side that has sent a Close frame waits for no answers but that to it, and need not read on for anything else.
    guard self[context.sender].close == nil, self[context.sender.other].close == nil else { return }
    var ping = OpenPings.Ping(moment: Moment(context), data: data)
    if case .open = self[context.sender].message { ping.isBetween = true }
    ping.isBehind = self[context.sender].hasFragments
    if !self[context.sender].pings.add(ping) { tally.leave(.pingHasPong, .tooMany, hearing) }
  }

  /// Judges a Pong, which nobody has to have asked for.
  mutating func takePong(
    _ frame: borrowing WebSocketFrameView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let asker = event.context.sender.other
    let data = Self.data(of: frame)
    guard !self[asker].pings.open.isEmpty else {
      self[asker].pings.unasked = data.short
      return
    }
    if let ping = self[asker].pings.answer(with: data) {
      if ping.isBetween { tally.satisfy(.controlIsTakenBetween, hearing) }
      if ping.isBehind { tally.satisfy(.fragmentsAreTaken, hearing) }
      tally.satisfy(.pingHasPong, hearing)
      return tally.satisfy(.pongRepeatsPing, hearing)
    }
    // An end that tells by Pongs that it is there, unasked, goes on with it (section 5.5.3).
    let isSign =
      frame.header.payloadLength == 0 || data != nil && data.short == self[asker].pings.unasked
    if self[asker].pings.stray == nil, !isSign {
      self[asker].pings.stray = Event(copying: event.start(of: 4 << 10))
    }
  }

  private static func seenData(of event: borrowing EventView) -> String {
    guard case .webSocket(let pong) = event.body else { return "" }
    let bytes = pong.hex(from: pong.header.size, count: 16)
    return "\(pong.header.payloadLength) bytes: \(bytes)"
  }

  private static func data(of frame: borrowing WebSocketFrameView) -> PingData? {
    frame.missing == 0 ? PingData(frame.payload) : nil
  }

  /// Gives up on Pings whose answers may be among bytes that are missing.
  mutating func losePongs(of peer: Peer, _ hearing: Hearing, _ tally: inout Tally) {
    guard !self[peer.other].pings.open.isEmpty else { return }
    tally.leave(.pingHasPong, .gap(of: peer), hearing)
    self[peer.other].pings.removeAll()
  }

  /// Judges the last Ping of a side, and what came in the place of its answer.
  mutating func closePings(
    of asker: Peer, _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let ping = self[asker].pings.open.last else { return }
    let stray = self[asker].pings.stray
    let hearing = hearing.of(asker.other)
    self[asker].pings.removeAll()
    var absence = absence(since: ping.moment.time, by: asker.other, at: close)
    if let end = self[asker].close, !end.time.isLate(since: ping.moment.time) {
      absence = .undecided(.closeCameFirst)
    }
    // Among what is missing may be a Close frame, behind which it need not read on.
    if case .violation = absence, self[asker.other].mayHaveClosed {
      absence = .undecided(.gap(of: asker.other))
    }
    switch absence {
    case .undecided(let reason):
      tally.leave(.pingHasPong, reason, hearing, at: ping.moment)
      if stray != nil { tally.leave(.pongRepeatsPing, reason, hearing, at: ping.moment) }
    case .violation:
      let answerer = asker.other.rawValue
      tally.violate(
        .pingHasPong, event, hearing,
        FindingText(
          "the \(answerer) never answered the PING of frame \(ping.moment.frame), though it went on "
            + "sending for more than 30 s", expected: "PONG with the same data",
          actual: "none in \(close.time.seconds(since: ping.moment.time))"))
      stray?.withView { pong in
        tally.violate(
          .pongRepeatsPing, pong, hearing,
          FindingText(
            "the \(answerer) sent a PONG with other data than the PING of frame "
              + "\(ping.moment.frame), which it never answered otherwise",
            expected: "the data of the PING", actual: Self.seenData(of: pong)))
      }
    }
  }
}

extension PingData? {
  /// What tells it roughly; 0 where it is not known.
  fileprivate var short: UInt32 { map { UInt32(truncatingIfNeeded: $0.hash) | 1 } ?? 0 }
}
