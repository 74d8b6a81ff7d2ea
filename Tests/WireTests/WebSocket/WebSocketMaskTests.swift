import Testing
import Wire

/// Words and single bytes give the same mask (RFC 6455 section 5.3).
@Suite struct WebSocketMaskTests {
  @Test(arguments: [0, 1, 0x37FA_213D, 0xFFFF_FFFF, 0x0102_0304] as [UInt32])
  func masksEveryLengthAsTheRFCDoes(_ key: UInt32) {
    let keyBytes = (0..<4).map { UInt8(truncatingIfNeeded: key >> (24 - 8 * $0)) }
    for count in 0...70 {
      let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      let expected = payload.enumerated().map { $1 ^ keyBytes[$0 % 4] }
      // What stands before must stay, wherever the words begin then.
      for before in 0...9 {
        let start = [UInt8](repeating: 0xAA, count: before)
        var bytes = start
        WebSocketMask.append(payload.span.bytes, key: key, to: &bytes)
        #expect(bytes == start + expected)
        var twice: [UInt8] = []
        WebSocketMask.append(expected.span.bytes, key: key, to: &twice)
        #expect(twice == payload)
      }
    }
  }
}
