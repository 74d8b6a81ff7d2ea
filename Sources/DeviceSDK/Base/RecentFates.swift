/// Remembers what became of the latest hundred requests.
struct RecentFates<Key: Hashable & Sendable, Fate: Sendable>: Sendable {
  /// How many are remembered.
  static var capacity: Int { 100 }

  private var keys: [Key] = []
  private var oldest = 0
  private var fates: [Key: Fate] = [:]

  /// Remembers what became of a request.
  /// - Returns: The request that is forgotten for it, when there are too many.
  @discardableResult
  mutating func note(_ key: Key, _ fate: Fate) -> Key? {
    guard fates.updateValue(fate, forKey: key) == nil else { return nil }
    guard keys.count == Self.capacity else {
      keys.append(key)
      return nil
    }
    let forgotten = keys[oldest]
    keys[oldest] = key
    oldest = (oldest + 1) % Self.capacity
    fates[forgotten] = nil
    return forgotten
  }

  /// What became of a request; nil when there was none, or too long ago.
  subscript(_ key: Key) -> Fate? { fates[key] }
}
