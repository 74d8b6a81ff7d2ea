import RepriseCore

/// The deadlines of calls, the earliest first.
typealias DeadlineQueue = Deadlines<CallID>

/// The deadlines of what is waited for, the earliest first.
///
/// Most calls have the same time-out, so a new deadline is nearly always the last, and calls are
/// mostly done in order: both ends are cheap.
struct Deadlines<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    let deadline: Timestamp
    let key: Key
  }

  private var entries: [Entry] = []
  private var start = 0
  private var deadlines: [Key: Timestamp] = [:]

  /// The earliest deadline.
  var first: Timestamp? { start < entries.count ? entries[start].deadline : nil }

  /// The deadline of a key; nil where it has none.
  func deadline(of key: Key) -> Timestamp? { deadlines[key] }

  /// Sets the deadline of a key, or takes it away.
  mutating func set(_ deadline: Timestamp?, for key: Key) {
    if let deadline {
      deadlines[key] = deadline
      var low = start
      var high = entries.count
      while low < high, let last = entries.last {
        let middle = last.deadline <= deadline ? high - 1 : (low + high) / 2
        if entries[middle].deadline <= deadline { low = middle + 1 } else { high = middle }
      }
      entries.insert(Entry(deadline: deadline, key: key), at: low)
    } else {
      deadlines[key] = nil
    }
    prune()
  }

  /// Takes out a key whose deadline is not after a moment; the earliest first.
  mutating func popExpired(at now: Timestamp) -> Key? {
    guard start < entries.count, entries[start].deadline <= now else { return nil }
    let key = entries[start].key
    set(nil, for: key)
    return key
  }

  /// Drops entries at the front that no longer hold.
  private mutating func prune() {
    while start < entries.count, deadlines[entries[start].key] != entries[start].deadline {
      start += 1
    }
    guard start > 32, start * 2 > entries.count else { return }
    entries.removeFirst(start)
    start = 0
  }
}
