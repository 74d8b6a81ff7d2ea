import TestSupport
import Testing
import Wire

/// MQTT 5.0 section 1.5.5, table 1-1.
@Suite struct VariableByteIntegerTests {
  /// The first and the last value of every number of bytes, as the standard's table has them.
  static let boundaries: [(Int, String)] = [
    (0, "00"), (1, "01"), (127, "7F"),
    (128, "80 01"), (129, "81 01"), (16_383, "FF 7F"),
    (16_384, "80 80 01"), (2_097_151, "FF FF 7F"),
    (2_097_152, "80 80 80 01"), (268_435_455, "FF FF FF 7F"),
  ]

  static func read(_ text: String, at offset: Int = 0, end: Int? = nil)
    -> VariableByteInteger.Reading
  {
    hex(text).variableByteInteger(at: offset, end: end)
  }

  @Test(arguments: boundaries) func readsBoundary(_ value: Int, _ text: String) {
    let size = hex(text).count
    #expect(Self.read(text) == .value(value, size: size))
    #expect(Self.read("FF" + text + "FF", at: 1) == .value(value, size: size))
    #expect(VariableByteInteger.size(of: value) == size)
  }

  @Test(arguments: boundaries) func writesBoundary(_ value: Int, _ text: String) {
    var bytes: [UInt8] = [0xAA]
    VariableByteInteger.append(value, to: &bytes)
    #expect(bytes == [0xAA] + hex(text))
  }

  @Test(arguments: boundaries) func asksForMoreWhereverItIsCut(_ value: Int, _ text: String) {
    for end in 0..<hex(text).count { #expect(Self.read(text, end: end) == .needMore) }
  }

  @Test(arguments: [
    ("80 00", 0, 2), ("80 80 80 00", 0, 4), ("FF 00", 127, 2), ("81 80 80 00", 1, 4),
  ]) func readsLongerEncodingThanNeeded(_ text: String, _ value: Int, _ size: Int) {
    #expect(Self.read(text) == .value(value, size: size))
    var bytes: [UInt8] = []
    VariableByteInteger.append(value, to: &bytes, size: size)
    #expect(bytes == hex(text))
  }

  @Test(arguments: ["80 80 80 80", "FF FF FF FF 7F", "80 80 80 80 00"])
  func refusesFifthByte(_ text: String) {
    #expect(Self.read(text) == .tooLong)
    #expect(Self.read(text, end: 3) == .needMore)
  }

  @Test func readsNothingOutsideTheSpan() {
    #expect(Self.read("01", at: 1) == .needMore)
    #expect(Self.read("01", at: -1) == .needMore)
    #expect(Self.read("01", at: .max) == .needMore)
    #expect(Self.read("01", at: 0, end: .max) == .value(1, size: 1))
    #expect(Self.read("81", at: 0, end: .max) == .needMore)
  }

  @Test func clampsWhatItCanNotExpress() {
    var bytes: [UInt8] = []
    VariableByteInteger.append(-1, to: &bytes)
    VariableByteInteger.append(VariableByteInteger.maximum + 1, to: &bytes, size: 9)
    #expect(bytes == hex("00 FF FF FF 7F"))
  }

  @Test func readsWhatItWrites() {
    var random = SplitMix64(seed: 1)
    for _ in 0..<2_000 {
      let value = random.int(0...VariableByteInteger.maximum) >> random.int(0...27)
      let size = random.int(1...4)
      var bytes: [UInt8] = []
      VariableByteInteger.append(value, to: &bytes, size: size)
      let read = bytes.variableByteInteger()
      #expect(read == .value(value, size: max(size, VariableByteInteger.size(of: value))))
    }
  }
}
