/// Large values by keys that are hashes already: they stand one behind the other, and a table has their places, so that
/// its free slots take no room for values.
struct RowTable<Value> {
  private var places: FlatTable<UInt32>
  private var rows: [Value] = []
  private let limit: Int

  /// Creates a table.
  /// - Parameter limit: The most entries that it takes.
  init(limit: Int) {
    self.limit = limit
    places = FlatTable(limit: limit, empty: 0)
  }

  /// The value of a key; nil where there is none.
  subscript(key: UInt64) -> Value? { places[key].map { rows[Int($0)] } }

  /// Changes the value of a key, if there is one.
  mutating func change(_ key: UInt64, _ body: (inout Value) -> Void) {
    guard let place = places[key] else { return }
    body(&rows[Int(place)])
  }

  /// Changes the value of a key, which is made where there is none.
  /// - Returns: Whether there is one: not where there was no room for another.
  mutating func update(
    _ key: UInt64, orElse new: @autoclosure () -> Value,
    _ body: (inout Value, _ isNew: Bool) -> Void
  ) -> Bool {
    let next = UInt32(rows.count)
    var isNew = false
    let isKept = places.update(key) { place, isFresh in
      if isFresh { place = next }
      isNew = isFresh
    }
    guard isKept else { return false }
    if isNew {
      rows.makeRoom(atMost: limit)
      rows.append(new())
    }
    change(key) { body(&$0, isNew) }
    return true
  }
}
