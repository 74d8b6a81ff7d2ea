import Capture
import Foundation
import TestSupport
import Testing

/// Packets in tunnels and in frames of wireless networks, and what only looks like them.
@Suite struct TunnelTests {
  private typealias Packet = PacketBuilder

  private static let v4 = Packet.ipv4()
  private static let v6 = Packet.ipv6()
  private static let inner = Packet.ethernet(0x0800, v4)

  private static func words(_ values: UInt16...) -> [UInt8] {
    values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
  }

  private static func udp(_ payload: [UInt8], to port: UInt16, from source: UInt16 = 50_000)
    -> [UInt8]
  {
    words(source, port, UInt16(8 + payload.count), 0) + payload
  }

  private static func overUDP(_ payload: [UInt8], to port: UInt16, from source: UInt16 = 50_000)
    -> [UInt8]
  {
    Packet.ipv4(udp(payload, to: port, from: source), protocolNumber: 17)
  }

  private static func gtp(_ flags: UInt8, _ optional: [UInt8], _ packet: [UInt8], type: UInt8 = 255)
    -> [UInt8]
  {
    let length = UInt16(optional.count + packet.count)
    return [flags, type] + words(length, 0, 77) + optional + packet
  }

  private static func vxlan(_ frame: [UInt8], flags: UInt8 = 8) -> [UInt8] {
    [flags, 0, 0, 0, 0, 0, 42, 0] + frame
  }

  private static func gre(_ flags: UInt16, _ type: UInt16, _ rest: [UInt8]) -> [UInt8] {
    Packet.ipv4(words(flags, type) + rest, protocolNumber: 47)
  }

  private static func label(_ value: UInt32, isLast: Bool) -> [UInt8] {
    words(UInt16(value >> 4), UInt16(value << 12 & 0xF000) | (isLast ? 0x100 : 0) | 64)
  }

