extension Array {
  /// About the memory that the elements take in a buffer that grew by doubling, in bytes.
  ///
  /// Not ``Array/capacity``: an array takes what room the allocator happened to have beside what it asked for, and what
  /// is given up for memory is to be the same each time.
  @inlinable
  package var grownSize: Int {
    let room = count <= 1 ? count : 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
    return room * MemoryLayout<Element>.stride
  }
}

/// The room of a buffer that grows by doubling, or to what it is to hold where that is more, and keeps its room when it is
/// emptied.
package struct GrownRoom: Sendable {
  /// The room in elements.
  package private(set) var size = 0

  package init() {}

  /// Takes into account how many elements the buffer holds.
  package mutating func hold(_ count: Int) {
    if count > size { size = Swift.max(count, size * 2) }
  }
}
