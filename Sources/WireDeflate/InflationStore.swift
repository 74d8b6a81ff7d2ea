/// What all senders of a capture may inflate to together, so that few bytes can't keep a reader busy.
///
/// A message may inflate to ``floor`` bytes and ``factor`` times those that were sent, which messages
/// of a purpose seldom exceed, even where one is sent over and over; DEFLATE itself goes up to 1,032.
/// What is beyond that comes out of one store.
package final class InflationStore {
  /// So many bytes each compressed byte may become.
  package static let factor = 100
  /// So many bytes each message may become besides.
  package static let floor = 4 << 10

  /// The bytes that are left in the store.
  fileprivate(set) var left: Int
  /// The messages that were not inflated because the store was empty.
  package fileprivate(set) var refused = 0

  /// Creates a store.
  /// - Parameter bytes: How much is in it, 32 MiB if not stated.
  package init(of bytes: Int = 32 << 20) { left = max(0, bytes) }
}

/// What one sender may inflate to.
struct InflationAllowance {
  /// The store that it draws on; nil where nothing is limited.
  let store: InflationStore?
  /// The bytes that its compressed ones entitle it to and that it has not used.
  private var own = 0

  init(_ store: InflationStore?) { self.store = store }

  /// Takes account of compressed bytes.
  /// - Parameters:
  ///   - count: How many.
  ///   - isStart: Whether a message begins with them.
  /// - Returns: How many bytes they may become.
  mutating func room(for count: Int, isStart: Bool) -> Int {
    guard let store else { return .max }
    own += count * InflationStore.factor + (isStart ? InflationStore.floor : 0)
    return own + store.left
  }

  /// Takes account of what was inflated.
  mutating func use(_ count: Int) {
    guard let store else { return }
    let excess = max(0, count - own)
    own = max(0, own - count)
    store.left = max(0, store.left - excess)
  }

  /// Counts a message for which there was no room.
  func refuse() { store?.refused += 1 }
}
