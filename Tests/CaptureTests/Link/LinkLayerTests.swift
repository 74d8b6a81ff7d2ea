import Capture
import Testing

@Suite struct LinkLayerTests {
  private typealias Packet = PacketBuilder

  private static let v4 = Packet.ipv4()
  private static let v6 = Packet.ipv6()

  /// A PPPoE session header (RFC 2516) before a PPP frame.
  private static func pppoe(_ frame: [UInt8], code: UInt8 = 0) -> [UInt8] {
    [0x11, code, 0, 1, UInt8(frame.count >> 8), UInt8(truncatingIfNeeded: frame.count)] + frame
  }

  private static let snap: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]
  private static let sll: [UInt8] = [0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0]
  private static let sll2: [UInt8] = [0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0]

  private static let carryingTCP: [(String, LinkType, [UInt8])] = [
    ("Ethernet", .ethernet, Packet.ethernet(0x0800, v4)),
    ("Ethernet, IPv6", .ethernet, Packet.ethernet(0x86dd, v6)),
    ("802.1Q", .ethernet, Packet.ethernet(0x0800, v4, tags: [0x8100])),
    ("802.1ad", .ethernet, Packet.ethernet(0x86dd, v6, tags: [0x88a8, 0x8100])),
    ("QinQ 9100", .ethernet, Packet.ethernet(0x0800, v4, tags: [0x9100, 0x8100])),
    ("QinQ 9200", .ethernet, Packet.ethernet(0x0800, v4, tags: [0x9200, 0x8100])),
    ("three tags", .ethernet, Packet.ethernet(0x0800, v4, tags: [0x8100, 0x8100, 0x8100])),
    ("SNAP", .ethernet, Packet.ethernet(UInt16(snap.count + v4.count), snap + v4)),
    ("PPPoE", .ethernet, Packet.ethernet(0x8864, pppoe([0, 0x21] + v4))),
    ("PPPoE in a VLAN", .ethernet, Packet.ethernet(0x8864, pppoe([0, 0x57] + v6), tags: [0x8100])),
    ("SLL", .linuxSLL, sll + [8, 0] + v4),
    ("SLL, 802.1Q", .linuxSLL, sll + [0x81, 0, 0, 5, 8, 0] + v4),
    ("SLL2", .linuxSLL2, [0x86, 0xdd] + sll2 + v6),
    ("SLL2, 802.1Q", .linuxSLL2, [0x81, 0] + sll2 + [0, 5, 0x86, 0xdd] + v6),
    ("NULL, little", .null, [2, 0, 0, 0] + v4),
    ("NULL, big", .null, [0, 0, 0, 2] + v4),
    ("NULL, Linux", .null, [10, 0, 0, 0] + v6),
    ("NULL, OpenBSD", .null, [24, 0, 0, 0] + v6),
    ("NULL, FreeBSD", .null, [0, 0, 0, 28] + v6),
    ("NULL, macOS", .null, [30, 0, 0, 0] + v6),
    ("LOOP", .loop, [0, 0, 0, 24] + v6),
    ("RAW", .raw, v4), ("RAW, IPv6", .raw, v6),
    ("RAW 12", .rawBSD, v4), ("RAW 14", .rawOpenBSD, v6),
    ("IPV4", .ipv4, v4), ("IPV6", .ipv6, v6),
    ("PPP", .ppp, [0, 0x21] + v4), ("PPP, HDLC", .ppp, [0xff, 3, 0, 0x57] + v6),
    ("PPP, short", .ppp, [0x21] + v4),
    ("PPP over serial", .pppHDLC, [0xff, 3, 0, 0x21] + v4),
    ("PPP over serial, short", .pppHDLC, [0xff, 3, 0x57] + v6),
    ("Cisco HDLC", .pppHDLC, [0x0f, 0, 8, 0] + v4),
    ("Cisco HDLC, own type", .ciscoHDLC, [0x8f, 0, 0x86, 0xdd] + v6),
    ("PPP with direction", .pppWithDirection, [1, 0xff, 3, 0, 0x21] + v4),
    ("PPPoE, own type", .pppEthernet, pppoe([0, 0x21] + v4)),
  ]

  @Test(arguments: carryingTCP)
  func findsTheSegment(name: String, linkType: LinkType, frame: [UInt8]) {
    let dissection = Dissection(linkType, [frame])
    #expect(dissection.segments.map(\.payload) == [Packet.payload])
    #expect(dissection.segments.map(\.wireLength) == [Packet.payload.count])
    let isIPv4 = dissection.segments.first?.source == "10.0.0.1:1000"
    #expect(isIPv4 || dissection.segments.first?.source == "[fe80::1]:1000")
    #expect(isIPv4 || dissection.segments.first?.destination == "[fe80::2]:1883")
  }

  @Test(arguments: carryingTCP)
  func saysThatAHeaderIsCut(name: String, linkType: LinkType, frame: [UInt8]) {
    let headers = frame.count - Packet.payload.count
    for length in 0..<headers {
      let dissection = Dissection(linkType, [frame], cutTo: length)
      #expect(dissection.segments.isEmpty)
      let counts = dissection.statistics
      // With its second half missing, a SNAP header is some other LLC header.
      #expect(counts.cutHeaders + counts.nonIPFrames == 1)
      #expect(counts.cutFrames == 1)
    }
    for length in headers...frame.count {
      let dissection = Dissection(linkType, [frame], cutTo: length)
      #expect(dissection.segments.map(\.payload) == [Array(Packet.payload[..<(length - headers)])])
      #expect(dissection.segments.map(\.wireLength) == [Packet.payload.count])
    }
  }

  private static let carryingNothing: [(String, LinkType, [UInt8])] = [
    ("ARP", .ethernet, Packet.ethernet(0x0806, v4)),
    ("LLC", .ethernet, Packet.ethernet(38, [0x42, 0x42, 3] + v4)),
    ("PPPoE discovery", .ethernet, Packet.ethernet(0x8863, pppoe([0, 0x21] + v4, code: 9))),
    ("PPPoE, not a session", .ethernet, Packet.ethernet(0x8864, pppoe([0, 0x21] + v4, code: 9))),
    (
      "endless tags", .ethernet,
      Packet.ethernet(0x0800, v4, tags: [UInt16](repeating: 0x8100, count: 100))
    ),
    ("PPP, LCP", .ppp, [0xff, 3, 0xc0, 0x21] + v4),
    ("NULL, other family", .null, [7, 0, 0, 0] + v4),
  ]

  @Test(arguments: carryingNothing)
  func leavesOtherTrafficAlone(name: String, linkType: LinkType, frame: [UInt8]) {
    let dissection = Dissection(linkType, [frame])
    #expect(dissection.segments.isEmpty)
    #expect(dissection.statistics.nonIPFrames == 1)
    #expect(dissection.statistics.malformedHeaders == 0)
  }

  @Test func reportsEveryUnknownLinkTypeOnce() {
    let bluetooth = LinkType(rawValue: 187)
    let dissection = Dissection(bluetooth, [[1], [2], [3]])
    let reports = dissection.statistics.unsupportedLinkTypes
    #expect(reports.map { "\($0.linkType) \($0.firstFrame) \($0.frames)" } == ["link type 187 1 3"])
    #expect(dissection.statistics.unsupportedFrames == 3)
  }
}
