import TestSupport
import Testing
import Wire

/// Packets that a capture cut, and bytes that no sender ever meant: nothing traps, nothing is made up.
@Suite struct DamageTests {
  @Test func headersCutAtEveryByteAskForMore() {
    for (bytes, _) in RandomPacket.corpus {
      let size = MQTTFixedHeader(of: bytes)?.size ?? 0
      #expect(size >= 2)
      for count in 0..<size { #expect(Array(bytes.prefix(count)).header() == .needMore) }
    }
  }

  @Test func framerWaitsForTheRestOfAPacketCutAtEveryByte() throws {
    for (bytes, _) in RandomPacket.corpus {
      for count in 0..<bytes.count {
        var framer = MQTTFramer()
        var packets = 0
        try framer.consume(Array(bytes.prefix(count)).span.bytes) { _, _, _ in packets += 1 }
        #expect(packets == 0)
        #expect(framer.isAtBoundary == (count == 0))
      }
    }
  }

  @Test func missingBytesAreNoFault() throws {
    for (bytes, version) in RandomPacket.corpus {
      let header = try #require(MQTTFixedHeader(of: bytes))
      for kept in header.size...bytes.count {
        let decoded = try #require(Decoded(bytes, version, kept: kept))
        #expect(decoded.faults == [], "\(bytes.hexDescription) cut at \(kept)")
        #expect(decoded.missing == bytes.count - kept)
      }
    }
  }

  /// What is there of a cut packet is decoded: fields before the cut are those of the whole packet.
  @Test func whatIsThereIsDecoded() throws {
    let bytes = hex("32 0D 0003 612F62 0007 68656C6C6F21")
    let header = try #require(MQTTFixedHeader(of: bytes))
    for kept in 2...bytes.count {
      let view = MQTTPacketView(
        bytes.span.bytes.extracting(first: kept), header: header, version: .v3_1_1)
      let topic = String(copying: view.topic)
      let id = view.packetID
      let payload = Array(copying: view.payload)
      #expect(topic == (kept >= 7 ? "a/b" : ""))
      #expect(id == (kept >= 9 ? 7 : nil))
      #expect(payload == Array(bytes[min(9, kept)..<max(9, kept)].prefix(max(0, kept - 9))))
    }
  }

  @Test func everyFlippedBitIsDecodedToTheEnd() {
    for (bytes, version) in RandomPacket.corpus where bytes.count < 80 {
      for bit in 0..<(bytes.count * 8) {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        Self.check(damaged, version)
      }
    }
  }

  @Test func everyReplacedByteIsDecodedToTheEnd() {
    for vector in PacketVector.all {
      for index in vector.bytes.indices {
        for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
          var damaged = vector.bytes
          damaged[index] = value
          for version in MQTTVersion.allCases { Self.check(damaged, version) }
        }
      }
    }
  }

  @Test(arguments: [UInt64](200..<208)) func splicesAreDecodedToTheEnd(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<2_000 {
      let (first, version) = random.pick(RandomPacket.corpus)
      let second = random.pick(RandomPacket.corpus).bytes
      var spliced = Array(first.prefix(random.int(0...first.count)))
      spliced += second.suffix(random.int(0...second.count))
      if random.bool(), spliced.count > 1 { spliced[1] = UInt8(min(127, spliced.count - 2)) }
      Self.check(spliced, version)
    }
  }

  /// Decodes as far as it goes: faults lie in the packet, and what has none comes back unchanged.
  private static func check(_ bytes: [UInt8], _ version: MQTTVersion) {
    guard let header = MQTTFixedHeader(of: bytes), let decoded = Decoded(bytes, version) else {
      return
    }
    let captured = min(bytes.count, header.packetSize)
    for fault in decoded.faults {
      #expect((0...captured).contains(fault.offset), "\(bytes.hexDescription)")
    }
    #expect(decoded.faults.map(\.offset) == decoded.faults.map(\.offset).sorted())
    guard decoded.faults.isEmpty, decoded.missing == 0, decoded.version != .v3_1 else { return }
    #expect(decoded.encoded == Array(bytes.prefix(captured)), "\(version) \(bytes.hexDescription)")
  }
}
