internal import RepriseCore
internal import Wire

/// How an event is judged: what is known of its connection that no rule can change.
///
/// It is made once an event and handed to every rule that the event touches, so that a report always
/// says what holds for the event that it is about.
struct Hearing {
  /// Whether the connection is judged.
  enum Mode {
    case judged
    /// Its version of MQTT is only inferred.
    case inferred
    /// A client retold its messages; handshake and frames are made up for the recording.
    case retold

    /// Why nothing on the connection is decided, if nothing is.
    var doubt: UndecidedReason? {
      switch self {
      case .judged: nil
      case .inferred: .inferredVersion
      case .retold: .retold
      }
    }
  }

  let mode: Mode
  /// Whether it is reported.
  let isReported: Bool
  /// By whose clauses it is judged: those of 3.1.1 where nobody knows.
  let version: MQTTVersion
  /// The number of the connection.
  let connection: Int
  /// The end whose conduct is judged, where a clause binds both: as a rule the sender; nil is either, as where a
  /// connection ends.
  let subject: Peer?
  /// The event, for a report that points at no other.
  let moment: Moment
  /// Whether what is treated as missing on the connection is only out of order.
  let isOrderUncertain: Bool
  /// Why what is missing of the connection was given up; nil where it was not.
  let givenUp: UndecidedReason?
  /// Why all that is open of the connection is given up by this event; nil where it is not.
  let givingUp: UndecidedReason?
  /// The ends of which the connection has something else than they sent, as a proxy says, or not all of it.
  let altered: Blame

  /// Creates the hearing of an event on a connection.
  /// - Parameters:
  ///   - context: The event's place.
  ///   - mode: Whether the connection is judged.
  ///   - state: What is known of the connection, its order and its losses up to the event; not changed, but read where
  ///     it lies, as a copy out of the table retains all that it holds.
  ///   - subject: The end whose conduct the event shows; nil is either.
  ///   - givingUp: Why all that is open is given up by the event; nil where it is not.
  @inline(__always)
  init(
    _ context: EventContext, _ mode: Mode, _ state: inout ConnectionState, of subject: Peer?,
    givingUp: UndecidedReason? = nil
  ) {
    self.mode = mode
    isReported = state.isReported
    version = state.wire.version == .v5_0 ? .v5_0 : .v3_1_1
    connection = context.connection
    self.subject = subject
    moment = Moment(context)
    isOrderUncertain = state.isOrderUncertain && !state.hasLoss
    givenUp = state.givenUp
    self.givingUp = givingUp
    altered = state.altered
  }

  private init(_ hearing: Hearing, _ mode: Mode, of subject: Peer?) {
    self.mode = mode
    self.subject = subject
    isReported = hearing.isReported
    version = hearing.version
    connection = hearing.connection
    moment = hearing.moment
    isOrderUncertain = hearing.isOrderUncertain
    givenUp = hearing.givenUp
    givingUp = hearing.givingUp
    altered = hearing.altered
  }

  /// The same, judged in another way: what a connection carries may be judged where it itself is not.
  func judged(_ mode: Mode) -> Hearing { Hearing(self, mode, of: subject) }

  /// The same, on the conduct of one end: of that which had to answer, or to close, and not of that which sent.
  func of(_ subject: Peer) -> Hearing { Hearing(self, mode, of: subject) }

  /// The reason to report where a rule has one: that the connection is not judged at all comes first, and
  /// that what is missing was given up, or is only out of order, second.
  @inline(__always)
  func reason(for reason: UndecidedReason) -> UndecidedReason {
    if let doubt = mode.doubt { return doubt }
    if let givingUp { return givingUp }
    if let givenUp { return reason.becoming(givenUp) }
    return isOrderUncertain ? reason.withoutGap : reason
  }
}

extension Hearing {
  /// A packet of the same connection that a finding rests on.
  /// - Parameters:
  ///   - moment: Its place.
  ///   - role: What it is to the finding.
  /// - Returns: It alone.
  func evidence(_ moment: Moment, _ role: String) -> [Finding.Evidence] {
    [Finding.Evidence(frame: moment.frame, connection: connection, role: role)]
  }
}
