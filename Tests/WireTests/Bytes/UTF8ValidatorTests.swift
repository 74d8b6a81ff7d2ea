import TestSupport
import Testing
import Wire

/// The same text in one piece, byte by byte, and cut at every place.
@Suite struct UTF8ValidatorTests {
  /// Whether a text in these pieces is well-formed, and where it is not.
  private static func check(_ pieces: [[UInt8]]) -> (isValid: Bool, bad: Int?) {
    var validator = UTF8Validator()
    var before = 0
    for piece in pieces {
      if let bad = validator.consume(piece.span.bytes) { return (false, before + bad) }
      before += piece.count
    }
    return (validator.isComplete, nil)
  }

  @Test(arguments: TextScanTests.wellFormed) func takesWellFormed(_ text: String) {
    for before in 0...17 {
      let bytes = [UInt8](repeating: 0x61, count: before) + hex(text) + [0x62]
      for place in 0...bytes.count {
        #expect(Self.check([Array(bytes[..<place]), Array(bytes[place...])]).isValid)
      }
      #expect(Self.check(bytes.map { [$0] }).isValid)
    }
  }

  @Test(arguments: TextScanTests.malformed) func findsMalformed(_ text: String) {
    for before in 0...17 {
      let start = [UInt8](repeating: 0x61, count: before)
      let bytes = start + hex(text) + [0x62]
      let whole = Self.check([bytes])
      #expect(!whole.isValid && whole.bad != nil)
      for place in 0...bytes.count {
        let cut = Self.check([Array(bytes[..<place]), Array(bytes[place...])])
        #expect(cut == whole, "\(bytes.hexDescription)")
      }
    }
  }

  @Test func agreesWithTheStandardLibraryOnRandomBytes() {
    var random = SplitMix64(seed: 3)
    let leads: [UInt8] = [0x61, 0x80, 0xBF, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0x90, 0x9F, 0xA0]
    for _ in 0..<20_000 {
      let pieces = (0..<random.int(1...4)).map { _ in
        (0..<random.int(0...12)).map { _ in random.pick(leads) }
      }
      let bytes = Array(pieces.joined())
      let expected = String(validating: bytes, as: UTF8.self) != nil
      #expect(Self.check(pieces).isValid == expected, "\(bytes.hexDescription)")
    }
  }
}