  private static let llc: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0]

  /// A frame of a wireless network from a station to its access point, up to its body.
  private static func wireless(
    control: UInt8 = 0x08, flags: UInt8 = 1, sequence: UInt16 = 0x10, more: [UInt8] = []
  ) -> [UInt8] {
    [control, flags, 0, 0] + [UInt8](repeating: 2, count: 18)
      + [UInt8(sequence & 0xFF), UInt8(sequence >> 8)] + more
  }

  private static let data = wireless() + llc + v4
  private static let quality = wireless(control: 0x88, more: [0, 0])

  private static func radiotap(_ present: [UInt8], _ fields: [UInt8]) -> [UInt8] {
    [0, 0, UInt8(4 + present.count + fields.count), 0] + present + fields
  }

  private static let time: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
  private static let session: [UInt8] = [1, 0x10, 9, 0]

  static let carryingTCP: [(String, LinkType, [UInt8])] = [
    ("GTP-U", .raw, overUDP(gtp(0x30, [], v4), to: 2_152)),
    ("GTP-U, IPv6", .raw, overUDP(gtp(0x30, [], v6), to: 2_152)),
    ("GTP-U, answer", .raw, overUDP(gtp(0x30, [], v4), to: 50_000, from: 2_152)),
    ("GTP-U, sequence", .raw, overUDP(gtp(0x32, [0, 5, 0, 0], v4), to: 2_152)),
    ("GTP-U, extension", .raw, overUDP(gtp(0x34, [0, 0, 0, 0x85] + session, v4), to: 2_152)),
    ("GRE", .raw, gre(0, 0x0800, v4)), ("GRE, IPv6", .raw, gre(0, 0x86dd, v6)),
    ("GRE, key", .raw, gre(0x2000, 0x0800, [0, 0, 0, 9] + v4)),
    (
      "GRE, all fields", .raw,
      gre(0xB000, 0x0800, [0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1] + v4)
    ),
    ("GRE, Ethernet", .raw, gre(0, 0x6558, inner)),
    ("GRE, MPLS", .raw, gre(0, 0x8847, label(16, isLast: true) + v4)),
    ("PPTP", .raw, gre(0x3001, 0x880b, [0, 40, 0, 9, 0, 0, 0, 1] + [0xff, 3, 0, 0x21] + v4)),
    ("MPLS", .ethernet, Packet.ethernet(0x8847, label(16, isLast: true) + v4)),
    (
      "MPLS, two labels", .ethernet,
      Packet.ethernet(0x8847, label(16, isLast: false) + label(17, isLast: true) + v6)
    ),
    (
      "MPLS in a VLAN", .ethernet,
      Packet.ethernet(0x8847, label(16, isLast: true) + v4, tags: [0x8100])
    ),
    (
      "MPLS, Ethernet with a control word", .ethernet,
      Packet.ethernet(0x8847, label(16, isLast: true) + [0, 0, 0, 0] + inner)
    ),
    ("VXLAN", .raw, overUDP(vxlan(inner), to: 4_789)),
    ("VXLAN, policy", .raw, overUDP(vxlan(inner, flags: 0x88), to: 4_789)),
    (
      "VXLAN, VLAN inside", .ethernet,
      Packet.ethernet(
        0x0800, overUDP(vxlan(Packet.ethernet(0x86dd, v6, tags: [0x8100])), to: 4_789))
    ),
    ("VXLAN of Linux", .raw, overUDP(vxlan(inner), to: 8_472)),
    (
      "VXLAN over IPv6", .raw,
      Packet.ipv6(udp(vxlan(inner), to: 4_789), next: 17)
    ),
    (
      "GTP-U in VXLAN", .raw,
      overUDP(
        vxlan(Packet.ethernet(0x0800, overUDP(gtp(0x30, [], v4), to: 2_152))), to: 4_789)
    ),
    ("802.11", .wireless, data),
    ("802.11, QoS", .wireless, quality + llc + v4),
    (
      "802.11, four addresses", .wireless,
      wireless(flags: 3, more: [UInt8](repeating: 2, count: 6)) + llc + v4
    ),
    ("Radiotap", .radiotap, radiotap([0, 0, 0, 0], []) + data),
    ("Radiotap, flags", .radiotap, radiotap([2, 0, 0, 0], [0]) + data),
    (
      "Radiotap, padded", .radiotap,
      radiotap([3, 0, 0, 0], time + [0x20]) + quality + [0, 0] + llc + v4
    ),
    (
      "Radiotap, two words", .radiotap,
      radiotap([3, 0, 0, 0x80, 0, 0, 0, 0], [0, 0, 0, 0] + time + [0]) + data
    ),
    (
      "Prism", .prism,
      [0x44, 0, 0, 0, 144, 0, 0, 0] + [UInt8](repeating: 0, count: 136) + data
    ),
    (
      "AVS", .avs,
      [0x80, 0x21, 0x10, 1, 0, 0, 0, 64] + [UInt8](repeating: 0, count: 56) + data
    ),
  ]

  @Test(arguments: carryingTCP)
  func findsTheSegment(name: String, linkType: LinkType, frame: [UInt8]) {
    let dissection = Dissection(linkType, [frame])
    #expect(dissection.segments.map(\.payload) == [Packet.payload])
    #expect(dissection.segments.map(\.wireLength) == [Packet.payload.count])
    #expect(dissection.segments.map(\.sequenceNumber) == [7])
    #expect(dissection.statistics.malformedHeaders == 0)
  }

  @Test(arguments: carryingTCP)
  func accountsForEveryCut(name: String, linkType: LinkType, frame: [UInt8]) {
    let headers = frame.count - Packet.payload.count
    for length in 0...frame.count {
      let dissection = Dissection(linkType, [frame], cutTo: length)
      let counts = dissection.statistics
      let sum =
        counts.segments + counts.cutHeaders + counts.nonIPFrames + counts.nonTCPPackets
        + counts.left.values.reduce(0, +)
      #expect(sum == 1 && counts.malformedHeaders == 0, "cut to \(length)")
      let payload = Array(Packet.payload.prefix(max(0, length - headers)))
      #expect(dissection.segments.map(\.payload) == (length < headers ? [] : [payload]))
    }
  }

  @Test func survivesEveryChangedByte() {
    var unaccounted: [String] = []
    for (name, linkType, frame) in Self.carryingTCP {
      for index in frame.indices {
        for change: UInt8 in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
          var damaged = frame
          damaged[index] ^= change
          let counts = Dissection(linkType, [damaged]).statistics
          let sum =
            counts.segments + counts.malformedHeaders + counts.nonTCPPackets + counts.fragments
            + counts.nonIPFrames + counts.left.values.reduce(0, +)
          if sum != 1 { unaccounted.append("\(name), byte \(index)") }
        }
      }
    }
    #expect(unaccounted == [])
  }

  @Test func findsTheSegmentInAFragmentedTunnel() {
    let datagram = Self.udp(Self.gtp(0x30, [], Self.v4), to: 2_152)
    let parts = [
      Packet.ipv4(
        Array(datagram.prefix(24)), protocolNumber: 17, identification: 9, fragment: 0x2000),
      Packet.ipv4(
        Array(datagram.dropFirst(24)), protocolNumber: 17, identification: 9, fragment: 3),
    ]
    for frames in [parts, parts.reversed()] {
      #expect(Dissection(.raw, frames).segments.map(\.payload) == [Packet.payload])
    }
  }

  @Test(arguments: [0, 0x14, 0xa4, 0xfe] as [UInt8])
  func findsEthernetBehindLabelsWhateverItsAddress(_ first: UInt8) {
    let frame = [first] + Self.inner.dropFirst()
    let packet = Packet.ethernet(0x8847, Self.label(16, isLast: true) + frame)
    #expect(Dissection(.ethernet, [packet]).segments.map(\.payload) == [Packet.payload])
  }

  // MARK: Near misses

  private static let carryingNothing: [(String, LinkType, [UInt8])] = [
    ("GTP-U echo", .raw, overUDP(gtp(0x30, [], v4, type: 1), to: 2_152)),
    ("GTP prime", .raw, overUDP(gtp(0x20, [], v4), to: 2_152)),
    ("GTP-U, no IP", .raw, overUDP(gtp(0x30, [], [0x50] + v4), to: 2_152)),
    (
      "GTP-U, empty extension", .raw,
      overUDP(gtp(0x34, [0, 0, 0, 0x85, 0, 0, 0, 0], v4), to: 2_152)
    ),
    ("text from GTP's port", .raw, overUDP(Array("hello, world".utf8), to: 53, from: 2_152)),
    ("VXLAN without a network", .raw, overUDP(vxlan(inner, flags: 0), to: 4_789)),
    ("VXLAN, generic", .raw, overUDP(vxlan(inner, flags: 0x0C), to: 4_789)),
    ("VXLAN, ARP", .raw, overUDP(vxlan(Packet.ethernet(0x0806, v4)), to: 4_789)),
    ("VXLAN on another port", .raw, overUDP(vxlan(inner), to: 4_790)),
    ("GRE with routing", .raw, gre(0x4000, 0x0800, [0, 0, 0, 0] + v4)),
    ("GRE, version 2", .raw, gre(2, 0x0800, v4)),
    ("GRE, keep-alive", .raw, gre(0, 0, [])),
    ("PPTP, not PPP", .raw, gre(0x3001, 0x0800, [0, 40, 0, 9, 0, 0, 0, 1] + v4)),
    ("PPTP, acknowledgement", .raw, gre(0x2081, 0x880b, [0, 0, 0, 9, 0, 0, 0, 1])),
    (
      "endless labels", .ethernet,
      Packet.ethernet(0x8847, (0..<40).flatMap { _ in label(16, isLast: false) } + v4)
    ),
    ("802.11, no data", .wireless, wireless(control: 0x48) + llc + v4),
    ("802.11, beacon", .wireless, wireless(control: 0x80) + llc + v4),
    ("802.11, ARP", .wireless, wireless() + [0xaa, 0xaa, 3, 0, 0, 0, 8, 6] + v4),
    ("Radiotap, version 1", .radiotap, [1, 0, 8, 0, 0, 0, 0, 0] + data),
  ]

  @Test(arguments: carryingNothing)
  func leavesOtherTrafficAlone(name: String, linkType: LinkType, frame: [UInt8]) {
    let dissection = Dissection(linkType, [frame])
    let counts = dissection.statistics
    #expect(dissection.segments.isEmpty && counts.malformedHeaders == 0 && counts.left.isEmpty)
    #expect(counts.nonIPFrames + counts.nonTCPPackets == 1)
  }

  private static let left: [(LinkType, [UInt8], LeftContent)] = [
    (.wireless, wireless(flags: 0x41) + llc + v4, .encryptedWireless),
    (.wireless, wireless(flags: 5) + llc + v4, .fragmentedWireless),
    (.wireless, wireless(sequence: 0x11) + llc + v4, .fragmentedWireless),
    (.wireless, wireless(control: 0x88, more: [0x80, 0]) + llc + v4, .aggregatedWireless),
    (.radiotap, radiotap([2, 0, 0, 0], [0x40]) + data, .badWireless),
    (.ethernet, Packet.ethernet(0x8847, label(16, isLast: true) + [0x10] + v4), .labelled),
  ]

  @Test(arguments: left)
  func namesWhatItLeavesOut(linkType: LinkType, frame: [UInt8], content: LeftContent) throws {
    let dissection = Dissection(linkType, [frame, frame])
    #expect(dissection.segments.isEmpty && dissection.statistics.left == [content: 2])
    let file = PcapBuilder(linkType: UInt32(linkType.rawValue), records: [.init(data: frame)])
    let notes = try Readout(file: file.bytes).notes
    #expect(notes.first?.hasPrefix("1 frames left out: ") == true)
  }

  @Test func endsTunnelsInTunnels() {
    let packet = (0..<9).reduce(Self.v4) { inner, _ in Self.gre(0, 0x0800, inner) }
    let dissection = Dissection(.raw, [packet])
    #expect(dissection.segments.isEmpty && dissection.statistics.malformedHeaders == 1)
  }

  // MARK: The other decoder

  @Test func agreesWithTshark() throws {
    var disagreements: [String] = []
    for linkType in Set(Self.carryingTCP.map(\.1)).sorted(by: { $0.rawValue < $1.rawValue }) {
      let cases = Self.carryingTCP.filter { $0.1 == linkType }
      let file = PcapBuilder(
        linkType: UInt32(linkType.rawValue), records: cases.map { .init(data: $0.2) })
      let seen = try Self.tshark(file.bytes)
      for (index, entry) in cases.enumerated() where seen[index + 1] != "1000\t1883\t7\t68656c6c6f"
      {
        disagreements.append("\(entry.0): \(seen[index + 1] ?? "nothing")")
      }
    }
    #expect(disagreements == [])
  }

  /// Ports, sequence number and payload of the TCP segment in each frame.
  private static func tshark(_ file: [UInt8]) throws -> [Int: String] {
    let temporary = try TemporaryFile(file)
    let lines = try Tshark.lines(
      temporary.path, ["-d", "udp.port==8472,vxlan", "-Y", "tcp"],
      fields: ["frame.number", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.payload"])
    var seen: [Int: String] = [:]
    for line in lines {
      let columns = line.split(separator: "\t", maxSplits: 1)
      seen[try #require(Int(columns[0]))] = String(columns[1])
    }
    return seen
  }
}
