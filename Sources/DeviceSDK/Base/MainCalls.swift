import RepriseCore

/// Calls that wait for the main actor, in order.
///
/// Those that tell a message are kept up to a limit, and beyond it the oldest of them are dropped: a main
/// actor that is busy for long costs no more memory than that. The others, which only what the
/// application did and the connection's changes bring about, are all kept.
struct MainCalls: Sendable {
  typealias Work = @Sendable @MainActor () -> Void

  /// How many calls with messages wait at most.
  static let limit = 16_384

  private var calls = Fifo<(work: Work, isMessage: Bool)>()
  private var messages = 0
  /// How many calls were dropped.
  private(set) var dropped: UInt64 = 0

  /// Adds a call at the end.
  /// - Parameters:
  ///   - work: The call.
  ///   - isMessage: Whether it tells a message.
  mutating func append(_ work: @escaping Work, isMessage: Bool) {
    if isMessage {
      if messages == Self.limit { dropOldestMessage() }
      messages += 1
    }
    calls.append((work, isMessage))
  }

  private mutating func dropOldestMessage() {
    guard let index = calls.firstIndex(where: \.isMessage) else { return }
    // The few that stand before it keep their order.
    for place in stride(from: index, to: 0, by: -1) { calls.swapAt(place, place - 1) }
    _ = popFirst()
    dropped &+= 1
  }

  /// Takes the oldest call.
  mutating func popFirst() -> Work? {
    guard let (work, isMessage) = calls.popFirst() else { return nil }
    if isMessage { messages -= 1 }
    return work
  }
}
