/// Tells a connection that another user of the same identity takes over again and again from one that does not last.
///
/// A kick is what a cloud does to the connection that an identity has when the identity connects once more (MQTT
/// 3.1.1 section 3.1.4): it says so by DISCONNECT 0x8E (MQTT 5.0), or closes the connection in good order without a
/// reason soon after it was accepted: within the window. What breaks, a tunnel or a weak network, is no kick, however
/// often it does; nor is a DISCONNECT that names another reason.
package struct KickCounter: Sendable {
  /// How many kicks within the window are too many; nil never counts.
  private let limit: Int?
  private let window: Duration
  private var acceptedAt: Timestamp?
  private var kicks: [Timestamp] = []

  /// Creates a counter.
  /// - Parameters:
  ///   - limit: How many kicks within the window are too many; nil never counts.
  ///   - window: The window, which is also how soon after its acceptance a connection is closed by a kick.
  package init(limit: Int?, window: Duration) {
    self.limit = limit
    self.window = window
  }

  /// Begins anew, as the application does.
  mutating func reset() { (acceptedAt, kicks) = (nil, []) }

  /// A connection was accepted.
  package mutating func noteAccepted(_ now: Timestamp) { acceptedAt = now }

  /// A connection that was accepted is over.
  /// - Returns: Whether it was kicked out, and that too often.
  package mutating func noteClosed(_ reason: ClientEvent.Closed, _ now: Timestamp) -> Bool {
    defer { acceptedAt = nil }
    guard let limit, isKick(reason, now) else { return false }
    kicks = kicks.suffix(max(0, limit - 1)) + [now]
    guard kicks.count >= limit, let first = kicks.first else { return false }
    return now < first.advanced(by: window)
  }

  private func isKick(_ reason: ClientEvent.Closed, _ now: Timestamp) -> Bool {
    switch reason {
    case .byServer(code: Self.sessionTakenOver, _): true
    case .byServer(code: nil, _): acceptedAt.map { now < $0.advanced(by: window) } ?? false
    case .byServer, .byUser, .refused, .lost, .unreached: false
    }
  }

  /// The reason code of MQTT 5.0 section 3.14.2.1.
  private static let sessionTakenOver: UInt8 = 0x8E
}
