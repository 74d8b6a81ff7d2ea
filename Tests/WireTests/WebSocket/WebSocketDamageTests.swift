import TestSupport
import Testing
import Wire
import WireDeflate

/// Bytes that no sender ever meant: nothing traps, and no byte is made up or lost.
@Suite struct WebSocketDamageTests {
  /// A stream with frames of every kind, some of them compressed.
  private static func stream(_ random: inout SplitMix64) -> [UInt8] {
    let deflater = Packer()
    var frames: [WebSocketFrame] = []
    for _ in 0..<random.int(3...12) {
      let key: UInt32? = random.bool() ? UInt32(truncatingIfNeeded: random.next()) : nil
      let opcode = random.pick([
        WebSocketOpcode.text, .binary, .continuation, .ping, .pong, .close, .init(rawValue: 5),
      ])
      var payload = random.bool() ? Array("{\"a\":\"ä\"}".utf8) : random.bytes(0...140)
      var bits: UInt8 = 0
      if random.bool() {
        payload = deflater.deflate(payload)
        bits = 4
      }
      frames.append(
        WebSocketFrame(
          opcode, payload, isFinal: random.int(0...3) > 0, reservedBits: bits, maskingKey: key))
    }
    return frames.stream
  }

  private static func check(_ stream: [UInt8], _ random: inout SplitMix64) {
    let deflate = random.pick([
      WebSocketReceiver.Agreement.none, .unknown, .agreed(keepsContext: true),
      .agreed(keepsContext: false),
    ])
    let sender = random.pick([WebSocketRole.client, .server])
    let whole = SeenStream(stream, from: sender, deflate: deflate, limit: 5_000)
    let pieces = SeenStream(
      stream, from: sender, pieces: random.int(1...40), deflate: deflate, limit: 5_000)
    #expect(whole.frames == pieces.frames && whole.error == pieces.error)
    #expect(whole.messages == pieces.messages)
    for frame in whole.frames {
      #expect(frame.faults.map(\.offset) == frame.faults.map(\.offset).sorted())
      #expect(frame.faults.allSatisfy { (0...frame.payload.count + 14).contains($0.offset) })
      #expect(frame.data.count <= max(5_000, frame.payload.count))
    }
  }

  @Test(arguments: [UInt64](1...30)) func damagedStreamsAreReadToTheEnd(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<60 {
      var stream = Self.stream(&random)
      for _ in 0..<random.int(0...6) {
        stream[random.int(0...stream.count - 1)] = UInt8(truncatingIfNeeded: random.next())
      }
      Self.check(stream, &random)
    }
  }

  @Test(arguments: [UInt64](100..<110)) func randomBytesAreReadToTheEnd(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 { Self.check(random.bytes(1...300), &random) }
  }

  /// What has no fault comes back unchanged.
  @Test(arguments: [UInt64](200..<210)) func everyFrameComesBackUnchanged(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let bytes = random.bytes(2...40)
      guard case .header(let header) = WebSocketFrameHeader.read(bytes.span.bytes) else { continue }
      let size = min(header.frameSize ?? 0, bytes.count)
      guard size >= header.size else { continue }
      let frame = try #require(WebSocketFrame(bytes: Array(bytes.prefix(size))))
      #expect(frame.encoded() == Array(bytes.prefix(size)))
      frame.withView(from: .client) { #expect(WebSocketFrame(copying: $0) == frame) }
    }
  }
}
