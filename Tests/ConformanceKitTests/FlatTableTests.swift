import Testing

@testable import ConformanceKit

/// Tables of keys that are hashes.
@Suite struct FlatTableTests {
  /// Keys of which each differs from all others in its high and its low bits.
  private static func key(_ number: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
  }

  @Test(arguments: [64, 128, 16_384]) func takesAsManyKeysAsItsLimit(_ limit: Int) {
    var table = FlatTable(limit: limit, empty: 0)
    for number in 1...limit {
      var wasNew = false
      let isKept = table.update(Self.key(number)) { value, isNew in
        (value, wasNew) = (number, isNew)
      }
      #expect(isKept && wasNew)
    }
    #expect(table.isFull && table.count == limit)
    #expect((1...limit).allSatisfy { table[Self.key($0)] == $0 && table.contains(Self.key($0)) })
    // What is not there is not found, and has no room.
    let other = Self.key(limit + 1)
    #expect(table[other] == nil && !table.contains(other))
    let isKept = table.update(other) { _, _ in }
    #expect(!isKept)
    var seen = 0
    let isKnown = table.update(Self.key(limit)) { value, isNew in seen = isNew ? 0 : value }
    #expect(isKnown && seen == limit)
  }

  @Test func keepsKeysOfOnePlaceApart() {
    var table = FlatTable(limit: 64, empty: 0)
    // The last place of all, so that the others stand at the beginning.
    let keys = (0..<8).map { UInt64(UInt32.max) - UInt64($0) }
    for (number, key) in keys.enumerated() { _ = table.update(key) { value, _ in value = number } }
    #expect(keys.map { table[$0] } == Array(0..<8))
    #expect(table[0] == nil)
    _ = table.update(0) { value, _ in value = 9 }
    #expect(table[0] == 9)
  }
}
