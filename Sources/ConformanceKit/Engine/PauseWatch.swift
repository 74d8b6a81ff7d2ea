internal import RepriseCore
internal import Wire

/// The pauses in which nothing at all was told, and by which the clock of the capture may have been set forward.
///
/// One client that is silent for too long errs, or sleeps. Where one pause of the whole file, and nothing but it, has
/// several clients that were connected be silent for too long, and they go on, it is the capture that stood still, or its
/// clock that was set, as on a device that learns the time when it is connected. Where the server ends one of them
/// first, which goes by a clock of its own, the time has passed.
struct PauseWatch {
  /// A pause by which several clients were silent for too long, as long as it is not known which of both it was.
  struct Pause {
    /// Its length, in nanoseconds.
    var length: Int64
    /// When it ended.
    var end: Timestamp
  }

  /// How long a pause is at least of which somebody may be silent for too long, in nanoseconds.
  private static let least: Int64 = 1_500_000_000
  /// So many connections may be looked at for each event, so that pauses without end cost no more than events.
  private static let visitsPerEvent = 64
  /// The latest time of an event; nil before the first.
  private var latest: Timestamp?
  /// How many connections may still be looked at.
  private var visits = 1 << 20
  /// The last pause, if it may have been none.
  var doubtful: Pause?

  /// Takes the time of the next event.
  /// - Returns: Whether something is to be seen to before the event.
  @inline(__always)
  mutating func take(_ time: Timestamp) -> (pause: Int64, isDoubtful: Bool) {
    visits += Self.visitsPerEvent
    let pause = latest.map { time.nanoseconds(since: $0) } ?? 1
    if pause > 0 { latest = time }
    return (pause > Self.least ? pause : 0, doubtful != nil)
  }

  /// Asks to look at connections.
  /// - Returns: Whether they may be looked at.
  mutating func visit(_ count: Int) -> Bool {
    guard count <= visits else { return false }
    visits -= count
    return true
  }
}

extension ConformanceJudge {
  /// Sees what the next event says of a pause of the whole file, which it ends, or which was the last one.
  @inline(never)
  mutating func watchPauses(_ pause: Int64, _ event: borrowing EventView) {
    if pause > 0 {
      // The server ended none of the clients that it had to end.
      if pauses.doubtful != nil { doubtTimes() }
      endPause(Pause(length: pause, end: event.context.time))
    }
    guard let pause = pauses.doubtful, table.knows(event.context.connection),
      table[table.place(of: event.context.connection)].isSilent(by: pause.length, at: pause.end)
        == true
    else { return }
    switch event.body {
    case .closed where event.context.sender == .server: pauses.doubtful = nil
    case .mqtt(let packet) where packet.type == .disconnect && event.context.sender == .server:
      pauses.doubtful = nil
    case .mqtt, .webSocket, .closed: if event.context.sender == .client { doubtTimes() }
    case .opened, .attempted, .gap, .malformed, .handshake, .http, .tls: break
    }
  }

  private typealias Pause = PauseWatch.Pause

  /// Sees whether several clients are silent for too long by a pause.
  private mutating func endPause(_ pause: Pause) {
    guard pauses.visit(2 * table.count) else { return tally.held.noteAnySet() }
    var (silent, unknown) = (0, 0)
    table.visit {
      switch $0.isSilent(by: pause.length, at: pause.end) {
      case true?: silent += 1
      case nil: unknown += 1
      case false?: break
      }
    }
    // One that may be another is as much of a doubt.
    if silent > 0, silent + unknown > 1 { pauses.doubtful = pause }
  }

  /// Takes it that no time between two events says how long anything took on the connections that are open.
  private mutating func doubtTimes() {
    pauses.doubtful = nil
    table.change {
      $0.clocks.noteSet()
      tally.held.noteSet($0.number)
    }
  }
}
