import Testing

@testable import RepriseCore

/// Eight bytes that are compared at once find what a loop over them finds.
@Suite struct ByteLanesTests {
  /// What is looked for, by lanes and one by one.
  enum Search: CaseIterable {
    case lineFeed, quoteOrSpace, control, beyondASCII, any

    func lanes(_ lanes: ByteLanes) -> UInt64 {
      switch self {
      case .lineFeed: lanes.equal(0x0A)
      case .quoteOrSpace: lanes.equal(0x22, settingBits: 0x02)
      case .control: lanes.below(0x20)
      case .beyondASCII: lanes.beyondASCII
      case .any: lanes.below(0x20) | lanes.equal(0x22) | lanes.equal(0x5C) | lanes.equal(0x7F)
      }
    }

    func fits(_ byte: UInt8) -> Bool {
      switch self {
      case .lineFeed: byte == 0x0A
      case .quoteOrSpace: byte == 0x20 || byte == 0x22
      case .control: byte < 0x20
      case .beyondASCII: byte >= 0x80
      case .any: byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F
      }
    }
  }

  /// All pairs of bytes stand beside each other, as a borrow goes from one lane into the next.
  @Test(arguments: Search.allCases) func findTheFirstThatFits(_ search: Search) {
    var wrong = 0
    var found = 0
    for low in UInt8.min...UInt8.max {
      for high in UInt8.min...UInt8.max {
        for place in [0, 3, 6] {
          var bytes = [UInt8](repeating: 0x61, count: 8)
          (bytes[place], bytes[place + 1]) = (low, high)
          let first = bytes.withUnsafeBytes { ByteLanes.first(search.lanes(ByteLanes($0, at: 0))) }
          let expected = bytes.firstIndex(where: search.fits) ?? 8
          if expected < 8 { found += 1 }
          if first != expected { wrong += 1 }
        }
      }
    }
    #expect(wrong == 0)
    #expect(found > 0)
  }

  /// Every lane is told, and not the lowest alone.
  @Test(arguments: [(UInt8(0x3A), UInt8(0)), (0x22, 0x02), (0x2F, 0x01), (0xFF, 0x80), (0, 0)])
  func tellWhichLanesDiffer(byte: UInt8, bits: UInt8) {
    var wrong = 0
    for low in UInt8.min...UInt8.max {
      for high in UInt8.min...UInt8.max {
        let bytes = [low, high, byte, low, high, high, low, byte]
        let lanes = bytes.withUnsafeBytes {
          ByteLanes.others(ByteLanes($0, at: 0).differ(from: byte, settingBits: bits))
        }
        let expected = bytes.enumerated().reduce(UInt64(0)) { lanes, entry in
          entry.element | bits == byte ? lanes | 0x80 << UInt64(8 * entry.offset) : lanes
        }
        if lanes != expected { wrong += 1 }
      }
    }
    #expect(wrong == 0)
  }

  /// Where the eight end and single bytes begin, whatever the start.
  @Test func endWhereTheTextEnds() {
    for byte in UInt8.min...UInt8.max {
      for place in 0..<17 {
        for start in [0, 1, 7] where start <= place {
          var bytes = [UInt8](repeating: 0x61, count: 17)
          bytes[place] = byte
          let isFound = byte < 0x20 || byte == 0x22 || byte == 0x5C || byte >= 0x7F
          let next = bytes.withUnsafeBytes { JSONEscape.next(in: $0, from: start) }
          if next != (isFound ? place : 17) {
            Issue.record("byte \(byte) at \(place) from \(start): \(next)")
          }
        }
      }
    }
  }
}
