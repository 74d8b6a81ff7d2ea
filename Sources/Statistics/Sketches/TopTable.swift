/// The names that come most often, each with what is known of it, in memory for so many names.
///
/// This is space-saving (Metwally, Agrawal and El Abbadi, 2005): as long as there is room, every name has an entry of its
/// own and all is exact. A new name then takes the entry of the one that came least, with its count, and ``Entry/error``
/// says how much of the count may be that of others. A name that came more often than the least count has an entry for
/// certain. What is known of a name besides begins anew with its entry.
package struct TopTable<Value: Sendable>: Sendable {
  /// A name and what is known of it.
  package struct Entry: Sendable {
    /// The name.
    package let name: Name
    /// How often it came, at most.
    package fileprivate(set) var count: Int
    /// How much of ``count`` may be that of other names.
    package fileprivate(set) var error: Int
    /// What is known of it, since it has this entry.
    package fileprivate(set) var value: Value
    /// Its place in the heap.
    fileprivate var place = 0
  }

  /// The most names.
  let capacity: Int
  /// How often a name took the entry of another one.
  package private(set) var replacements = 0
  private let makeValue: @Sendable () -> Value
  private var entries: [Entry] = []
  /// The entries by the hashes of their names.
  private var slots: [UInt64: Int] = [:]
  /// The entries as a heap, the least count in front; made when there is no more room.
  private var heap: [Int] = []

  /// Creates an empty table.
  /// - Parameters:
  ///   - capacity: The most names, at least 1.
  ///   - makeValue: What is known of a name at first.
  package init(capacity: Int, _ makeValue: @escaping @Sendable () -> Value) {
    self.capacity = max(1, capacity)
    self.makeValue = makeValue
  }

  /// How many names have an entry.
  package var count: Int { entries.count }

  /// Counts a name.
  /// - Parameters:
  ///   - name: The name.
  ///   - weight: How often it came.
  ///   - change: Changes what is known of it.
  package mutating func add(
    _ name: RawSpan, weight: Int = 1, _ change: (inout Value) -> Void
  ) {
    let identity = Name.identity(of: name)
    let slot = slots[identity] ?? place(Name(name, identity: identity))
    count(slot, weight, change)
  }

  /// Counts a name that was taken before.
  package mutating func add(_ name: Name, weight: Int = 1, _ change: (inout Value) -> Void) {
    count(slots[name.identity] ?? place(name), weight, change)
  }

  /// The entries with the greatest counts.
  /// - Parameter count: The most of them.
  /// - Returns: Those that came most often in front; of equal counts by name.
  package func top(_ count: Int) -> [Entry] {
    let sorted = entries.sorted {
      $0.count != $1.count
        ? $0.count > $1.count : $0.name.start.lexicographicallyPrecedes($1.name.start)
    }
    return Array(sorted.prefix(max(0, count)))
  }

  private mutating func count(_ slot: Int, _ weight: Int, _ change: (inout Value) -> Void) {
    entries[slot].count.addSaturating(weight)
    change(&entries[slot].value)
    if !heap.isEmpty { sink(entries[slot].place) }
  }

  /// Gives a new name an entry.
  private mutating func place(_ name: Name) -> Int {
    guard entries.count >= capacity else {
      slots[name.identity] = entries.count
      entries.append(Entry(name: name, count: 0, error: 0, value: makeValue()))
      return entries.count - 1
    }
    if heap.isEmpty { makeHeap() }
    let slot = heap[0]
    let least = entries[slot]
    slots[least.name.identity] = nil
    slots[name.identity] = slot
    entries[slot] = Entry(
      name: name, count: least.count, error: least.count, value: makeValue(), place: 0)
    replacements += 1
    return slot
  }

  private mutating func makeHeap() {
    heap = entries.indices.sorted { entries[$0].count < entries[$1].count }
    for (place, slot) in heap.enumerated() { entries[slot].place = place }
  }

  /// Moves an entry whose count has grown to where it belongs.
  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
        if entries[heap[child]].count < entries[heap[least]].count { least = child }
      }
      guard least != place else { return }
      heap.swapAt(place, least)
      entries[heap[place]].place = place
      entries[heap[least]].place = least
      place = least
    }
  }
}
