import Foundation
import RepriseCore
import Testing

@testable import Capture

/// What is left in a redacted capture of frames without a TCP segment, or with more than one.
@Suite struct RedactionFrameTests {
  private static let secret = Array("token=sEcReT".utf8)
  private static let binary: [UInt8] = [0x10, 0xFF, 0] + secret

  /// A datagram; its checksum stays 0, which says that there is none.
  private static func udp(_ payload: [UInt8], to port: UInt16 = 5_000) -> [UInt8] {
    var datagram = ByteWriter()
    datagram.put(UInt16(4_000))
    datagram.put(port)
    datagram.put(UInt16(8 + payload.count))
    datagram.put(UInt16(0))
    datagram.put(payload)
    return datagram.bytes
  }

  private static func ip(
    _ payload: [UInt8], _ number: UInt8, identification: UInt16 = 0, fragment: UInt16 = 0
  ) -> [UInt8] {
    PacketBuilder.ethernet(
      0x0800,
      PacketBuilder.ipv4(
        payload, protocolNumber: number, identification: identification, fragment: fragment))
  }

  /// Redacts frames, and reads what is left of them.
  private static func left(
    of frames: [[UInt8]], linkType: UInt32 = 1
  ) throws -> (frames: [[UInt8]], outcome: CaptureRedaction.Outcome) {
    var file = PcapBuilder(linkType: linkType)
    file.records = frames.map { .init(data: $0) }
    let capture = try TemporaryCapture(file.bytes)
    let sink = Conversions.Sink()
    var options = CaptureCopier.Options(application: "test")
    options.hidden = RedactionRules()
    let outcome = try CaptureRedaction(capture.path, InputOptions(), RedactionRules())
      .write(CaptureCopier(to: .pcap, options, sink))
    // What was cut off was there all the same.
    var reader = try CaptureReader(ByteSource(bytes: sink.bytes))
    var lengths: [Int] = []
    while let frame = try reader.next() { lengths.append(frame.wireLength) }
    #expect(lengths == frames.map(\.count))
    return (try Conversions.frames(sink.bytes), outcome)
  }

  /// Frames that end behind headers of so many bytes.
  private static let cut: [(String, [UInt8], Int)] = [
    ("UDP that is no text", ip(udp(binary), 17), 42),
    ("UDP of text and a zero", ip(udp(Array("a=b\0".utf8)), 17), 42),
    ("UDP of half a character", ip(udp(Array("ab".utf8) + [0xC3]), 17), 42),
    (
      "a tunnel of UDP", ip(udp([8, 0, 0, 0, 0, 0, 1, 0] + ip(udp(binary), 17), to: 4_789), 17), 42
    ),
    ("ICMP with a packet of others", ip([3, 1, 0, 0, 0, 0, 0, 0] + binary, 1), 42),
    ("GRE that is none", ip([0, 0, 0x12, 0x34] + binary, 47), 34),
    ("another protocol", ip(secret, 132), 34),
    ("another link's protocol", PacketBuilder.ethernet(0x888E, secret), 14),
    (
      "ARP, and more", PacketBuilder.ethernet(0x0806, [UInt8](repeating: 1, count: 28) + secret), 42
    ),
    ("an IP header that is none", PacketBuilder.ethernet(0x0800, [0x41] + binary), 14),
    (
      "a TCP header that is too short",
      ip(PacketBuilder.tcp(secret, dataOffset: 4), 6), 34
    ),
    ("a TCP header that is cut", ip(Array(PacketBuilder.tcp(secret).prefix(19)), 6), 34),
    (
      "UDP of IPv6",
      PacketBuilder.ethernet(0x86DD, PacketBuilder.ipv6(udp(binary), next: 17)), 62
    ),
    (
      "ICMP of IPv6",
      PacketBuilder.ethernet(
        0x86DD, PacketBuilder.ipv6([1, 0, 0, 0, 0, 0, 0, 0] + binary, next: 58)), 62
    ),
  ]

  @Test(arguments: cut.indices)
  func `of what is not read the headers are left`(_ index: Int) throws {
    let (name, frame, count) = Self.cut[index]
    let (frames, outcome) = try Self.left(of: [frame])
    #expect(frames == [Array(frame.prefix(count))], "\(name)")
    #expect(outcome.changed == 1 && outcome.cut == 1 && outcome.lookedThrough == 0, "\(name)")
    // What has nothing behind its headers has nothing to hide.
    let headers = Array(frame.prefix(count))
    let bare = try Self.left(of: [headers])
    #expect(bare.frames == [headers] && bare.outcome.changed == 0, "\(name)")
  }

  /// Frames that stay as they are.
  private static let kept: [(String, [UInt8])] = [
    ("UDP of text", ip(udp(Array("<14>host grüßt: a=b\r\n".utf8)), 17)),
    ("UDP without a payload, filled up", ip(udp([]), 17) + [UInt8](repeating: 0, count: 18)),
    ("ICMP without more", ip([8, 0, 0, 0, 0, 1, 0, 1], 1)),
    (
      "ARP, filled up",
      PacketBuilder.ethernet(
        0x0806, [UInt8](repeating: 1, count: 28) + [UInt8](repeating: 0, count: 18))
    ),
    ("TCP, filled up", ip(PacketBuilder.tcp([]), 6) + [UInt8](repeating: 0, count: 6)),
  ]

  @Test(arguments: kept.indices)
  func `what is known to be harmless stays`(_ index: Int) throws {
    let (name, frame) = Self.kept[index]
    let (frames, outcome) = try Self.left(of: [frame])
    #expect(frames == [frame] && outcome.changed == 0, "\(name)")
  }

  @Test func `text of UDP ends where a secret begins`() throws {
    let frame = Self.ip(Self.udp(Array("a=b ".utf8) + Self.secret), 17)
    let (frames, outcome) = try Self.left(of: [frame])
    #expect(frames == [Array(frame.dropLast(6))])
    #expect(outcome.changed == 1 && outcome.cut == 1)
  }

  @Test(arguments: [UInt8(17), 6])
  func `no fragment tells what it carries`(_ number: UInt8) throws {
    let text = Array(String(repeating: "x", count: 16).utf8) + Self.secret
    let datagram = number == 6 ? PacketBuilder.tcp(text) : Self.udp(text)
    // The cut goes through the secret, and the last fragment makes the datagram whole.
    let split = datagram.count - 4 - (datagram.count - 4) % 8
    let fragments = [
      Self.ip(Array(datagram[..<split]), number, identification: 9, fragment: 0x2000),
      Self.ip(Array(datagram[split...]), number, identification: 9, fragment: UInt16(split / 8)),
    ]
    for frames in [fragments, fragments.reversed(), [fragments[1]]] {
      let (left, outcome) = try Self.left(of: frames)
      #expect(left == frames.map { Array($0.prefix(34)) })
      #expect(outcome.changed == frames.count && outcome.cut == frames.count)
    }
  }

  @Test func `what fills a frame up is cleared`() throws {
    let segment = Self.ip(PacketBuilder.tcp([]), 6)
    let (frames, outcome) = try Self.left(of: [segment + Self.secret])
    #expect(frames == [segment + [UInt8](repeating: 0, count: Self.secret.count)])
    #expect(outcome.changed == 1 && outcome.cut == 0)
  }

  @Test func `of links that are not understood nothing is left`() throws {
    let (frames, outcome) = try Self.left(of: [Self.binary, []], linkType: 147)
    #expect(frames == [[], []])
    #expect(outcome.changed == 1 && outcome.cut == 1)
  }
}
