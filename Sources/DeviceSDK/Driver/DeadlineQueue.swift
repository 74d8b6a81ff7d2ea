import DataClient

/// The deadlines of calls, the earliest first.
///
/// Most calls have the same time-out, so a new deadline is nearly always the last, and calls are
/// mostly done in order: both ends are cheap.
struct DeadlineQueue: Sendable {
  private struct Entry {
    let deadline: Timestamp
    let call: CallID
  }

  private var entries: [Entry] = []
  private var start = 0
  private var deadlines: [CallID: Timestamp] = [:]

  /// The earliest deadline.
  var first: Timestamp? { start < entries.count ? entries[start].deadline : nil }

  /// Sets the deadline of a call, or takes it away.
  mutating func set(_ deadline: Timestamp?, for call: CallID) {
    if let deadline {
      deadlines[call] = deadline
      var low = start
      var high = entries.count
      while low < high, let last = entries.last {
        let middle = last.deadline <= deadline ? high - 1 : (low + high) / 2
        if entries[middle].deadline <= deadline { low = middle + 1 } else { high = middle }
      }
      entries.insert(Entry(deadline: deadline, call: call), at: low)
    } else {
      deadlines[call] = nil
    }
    prune()
  }

  /// Takes out a call whose deadline is not after a moment; the earliest first.
  mutating func popExpired(at now: Timestamp) -> CallID? {
    guard start < entries.count, entries[start].deadline <= now else { return nil }
    let call = entries[start].call
    set(nil, for: call)
    return call
  }

  /// Drops entries at the front that no longer hold.
  private mutating func prune() {
    while start < entries.count, deadlines[entries[start].call] != entries[start].deadline {
      start += 1
    }
    guard start > 32, start * 2 > entries.count else { return }
    entries.removeFirst(start)
    start = 0
  }
}
