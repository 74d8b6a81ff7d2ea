import TestSupport
import Testing

@testable import Wire

/// UTF-8 as RFC 3629 and MQTT 5.0 section 1.5.4 have it, at every place around words of eight bytes.
@Suite struct TextScanTests {
  static let wellFormed = [
    "C2 80", "DF BF", "E0 A0 80", "E1 80 80", "EC BF BF", "ED 9F BF", "EE 80 80", "EF BB BF",
    "EF BF BE", "EF BF BF", "F0 90 80 80", "F1 80 80 80", "F3 BF BF BF", "F4 8F BF BF",
    "F0 AA 9B 94", "7F", "01",
  ]

  /// Malformed sequences; the first byte of each is the one that is wrong.
  static let malformed = [
    // Overlong forms.
    "C0 80", "C1 BF", "E0 80 80", "E0 9F BF", "F0 80 80 80", "F0 8F BF BF",
    // Surrogates.
    "ED A0 80", "ED BF BF",
    // Above U+10FFFF.
    "F4 90 80 80", "F5 80 80 80", "F7 BF BF BF", "FB BF BF BF", "FE", "FF",
    // Continuation bytes without a lead, and leads without their continuation.
    "80", "BF", "C2", "E2 82", "F0 9F 98", "E2 28 A1", "F0 28 8C 28", "F0 90 28 BC", "F0 9F 98 41",
  ]

  private static func scan(_ bytes: [UInt8]) -> TextScan { TextScan(bytes.span.bytes) }

  private static func padded(_ text: [UInt8], _ before: Int, _ after: Int) -> [UInt8] {
    Array(repeating: 0x61, count: before) + text + Array(repeating: 0x62, count: after)
  }

  @Test(arguments: wellFormed) func takesWellFormed(_ text: String) {
    for before in 0...24 {
      for after in [0, 1, 7, 8, 9] {
        let scan = Self.scan(Self.padded(hex(text), before, after))
        #expect(scan.invalidUTF8 == nil && scan.null == nil && scan.wildcard == nil)
      }
    }
  }

  @Test(arguments: malformed) func findsMalformed(_ text: String) {
    for before in 0...24 {
      for after in [0, 1, 7, 8, 9] {
        let bytes = Self.padded(hex(text), before, after)
        #expect(Self.scan(bytes).invalidUTF8 == before, "\(bytes.hexDescription)")
        #expect(!bytes.isWellFormed)
      }
    }
  }

  @Test func findsNullAndWildcardsAtEveryPlace() {
    for before in 0...24 {
      for after in 0...9 {
        #expect(Self.scan(Self.padded([0], before, after)).null == before)
        #expect(Self.scan(Self.padded([0x2B], before, after)).wildcard == before)
        #expect(Self.scan(Self.padded([0x23], before, after)).wildcard == before)
        // The neighbours of the three, which only differ in a bit or two.
        for plain: UInt8 in [1, 0x22, 0x24, 0x2A, 0x2C, 0x7F, 0x03, 0x0B] {
          let scan = Self.scan(Self.padded([plain], before, after))
          #expect(scan.null == nil && scan.wildcard == nil && scan.invalidUTF8 == nil)
        }
      }
    }
  }

  @Test func findsTheFirstOfEachKind() {
    let scan = Self.scan(hex("61 62 63 64 65 66 67 68 23 2B 00 FF 00 C0"))
    #expect(scan.wildcard == 8 && scan.null == 10 && scan.invalidUTF8 == 11)
  }

  @Test func goesOnRightBehindAMalformedByte() {
    let scan = Self.scan(hex("E2 82 00"))
    #expect(scan.invalidUTF8 == 0 && scan.null == 2)
  }

  @Test func agreesWithTheStandardLibraryOnRandomBytes() {
    var random = SplitMix64(seed: 2)
    let leads: [UInt8] = [0x61, 0x80, 0xBF, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0x90, 0x9F, 0xA0]
    for _ in 0..<20_000 {
      let bytes =
        random.bool()
        ? random.bytes(0...20) : (0..<random.int(0...20)).map { _ in random.pick(leads) }
      let expected = String(validating: bytes, as: UTF8.self) != nil
      #expect(bytes.isWellFormed == expected, "\(bytes.hexDescription)")
    }
  }
}
