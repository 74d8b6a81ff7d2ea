/// Which part of a session is replayed, by time; both ends belong to it.
public struct ReplayWindow: Sendable {
  /// A moment as people write it.
  public struct Moment: Sendable, LosslessStringConvertible {
    /// The text that it was read from.
    public let description: String
    private let value: FilterValue

    /// Reads `2026-11-21T07:39:01Z`, the time of day `07:39` or `07:39:01.5` (UTC), or `+2s` since the first
    /// event of the file (`ms`, `s`, `m`, `h`).
    ///
    /// Returns nil for anything else.
    public init?(_ description: String) {
      guard let time = FilterTime(description) else { return nil }
      self.description = description
      value = time.value
    }

    /// How much later than this moment a time is, in nanoseconds; negative when it is earlier.
    func distance(to time: Timestamp, start: Timestamp) -> Int64 {
      switch value {
      case .moment(let moment): time.nanoseconds(since: moment)
      case .sinceStart(let nanoseconds): time.nanoseconds(since: start) &- nanoseconds
      case .timeOfDay(let nanoseconds): time.nanosecondsOfDay &- nanoseconds
      case .type, .peer, .version, .webSocket, .http, .tls, .carrier, .text, .number, .reason: 0
      }
    }
  }

  /// The first moment; nil is the beginning of the session.
  public var from: Moment?
  /// The last moment; nil is the end of the session.
  public var to: Moment?
  private var start: Timestamp?

  /// Creates a window.
  /// - Parameters:
  ///   - from: The first moment; nil is the beginning of the session.
  ///   - to: The last moment; nil is the end of the session.
  public init(from: Moment? = nil, to: Moment? = nil) {
    self.from = from
    self.to = to
  }

  /// Whether there is anything outside of the window.
  var isLimited: Bool { from != nil || to != nil }

  /// Tells whether the next event of the file is in the window.
  mutating func contains(_ time: Timestamp) -> Bool {
    side(of: time) == .inside
  }

  /// Where a moment is, as seen from a window.
  package enum Side { case before, inside, behind }

  /// Tells on which side of the window the next event of the file is.
  /// - Parameter time: Its time; the first one is the start of the file.
  /// - Returns: The side.
  package mutating func side(of time: Timestamp) -> Side {
    guard isLimited else { return .inside }
    let start = start ?? time
    self.start = start
    if let from, from.distance(to: time, start: start) < 0 { return .before }
    if let to, to.distance(to: time, start: start) > 0 { return .behind }
    return .inside
  }
}
