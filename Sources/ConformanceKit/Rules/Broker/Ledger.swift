/// The last messages that clients published to servers, found by topic and payload.
///
/// It is a ring: the oldest goes when there is no room. A message that is delivered later is one of a publisher that was
/// not seen, which leaves open what it would explain.
struct Ledger {
  /// The most messages that are kept.
  static let capacity = 65_536

  private var ring: [Publication] = []
  private var next = 0
  /// The places in the ring by the keys: open addressing, -1 where none is; at most half of it is taken.
  private var slots: [Int32] = []

  subscript(key: UInt64) -> Publication? {
    guard let place = find(key) else { return nil }
    return ring[place]
  }

  /// Changes a message that is kept.
  /// - Returns: Whether there is one of the key.
  @discardableResult
  @inline(__always)
  mutating func change(_ key: UInt64, _ body: (inout Publication) -> Void) -> Bool {
    guard let place = find(key) else { return false }
    body(&ring[place])
    return true
  }

  /// Keeps a message of which there is none of its key.
  mutating func add(_ publication: Publication) {
    if ring.count < Self.capacity {
      if slots.count < 2 * (ring.count + 1) { grow() }
      place(ring.count, for: publication.key)
      ring.append(publication)
      return
    }
    remove(ring[next].key)
    ring[next] = publication
    place(next, for: publication.key)
    next = (next + 1) % Self.capacity
  }

  private func find(_ key: UInt64) -> Int? {
    guard !slots.isEmpty else { return nil }
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: key) & mask
    while slots[slot] >= 0 {
      if ring[Int(slots[slot])].key == key { return Int(slots[slot]) }
      slot = (slot + 1) & mask
    }
    return nil
  }

  private mutating func place(_ index: Int, for key: UInt64) {
    let mask = slots.count - 1
    var slot = Int(truncatingIfNeeded: key) & mask
    while slots[slot] >= 0 { slot = (slot + 1) & mask }
    slots[slot] = Int32(truncatingIfNeeded: index)
  }

  private mutating func remove(_ key: UInt64) {
    let mask = slots.count - 1
    var hole = Int(truncatingIfNeeded: key) & mask
    while slots[hole] >= 0, ring[Int(slots[hole])].key != key { hole = (hole + 1) & mask }
    guard slots[hole] >= 0 else { return }
    var slot = (hole + 1) & mask
    while slots[slot] >= 0 {
      let home = Int(truncatingIfNeeded: ring[Int(slots[slot])].key) & mask
      if (slot - home) & mask >= (slot - hole) & mask {
        slots[hole] = slots[slot]
        hole = slot
      }
      slot = (slot + 1) & mask
    }
    slots[hole] = -1
  }

  private mutating func grow() {
    slots = Array(repeating: -1, count: max(64, 2 * slots.count))
    for index in ring.indices { place(index, for: ring[index].key) }
  }
}
