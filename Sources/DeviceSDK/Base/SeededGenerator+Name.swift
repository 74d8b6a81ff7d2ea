import RepriseCore

extension SeededGenerator {
  /// Creates a generator that gives other numbers for another name, also with the same seed (FNV-1a), so that
  /// those who were given no seed do not come back all at the same time.
  /// - Parameters:
  ///   - name: Whose numbers they are.
  ///   - seed: Any number.
  init(named name: String, seed: UInt64 = 0) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    self.init(seed: seed ^ hash)
  }
}
