import Capture
import Testing

@Suite struct FrameDissectorTests {
  private typealias Packet = PacketBuilder

  private static let noOperations = [UInt8](repeating: 1, count: 8)
  private static let tcp = Packet.tcp()
  /// Hop-by-hop with the jumbo option (RFC 2675).
  private static func jumbo(_ length: UInt32) -> [UInt8] {
    var header = ByteWriter()
    header.put([6, 0, 0xc2, 4])
    header.put(length)
    return header.bytes
  }

  private static let carryingTCP: [(String, [UInt8])] = [
    ("plain", Packet.ipv4()),
    ("IPv4 options", Packet.ipv4(options: noOperations)),
    ("TCP options", Packet.ipv4(Packet.tcp(options: noOperations))),
    ("padding", Packet.ipv4() + [0, 0, 0, 0, 0, 0]),
    ("IPv6 padding", Packet.ipv6() + [0, 0, 0]),
    ("segmentation offload", Packet.ipv4(totalLength: 0)),
    ("don't fragment", Packet.ipv4(fragment: 0x4000)),
    ("reserved flag", Packet.ipv4(fragment: 0x8000)),
    ("IPv6 offload", Packet.ipv6(length: 0)),
    ("jumbogram", Packet.ipv6(jumbo(UInt32(8 + tcp.count)) + tcp, next: 0, length: 0)),
    ("hop-by-hop", Packet.ipv6(Packet.extensionHeader(next: 6) + tcp, next: 0)),
    ("routing", Packet.ipv6(Packet.extensionHeader(next: 6) + tcp, next: 43)),
    ("destination", Packet.ipv6(Packet.extensionHeader(next: 6) + tcp, next: 60)),
    (
      "authentication",
      Packet.ipv6([6, 4] + [UInt8](repeating: 0, count: 22) + tcp, next: 51)
    ),
    (
      "a chain",
      Packet.ipv6(
        Packet.extensionHeader(next: 43) + Packet.extensionHeader(next: 60)
          + Packet.extensionHeader(next: 6) + tcp, next: 0)
    ),
    (
      "atomic fragment",
      Packet.ipv6(Packet.fragmentHeader(next: 6, offset: 0, more: false) + tcp, next: 44)
    ),
    (
      "atomic fragment and more headers",
      Packet.ipv6(
        Packet.fragmentHeader(next: 60, offset: 0, more: false) + Packet.extensionHeader(next: 6)
          + tcp, next: 44)
    ),
    ("IPv6 in IPv4", Packet.ipv4(Packet.ipv6(), protocolNumber: 41)),
    ("IPv4 in IPv6", Packet.ipv6(Packet.ipv4(), next: 4)),
    ("IPv4 in IPv4", Packet.ipv4(Packet.ipv4(), protocolNumber: 4)),
    ("three deep", Packet.ipv4(Packet.ipv6(Packet.ipv6(), next: 41), protocolNumber: 41)),
  ]

  @Test(arguments: carryingTCP)
  func findsTheSegment(name: String, packet: [UInt8]) {
    let dissection = Dissection(.raw, [packet])
    #expect(dissection.segments.map(\.payload) == [Packet.payload])
    #expect(dissection.segments.map(\.wireLength) == [Packet.payload.count])
    #expect(dissection.segments.map(\.flags) == [[.push, .acknowledgment]])
    #expect(dissection.statistics.segments == 1)
    #expect(dissection.statistics.malformedHeaders == 0)
  }

  private static let malformed: [(String, [UInt8])] = [
    ("version 5", Packet.ipv4(version: 5)), ("no bytes", []),
    ("header of 16 bytes", [0x44] + Packet.ipv4().dropFirst()),
    ("total length below the header", Packet.ipv4(totalLength: 19)),
    ("TCP of 19 bytes", Packet.ipv4(totalLength: 39)),
    ("data offset 4", Packet.ipv4(Packet.tcp(dataOffset: 4))),
    ("data offset beyond the end", Packet.ipv4(Packet.tcp(dataOffset: 7))),
    ("captured short", Array(Packet.ipv4().prefix(30))),
    ("IPv6 captured short", Array(Packet.ipv6().prefix(39))),
    ("extension beyond the end", Packet.ipv6([6, 200] + tcp, next: 0)),
    (
      "endless chain",
      Packet.ipv6(Array(repeatElement([43, 0, 0, 0, 0, 0, 0, 0], count: 99).joined()), next: 43)
    ),
    (
      "endless tunnels",
      (0..<9).reduce(Packet.ipv4()) { inner, _ in Packet.ipv4(inner, protocolNumber: 4) }
    ),
  ]

  @Test(arguments: malformed)
  func countsWhatContradictsItself(name: String, packet: [UInt8]) {
    let dissection = Dissection(.raw, [Packet.ipv4(), packet])
    #expect(dissection.segments.count == 1)
    #expect(dissection.statistics.malformedHeaders == 1)
    #expect(dissection.statistics.firstUnreadableFrame == 2)
  }

  private static let otherProtocols: [(String, [UInt8])] = [
    ("UDP", Packet.ipv4(protocolNumber: 17)), ("ICMP", Packet.ipv6(next: 58)),
    ("ESP", Packet.ipv6(next: 50)), ("none", Packet.ipv6(next: 59)),
    ("UDP behind hop-by-hop", Packet.ipv6(Packet.extensionHeader(next: 17) + tcp, next: 0)),
  ]

  @Test(arguments: otherProtocols)
  func leavesOtherProtocolsAlone(name: String, packet: [UInt8]) {
    let dissection = Dissection(.raw, [packet])
    #expect(dissection.segments.isEmpty)
    #expect(dissection.statistics.nonTCPPackets == 1)
  }

  @Test func believesTheLengthInTheHeaderMoreThanTheFrame() {
    // What the sender said was sent, whatever the capture holds.
    let dissection = Dissection(.raw, [Packet.ipv4(totalLength: 1_500)])
    #expect(dissection.segments.map(\.wireLength) == [1_460])
    #expect(dissection.segments.map(\.payload) == [Packet.payload])
  }

  @Test func doesNotBelieveJumbogramsLargerThanTheFrame() {
    let dissection = Dissection(
      .raw, [Packet.ipv6(Self.jumbo(.max) + Self.tcp, next: 0, length: 0)])
    #expect(dissection.segments.map(\.wireLength) == [Packet.payload.count])
  }

  @Test func passesOnLargeOffloadedSegments() {
    let payload = [UInt8](repeating: 7, count: 200_000)
    for packet in [
      Packet.ipv4(Packet.tcp(payload), totalLength: 0), Packet.ipv6(Packet.tcp(payload), length: 0),
    ] {
      #expect(Dissection(.raw, [packet]).segments.first?.wireLength == 200_000)
    }
  }

  @Test func survivesEveryChangedByte() {
    // One expectation in all: recording each would take longer than the work.
    var unaccounted = 0
    for (_, packet) in Self.carryingTCP {
      for index in packet.indices {
        for change: UInt8 in [1, 2, 4, 8, 16, 32, 64, 128, 255, packet[index]] {
          var damaged = packet
          damaged[index] ^= change
          let counts = Dissection(.raw, [damaged]).statistics
          let sum =
            counts.segments + counts.malformedHeaders + counts.nonTCPPackets + counts.fragments
          if sum != 1 { unaccounted += 1 }
        }
      }
    }
    #expect(unaccounted == 0)
  }
}
