extension Array {
  /// Makes room for another element: by doubling, or, once there are many, at once for all that there may be.
  ///
  /// While elements move there are two of each; room in which none stands yet takes no memory.
  /// - Parameter limit: How many there are at the most.
  mutating func makeRoom(atMost limit: Int) {
    guard count == capacity, count < limit else { return }
    reserveCapacity(count >= limit / 16 ? limit : Swift.max(16, count * 2))
  }
}
