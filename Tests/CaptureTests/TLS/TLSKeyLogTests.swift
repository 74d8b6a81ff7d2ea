import Testing

@testable import Capture

/// Key logs: of others, growing, and damaged.
@Suite struct TLSKeyLogTests {
  private static let random = [UInt8](repeating: 0xab, count: 32)
  private static let randomText = String(repeating: "aB", count: 32)
  private static let master = String(repeating: "cd", count: 48)
  private static let good = "CLIENT_RANDOM \(randomText) \(master)"

  private static func log(_ text: String) -> TLSKeyLog {
    var log = TLSKeyLog()
    log.read(Array(text.utf8), from: "keys.log")
    log.finish("keys.log")
    return log
  }

  @Test(arguments: ["", "\n", "\r\n", "\n# others\nEXPORTER_SECRET 00 00\n\nRSA x y\n"])
  func `finds a secret whatever ends and surrounds its line`(_ end: String) {
    let log = Self.log(Self.good + end)
    #expect(log.count == 1)
    #expect(log.secret(.master, of: Self.random) == [UInt8](repeating: 0xcd, count: 48))
    #expect(log.secret(.clientTraffic, of: Self.random) == nil)
    #expect(log.secret(.master, of: [UInt8](repeating: 0xac, count: 32)) == nil)
    #expect(log.notes == [])
  }

  @Test(arguments: TLSKeyLog.Label.allCases)
  func `takes secrets of the sizes of their hash only`(_ label: TLSKeyLog.Label) {
    let sizes = [31, 32, 47, 48, 49].filter { size in
      let secret = String(repeating: "01", count: size)
      return Self.log("\(label.rawValue) \(Self.randomText) \(secret)\n").count == 1
    }
    #expect(sizes == (label == .master ? [48] : [32, 48]))
  }

  @Test(arguments: [
    "CLIENT_RANDOM", "CLIENT_RANDOM \(randomText)", "CLIENT_RANDOM \(randomText) \(master)0",
    "CLIENT_RANDOM \(randomText) \(master.dropLast(2))zz",
    "CLIENT_RANDOM \(randomText.dropLast(2)) \(master)", "\(good) 00",
    good + String(repeating: " ", count: 2_000),
  ])
  func `says which line is wrong, shows no secret and goes on`(_ wrong: String) {
    let log = Self.log("#\n\(wrong)\n\(Self.good)\n")
    #expect(log.count == 1)
    #expect(log.wrongLines == 1)
    #expect(
      log.notes == [
        "keys.log, line 2: CLIENT_RANDOM needs a random of 64 hexadecimal digits and a secret of 96; "
          + "write the key log anew"
      ])
  }

  @Test func `a half line waits for its other half`() {
    let bytes = Array((Self.good + "\n").utf8)
    for place in bytes.indices {
      var log = TLSKeyLog()
      log.read(Array(bytes[..<place]), from: "keys.log")
      #expect(log.count == 0)
      log.read(Array(bytes[place...]), from: "keys.log")
      #expect(log.count == 1)
      #expect(log.notes == [])
    }
  }

  @Test func `a flood of wrong lines makes few notes`() {
    let log = Self.log(String(repeating: "CLIENT_RANDOM x y\n", count: 1_000))
    #expect(log.notes.count == TLSKeyLog.mostNotes)
    #expect(log.wrongLines == 1_000)
  }
}
