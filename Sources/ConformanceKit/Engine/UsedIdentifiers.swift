internal import Wire

/// The packet identifiers that were used on a connection, one bit each: mostly they count up from 1.
struct UsedIdentifiers {
  private var words: [UInt64] = []

  /// The memory that they take, in bytes.
  var reserved: Int { words.grownSize }

  func contains(_ id: UInt16) -> Bool {
    let word = Int(id >> 6)
    return word < words.count && words[word] >> UInt64(id & 63) & 1 == 1
  }

  /// Takes an identifier.
  /// - Returns: Whether they take more memory now.
  @discardableResult
  mutating func insert(_ id: UInt16) -> Bool {
    let word = Int(id >> 6)
    let capacity = words.capacity
    while words.count <= word { words.append(0) }
    words[word] |= 1 << UInt64(id & 63)
    return words.capacity != capacity
  }
}
