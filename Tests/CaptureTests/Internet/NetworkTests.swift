import RepriseCore
import Testing
import Wire

@testable import Capture

/// Connections through tunnels: which of them are one, and which only have equal addresses and ports.
@Suite struct NetworkTests {
  private typealias Packet = PacketBuilder

  private static func words(_ values: UInt16...) -> [UInt8] {
    values.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
  }

  private static func udp(_ payload: [UInt8], _ port: UInt16) -> [UInt8] {
    let datagram = words(50_000, port, UInt16(8 + payload.count), 0) + payload
    return Packet.ipv4(datagram, protocolNumber: 17)
  }

  /// Ways through a network with a number.
  enum Way: String, CaseIterable {
    case vxlan, gre, greWithChecksum, greOfEthernet

    func carry(_ packet: [UInt8], _ number: UInt8) -> [UInt8] {
      switch self {
      case .vxlan:
        NetworkTests.udp([8, 0, 0, 0, 0, 0, number, 0] + Packet.ethernet(0x0800, packet), 4_789)
      case .gre: gre(0x2000, 0x0800, [0, 0, 0, number] + packet)
      case .greWithChecksum: gre(0xA000, 0x0800, [0, 0, 0, 0, 0, 0, 0, number] + packet)
      case .greOfEthernet:
        gre(0x2000, 0x6558, [0, 0, number, 0] + Packet.ethernet(0x0800, packet))
      }
    }

    private func gre(_ flags: UInt16, _ type: UInt16, _ rest: [UInt8]) -> [UInt8] {
      Packet.ipv4(NetworkTests.words(flags, type) + rest, protocolNumber: 47)
    }
  }

  /// A packet in GTP-U, to an end of a tunnel.
  private static func gtp(_ packet: [UInt8], end: UInt8) -> [UInt8] {
    udp([0x30, 255] + words(UInt16(packet.count)) + [0, 0, 0, end] + packet, 2_152)
  }

  private static func readout(_ packets: [[UInt8]]) throws -> Readout {
    try Readout(file: PcapBuilder(linkType: 101, records: packets.map { .init(data: $0) }).bytes)
  }

  /// The packets of both peers on each connection, and nothing that is wrong.
  private static func check(
    _ readout: Readout, _ sessions: [Session], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(readout.summary.connections == sessions.count, sourceLocation: sourceLocation)
    #expect(readout.notes.isEmpty, sourceLocation: sourceLocation)
    for (index, session) in sessions.enumerated() {
      for peer in Peer.allCases {
        let packets = readout.events.compactMap { event -> PacketBytes? in
          guard case .mqtt(let packet) = event.body, event.context.connection == index + 1,
            event.context.sender == peer
          else { return nil }
          return packet
        }
        #expect(packets == session.packets(peer), sourceLocation: sourceLocation)
      }
    }
  }

  @Test("Equal addresses and ports in two networks are two connections", arguments: Way.allCases)
  func twoNetworks(_ way: Way) throws {
    let sessions = [Session.all(.v3_1_1), Session.all(.v5_0)]
    let parts = sessions.enumerated().map { index, session in
      session.dialogue().segments.map { way.carry(Readout.packet($0), UInt8(index + 1)) }
    }
    var packets: [[UInt8]] = []
    for index in 0..<max(parts[0].count, parts[1].count) {
      let pair = parts.compactMap { index < $0.count ? $0[index] : nil }
      // Now the one is first, now the other.
      packets += index.isMultiple(of: 2) ? pair.reversed() : pair
    }
    Self.check(try Self.readout(packets), sessions)
  }

  @Test("Each direction of one connection may have a number of its own", arguments: Way.allCases)
  func numberOfADirection(_ way: Way) throws {
    let session = Session.all(.v3_1_1)
    let packets = session.dialogue().segments.map {
      way.carry(Readout.packet($0), $0.sender == .client ? 10 : 20)
    }
    Self.check(try Self.readout(packets), [session])
  }

  @Test("Fragments of equal identifications in two networks are of two packets")
  func fragments() {
    let texts = ["hello", "world"]
    let parts = texts.enumerated().map { index, text in
      let segment = Packet.tcp(Array(text.utf8))
      return [
        Packet.ipv4(Array(segment.prefix(16)), identification: 9, fragment: 0x2000),
        Packet.ipv4(Array(segment.dropFirst(16)), identification: 9, fragment: 2),
      ].map { Way.vxlan.carry($0, UInt8(index + 1)) }
    }
    let frames = [parts[0][0], parts[1][1], parts[0][1], parts[1][0]]
    let seen = Dissection(.raw, frames).segments.map { String(decoding: $0.payload, as: UTF8.self) }
    #expect(seen == texts)
  }

  @Test("Packets that were captured inside and outside of their tunnel are of one connection")
  func bothSidesOfATunnel() throws {
    let session = Session.all(.v3_1_1)
    for isInnerFirst in [true, false] {
      let packets = session.dialogue().segments.flatMap { segment in
        let packet = Readout.packet(segment)
        let pair = [packet, Way.vxlan.carry(packet, 5)]
        return isInnerFirst ? pair : pair.reversed()
      }
      Self.check(try Self.readout(packets), [session])
    }
  }

  @Test("A connection goes on where its subscriber gets another end of a tunnel")
  func handover() throws {
    let session = Session.all(.v3_1_1)
    let segments = session.dialogue().segments
    let packets = segments.enumerated().map { index, segment in
      Self.gtp(Readout.packet(segment), end: index < segments.count / 2 ? 7 : 8)
    }
    Self.check(try Self.readout(packets), [session])
  }
}
