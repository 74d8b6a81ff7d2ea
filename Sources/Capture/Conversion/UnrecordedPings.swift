internal import RepriseCore
internal import Wire

/// Tells where a client must have sent a PINGREQ, of which a recording that it makes of itself has none.
struct UnrecordedPings {
  /// The Keep Alive, in seconds; 0 is none.
  private var keepAlive: UInt16 = 0
  private var last: Timestamp?

  /// Takes the next event of the connection.
  /// - Parameter event: The event.
  /// - Returns: Whether the client had been silent for longer than its Keep Alive in front of it.
  mutating func take(_ event: borrowing EventView) -> Bool {
    let time = event.context.time
    if case .closed = event.body { return isDue(at: time) }
    guard case .mqtt(let packet) = event.body else { return false }
    guard event.context.sender == .client else {
      if packet.type == .connack, let given = packet.properties.integer(.serverKeepAlive) {
        keepAlive = UInt16(clamping: given)
      }
      return false
    }
    defer { last = time }
    if let connect = packet.connect { keepAlive = connect.keepAlive }
    return isDue(at: time)
  }

  private func isDue(at time: Timestamp) -> Bool {
    guard keepAlive > 0, let last else { return false }
    return time.nanoseconds(since: last) > Int64(keepAlive) * 1_000_000_000
  }
}
