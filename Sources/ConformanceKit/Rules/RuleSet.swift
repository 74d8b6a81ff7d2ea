/// A set of up to 128 rules by their places: two words, so that it is asked as fast as a number.
struct RuleSet: Sendable {
  /// The most rules.
  static let capacity = UInt128.bitWidth
  private var bits: UInt128 = 0

  @inline(__always)
  var isEmpty: Bool { bits == 0 }

  @inline(__always)
  func contains(_ place: Int) -> Bool { bits &>> UInt128(truncatingIfNeeded: place) & 1 == 1 }

  @inline(__always)
  mutating func insert(_ place: Int) { bits |= 1 &<< UInt128(truncatingIfNeeded: place) }

  @inline(__always)
  mutating func formUnion(_ other: RuleSet) { bits |= other.bits }

  @inline(__always)
  mutating func formIntersection(_ other: RuleSet) { bits &= other.bits }

  /// Takes out the first of them; nil when there is none.
  @inline(__always)
  mutating func popFirst() -> Int? {
    guard bits != 0 else { return nil }
    let place = bits.trailingZeroBitCount
    bits &= bits &- 1
    return place
  }
}
