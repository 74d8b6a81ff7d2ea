/// The last messages that clients published to servers, found by topic and payload.
///
/// It is a ring: the oldest goes when there is no room. A message that is delivered later is one of a publisher that was
/// not seen, which leaves open what it would explain.
struct Ledger {
  /// The most messages that are kept.
  static let capacity = 65_536

  private var ring: [Publication] = []
  private var next = 0
  /// The places in the ring by the keys: open addressing, at most half of it is taken.
  private var slots: [Slot] = []

  /// A place in the ring with the low bits of its key, so that the message is touched only if it is the one.
  private struct Slot {
    static let free = Slot(low: 0, place: -1)
    var low: UInt32
    var place: Int32

    init(_ key: UInt64, at place: Int) {
      self.init(
        low: UInt32(truncatingIfNeeded: key), place: Int32(truncatingIfNeeded: place))
    }

    private init(low: UInt32, place: Int32) {
      self.low = low
      self.place = place
    }

    var isFree: Bool { place < 0 }
  }

  subscript(key: UInt64) -> Publication? {
    guard let place = find(key) else { return nil }
    return ring[place]
  }

  /// Has the place of a key at hand, which is asked for soon.
  @inline(__always)
  func prefetch(_ key: UInt64) {
    slots.prefetch(Int(UInt32(truncatingIfNeeded: key)) & (slots.count - 1))
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
      ring.makeRoom(atMost: Self.capacity)
      ring.append(publication)
      return
    }
    removeSlot(of: next)
    ring[next] = publication
    place(next, for: publication.key)
    next = (next + 1) % Self.capacity
  }

  @inline(__always)
  private func find(_ key: UInt64) -> Int? {
    guard !slots.isEmpty else { return nil }
    let mask = slots.count - 1
    let low = UInt32(truncatingIfNeeded: key)
    var index = Int(low) & mask
    while !slots[index].isFree {
      let slot = slots[index]
      if slot.low == low, ring[Int(slot.place)].key == key { return Int(slot.place) }
      index = (index + 1) & mask
    }
    return nil
  }

  private mutating func place(_ place: Int, for key: UInt64) {
    let mask = slots.count - 1
    var index = Int(UInt32(truncatingIfNeeded: key)) & mask
    while !slots[index].isFree { index = (index + 1) & mask }
    slots[index] = Slot(key, at: place)
  }

  /// Takes the message at a place of the ring out of the slots.
  private mutating func removeSlot(of place: Int) {
    let mask = slots.count - 1
    var hole = Int(UInt32(truncatingIfNeeded: ring[place].key)) & mask
    while !slots[hole].isFree, Int(slots[hole].place) != place { hole = (hole + 1) & mask }
    guard !slots[hole].isFree else { return }
    var index = (hole + 1) & mask
    while !slots[index].isFree {
      let home = Int(slots[index].low) & mask
      if (index - home) & mask >= (index - hole) & mask {
        slots[hole] = slots[index]
        hole = index
      }
      index = (index + 1) & mask
    }
    slots[hole] = .free
  }

  private mutating func grow() {
    slots = Array(repeating: .free, count: max(64, 2 * slots.count))
    for index in ring.indices { place(index, for: ring[index].key) }
  }
}
