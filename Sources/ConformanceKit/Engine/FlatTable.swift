/// Values by keys that are hashes already, in one block: open addressing, at most two thirds full.
struct FlatTable<Value> {
  private struct Slot {
    /// The key; 0 is a free slot.
    var key: UInt64
    var value: Value
  }

  private var slots: [Slot] = []
  private(set) var count = 0
  private let limit: Int
  private let empty: Value

  /// Creates a table.
  /// - Parameters:
  ///   - limit: The most entries that it takes.
  ///   - empty: What stands in free slots.
  init(limit: Int, empty: Value) {
    self.limit = limit
    self.empty = empty
  }

  /// The value of a key, made from the one that is there; false where there is no room for another one.
  @inline(__always)
  mutating func update(_ key: UInt64, _ body: (inout Value, _ isNew: Bool) -> Void) -> Bool {
    // A full table has no free slot too many: it takes three slots for two entries, and its limit is 64 doubled.
    if 2 * slots.count < 3 * (count + 1) {
      guard count < limit else { return updateKnown(key, body) }
      grow()
    }
    let slot = find(key)
    let isNew = slots[slot].key == 0
    if isNew {
      guard count < limit else { return false }
      slots[slot].key = Self.stored(key)
      count += 1
    }
    body(&slots[slot].value, isNew)
    return true
  }

  /// The value of a key; nil where there is none.
  subscript(key: UInt64) -> Value? {
    guard !slots.isEmpty else { return nil }
    let slot = find(key)
    return slots[slot].key == 0 ? nil : slots[slot].value
  }

  /// Whether there is a value of a key.
  func contains(_ key: UInt64) -> Bool { !slots.isEmpty && slots[find(key)].key != 0 }

  /// Has the place of a key at hand, which is asked for soon.
  @inline(__always)
  func prefetch(_ key: UInt64) {
    slots.prefetch(home(Self.stored(key)))
  }

  /// Whether it takes no further keys.
  var isFull: Bool { count >= limit }

  private mutating func updateKnown(
    _ key: UInt64, _ body: (inout Value, _ isNew: Bool) -> Void
  ) -> Bool {
    guard !slots.isEmpty else { return false }
    let slot = find(key)
    guard slots[slot].key != 0 else { return false }
    body(&slots[slot].value, false)
    return true
  }

  private static func stored(_ key: UInt64) -> UInt64 { key == 0 ? 1 : key }

  /// Where a key would stand if it were alone: its hash, as a part of one, of all slots.
  @inline(__always)
  private func home(_ stored: UInt64) -> Int {
    let hash = UInt64(UInt32(truncatingIfNeeded: stored ^ stored >> 32))
    return Int(truncatingIfNeeded: (hash &* UInt64(truncatingIfNeeded: slots.count)) >> 32)
  }

  @inline(__always)
  private func find(_ key: UInt64) -> Int {
    let key = Self.stored(key)
    var slot = home(key)
    while slots[slot].key != 0, slots[slot].key != key {
      slot += 1
      if slot == slots.count { slot = 0 }
    }
    return slot
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(key: 0, value: empty), count: max(96, 2 * old.count))
    for slot in old where slot.key != 0 { slots[find(slot.key)] = slot }
  }
}
