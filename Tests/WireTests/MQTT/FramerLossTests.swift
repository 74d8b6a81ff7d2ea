import Testing
import Wire

/// Bytes that the capture does not have, told to the framer.
@Suite struct FramerLossTests {
  /// A framer that took the start of a stream, and what it handed out.
  private struct Cut {
    var framer: MQTTFramer
    var packets: [FramerTests.Framed] = []

    init(_ start: [UInt8], limit: Int = 1_000) throws {
      framer = MQTTFramer(limit: limit)
      try take(start)
    }

    mutating func take(_ bytes: [UInt8]) throws {
      var packets: [FramerTests.Framed] = []
      try framer.consume(bytes.span.bytes) {
        packets.append(.init(bytes: Array(copying: $0), size: $1.packetSize, offset: $2))
      }
      self.packets += packets
    }

    mutating func lose(_ count: Int) -> StreamLoss {
      var packets: [FramerTests.Framed] = []
      let loss = framer.lose(count) {
        packets.append(.init(bytes: Array(copying: $0), size: $1.packetSize, offset: $2))
      }
      self.packets += packets
      return loss
    }

    mutating func flush() {
      var packets: [FramerTests.Framed] = []
      framer.flush {
        packets.append(.init(bytes: Array(copying: $0), size: $1.packetSize, offset: $2))
      }
      self.packets += packets
    }
  }

  /// A PUBLISH of 12 bytes, and a PINGREQ behind it.
  private static let publish = hex("30 0A 0001 74 01020304050607")
  private static let ping = FramerTests.Framed(bytes: hex("C0 00"), size: 2, offset: 12)

  /// Every hole that starts behind the header and ends in the packet leaves the next one findable.
  @Test func stepsOverALossInsideThePacket() throws {
    for start in 2..<12 {
      for end in (start + 1)...12 {
        var cut = try Cut(Array(Self.publish.prefix(start)))
        #expect(cut.lose(end - start) == .insideUnit)
        #expect(cut.framer.isAtBoundary == (end == 12))
        try cut.take(Array(Self.publish.suffix(12 - end)) + hex("C0 00"))
        let kept = Array(Self.publish.prefix(start))
        #expect(cut.packets == [.init(bytes: kept, size: 12, offset: 0), Self.ping])
      }
    }
  }

  @Test func addsUpLossesInOnePacket() throws {
    var cut = try Cut(Array(Self.publish.prefix(4)))
    #expect(cut.lose(2) == .insideUnit)
    try cut.take([9])
    #expect(cut.lose(3) == .insideUnit)
    try cut.take([9, 9] + hex("C0 00"))
    #expect(
      cut.packets == [.init(bytes: Array(Self.publish.prefix(4)), size: 12, offset: 0), Self.ping])
  }

  @Test(arguments: 2..<12) func handsOutThePacketWhenALossReachesPastIt(_ start: Int) throws {
    var cut = try Cut(Array(Self.publish.prefix(start)))
    #expect(cut.lose(12 - start + 3) == .outOfStep(past: 3))
    #expect(
      cut.packets == [.init(bytes: Array(Self.publish.prefix(start)), size: 12, offset: 0)])
    cut.framer.restart(at: 15)
    try cut.take(hex("C0 00"))
    #expect(cut.packets.last == .init(bytes: hex("C0 00"), size: 2, offset: 15))
  }

  @Test func isOutOfStepBetweenPackets() throws {
    var cut = try Cut(Self.publish)
    #expect(cut.lose(1) == .outOfStep(past: 1))
    #expect(cut.packets.count == 1)
  }

  @Test(arguments: ["30", "30 80", "30 80 80", "30 80 80 80"])
  func isOutOfStepInsideAHeader(_ text: String) throws {
    var cut = try Cut(hex(text))
    #expect(cut.lose(4) == .outOfStep(past: 4))
    #expect(cut.packets.isEmpty)
    cut.framer.restart(at: 9)
    try cut.take(hex("C0 00"))
    #expect(cut.packets == [.init(bytes: hex("C0 00"), size: 2, offset: 9)])
  }

  @Test func takesALossOfAnySize() throws {
    var cut = try Cut(hex("30 FF FF FF 7F"))
    #expect(cut.lose(268_435_454) == .insideUnit)
    #expect(cut.lose(Int(Int32.max)) == .outOfStep(past: Int(Int32.max) - 1))
    #expect(cut.packets.map(\.size) == [268_435_460])
  }

  @Test func losesInAPacketThatIsOverTheLimit() throws {
    var cut = try Cut(Array(Self.publish.prefix(9)), limit: 6)
    #expect(cut.lose(2) == .insideUnit)
    try cut.take([7] + hex("C0 00"))
    #expect(
      cut.packets == [.init(bytes: Array(Self.publish.prefix(6)), size: 12, offset: 0), Self.ping])
  }

  @Test func handsOutWhatTheEndOfTheStreamLeaves() throws {
    for count in 0...12 {
      var cut = try Cut(Array(Self.publish.prefix(count)))
      cut.flush()
      let isPacket = count >= 2
      #expect(cut.packets.map(\.bytes) == (isPacket ? [Array(Self.publish.prefix(count))] : []))
      #expect(cut.framer.isAtBoundary)
      cut.flush()
      #expect(cut.packets.count == (isPacket ? 1 : 0))
    }
  }
}
