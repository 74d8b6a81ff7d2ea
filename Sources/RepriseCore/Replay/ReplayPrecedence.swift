import Wire

/// Tells which of a session's actions an application can have made only after others.
///
/// The recording shows no reasons, only what came between two actions. What the application may have waited for
/// separates them: a message, a connection's beginning and end, and a PUBACK, a PUBCOMP or the answer to
/// a request that leaves nothing under way, as someone has it who waits for each. One that comes while more is under way separates nothing, as the application
/// evidently did not wait for it.
///
/// A SUBACK does not separate subscriptions from each other: they are of several calls, or their order means nothing.
/// A PUBLISH behind SUBACKs follows at least one of the subscriptions; of which nobody knows.
struct ReplayPrecedence {
  /// What has to be performed before an action.
  struct Needs {
    /// Every action up to this place; those behind have the same or a later one.
    let barrier: Int
    /// One of these actions, by their ordinals; none is needed where there are none.
    let oneOf: [Int]
  }

  /// How many of the subscriptions that were granted since the barrier are kept, the first.
  private static let limit = 64

  /// The last action before something that separates; none is -1.
  private(set) var barrier = -1
  private var lastAction = -1
  /// What the server has not answered, by the packet identifier.
  private var underWay: [UInt16: (type: MQTTPacketType, ordinal: Int)] = [:]
  /// How many requests over HTTP are not answered.
  private var asked = 0
  /// The subscriptions that were granted since the barrier.
  private var granted: [Int] = []

  /// Takes the next action.
  mutating func note(action event: Event, at number: Int, _ ordinal: Int) -> Needs {
    let type = event.packetType
    if event.beginsConnection || type == .disconnect || event.isCloseFrameOfClient {
      // Nothing is sent before a connection's beginning, or behind its end.
      separate()
      underWay.removeAll()
      defer { (barrier, lastAction) = (number, number) }
      return Needs(barrier: barrier, oneOf: [])
    }
    lastAction = number
    if case .http = event.body { asked += 1 }
    if let type, let id = event.packetID { underWay[id] = (type, ordinal) }
    return Needs(barrier: barrier, oneOf: type == .publish ? granted : [])
  }

  /// Takes what the server sent.
  @inline(__always)
  mutating func note(answer event: Event) {
    if case .http = event.body {
      asked -= 1
      if asked == 0 { separate() }
      return
    }
    switch event.packetType {
    case .puback, .pubrec, .pubcomp, .suback, .unsuback: note(acknowledgement: event)
    // It answers what the library sent.
    case .pubrel: return
    default: separate()
    }
  }

  private mutating func note(acknowledgement event: Event) {
    guard let id = event.packetID, let (type, ordinal) = underWay.removeValue(forKey: id) else {
      return separate()
    }
    switch type {
    case .subscribe: if granted.count < Self.limit { granted.append(ordinal) }
    case .unsubscribe: return
    default: if underWay.isEmpty { separate() }
    }
  }

  /// What comes next may have waited for what was just there.
  @inline(__always)
  mutating func separate() {
    barrier = lastAction
    if !granted.isEmpty { granted = [] }
  }
}

extension Event {
  /// Whether an action opens a connection, be it one that was open before the capture began.
  var beginsConnection: Bool { isOpenedAnyhow || packetType == .connect }
}
