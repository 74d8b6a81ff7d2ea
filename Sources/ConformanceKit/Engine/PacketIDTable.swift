/// What is open under packet identifiers: a small hash table with open addressing.
///
/// It allocates when it grows only, so a steady flow of messages costs no allocation.
struct PacketIDTable<Value> {
  private var slots: [Slot] = []
  private(set) var count = 0
  private let limit: Int

  private struct Slot {
    var id: UInt16
    var value: Value?
  }

  /// Creates a table that takes at most so many entries.
  init(limit: Int) { self.limit = limit }

  private var mask: Int { slots.count - 1 }

  /// The memory that the entries take, in bytes.
  var reserved: Int { slots.count * MemoryLayout<Slot>.stride }

  /// Whether it takes no further entries.
  var isFull: Bool { count >= limit }

  /// Spreads identifiers, which mostly count up, over the slots.
  @inline(__always)
  private func home(_ id: UInt16) -> Int { Int(id &* 40_503) & mask }

  @inline(__always)
  private func find(_ id: UInt16) -> Int? {
    guard count > 0 else { return nil }
    var index = home(id)
    while slots[index].value != nil {
      if slots[index].id == id { return index }
      index = (index + 1) & mask
    }
    return nil
  }

  subscript(id: UInt16) -> Value? {
    guard let index = find(id) else { return nil }
    return slots[index].value
  }

  /// Puts a value under an identifier, in place of the one that may be there; false when full.
  mutating func insert(_ value: Value, for id: UInt16) -> Bool {
    if let index = find(id) {
      slots[index].value = value
      return true
    }
    guard count < limit else { return false }
    // At most half of the slots are taken, so that searching stays short and always ends.
    if slots.count < 2 * (count + 1) { grow() }
    place(value, for: id)
    count += 1
    return true
  }

  /// Takes out what is under an identifier.
  mutating func remove(_ id: UInt16) -> Value? {
    guard let found = find(id), let value = slots[found].value else { return nil }
    var hole = found
    var index = (hole + 1) & mask
    while slots[index].value != nil {
      let distance = (index - home(slots[index].id)) & mask
      if distance >= (index - hole) & mask {
        slots[hole] = slots[index]
        hole = index
      }
      index = (index + 1) & mask
    }
    slots[hole].value = nil
    count -= 1
    return value
  }

  /// The entries, in no order.
  var entries: [(id: UInt16, value: Value)] {
    slots.compactMap { slot in slot.value.map { (slot.id, $0) } }
  }

  private mutating func place(_ value: Value, for id: UInt16) {
    var index = home(id)
    while slots[index].value != nil { index = (index + 1) & mask }
    slots[index] = Slot(id: id, value: value)
  }

  private mutating func grow() {
    let old = slots
    slots = Array(repeating: Slot(id: 0, value: nil), count: max(2, 2 * old.count))
    for slot in old {
      if let value = slot.value { place(value, for: slot.id) }
    }
  }
}
