/// A generator of pseudo-random numbers that gives the same ones for the same seed, on any machine.
package struct SeededGenerator: RandomNumberGenerator, Sendable, Hashable {
  private var state: UInt64

  /// Creates a generator.
  /// - Parameter seed: Any number.
  package init(seed: UInt64) { state = seed }

  /// Returns the next number.
  // SplitMix64: a Weyl sequence whose values are mixed by two multiplications.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
