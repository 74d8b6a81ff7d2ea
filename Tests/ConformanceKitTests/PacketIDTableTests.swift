import Testing

@testable import ConformanceKit

@Suite("Packet identifiers")
struct PacketIDTableTests {
  @Test("The table does what a dictionary does, whatever is put in and taken out", arguments: 1...8)
  func model(seed: UInt64) {
    var random = Noise(seed: seed)
    var table = PacketIDTable<Int>(limit: 300)
    var model: [UInt16: Int] = [:]
    for step in 0..<20_000 {
      // Few identifiers, many of which fall on the same slots.
      let id = UInt16(truncatingIfNeeded: random.next() % 512 &* (step < 10_000 ? 1 : 64))
      if random.next() % 5 < 3 {
        let isKept = table.insert(step, for: id)
        #expect(isKept == (model[id] != nil || model.count < 300))
        if isKept { model[id] = step }
      } else {
        #expect(table.remove(id) == model.removeValue(forKey: id))
      }
      #expect(table[id] == model[id])
      #expect(table.count == model.count)
    }
    #expect(Dictionary(uniqueKeysWithValues: table.entries.map { ($0.id, $0.value) }) == model)
  }
}

/// A small generator that gives the same numbers every time (splitmix64).
struct Noise: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
