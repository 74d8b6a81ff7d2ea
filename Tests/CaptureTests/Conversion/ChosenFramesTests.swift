import Foundation
import RepriseCore
import Testing
import Wire

@testable import Capture

/// Which frames are written when connections, ports or a time are chosen.
@Suite struct ChosenFramesTests {
  /// Three connections, the first and the last between the same ports, and a frame of no connection.
  private func capture() throws -> TemporaryCapture {
    var segments: [Segment] = []
    for (port, client) in [(UInt16(40_000), "a"), (40_001, "b"), (40_000, "c")] {
      var dialogue = Dialogue(client: UInt32(port) + UInt32(client.utf8.first ?? 0))
      dialogue.clientPort = port
      dialogue.open()
      dialogue.send(
        .client, [0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1] + Array(client.utf8))
      dialogue.send(.server, [0x20, 2, 0, 0])
      dialogue.close()
      segments += dialogue.segments
    }
    var file = PcapBuilder(linkType: 101)
    file.records = segments.enumerated().map {
      .init(seconds: UInt32($0), fraction: 0, data: Readout.packet($1))
    }
    file.records.append(.init(seconds: 100, fraction: 0, data: [0x45, 0]))
    return try TemporaryCapture(file.bytes)
  }

  /// The frames of one dialogue.
  private static let length = 10

  private func chosen(
    _ capture: TemporaryCapture, _ choose: (borrowing EventView) -> Bool
  ) throws -> [[UInt8]] {
    let conversion = CaptureConversion(capture.path, InputOptions())
    var plan = CaptureConversion.Plan()
    plan.choosesConnections = true
    plan.survey = try conversion.survey { event, connections in
      if choose(event) { connections.choose(event.context.connection) }
    }
    let copy = try Conversions.converted(
      capture.path, to: .pcap, .init(application: "test"), plan)
    return try Conversions.frames(copy.bytes)
  }

  private func all(_ capture: TemporaryCapture) throws -> [[UInt8]] {
    try Conversions.frames(Array(try Data(contentsOf: URL(filePath: capture.path))))
  }

  @Test(arguments: [1, 2, 3])
  func `all frames of a connection are written, and no others`(_ number: Int) throws {
    let capture = try capture()
    let frames = try all(capture)
    #expect(frames.count == 3 * Self.length + 1)
    let start = (number - 1) * Self.length
    #expect(
      try chosen(capture) { $0.context.connection == number }
        == Array(frames[start..<start + Self.length]))
  }

  @Test func `an event chooses its connection`() throws {
    let capture = try capture()
    let frames = try all(capture)
    let chosen = try chosen(capture) {
      guard case .mqtt(let packet) = $0.body else { return false }
      return packet.bytes.uint8(at: 14) == UInt8(ascii: "c")
    }
    #expect(chosen == Array(frames[20..<30]))
  }

  @Test func `a time and a filter choose frames`() throws {
    let capture = try capture()
    let frames = try all(capture)
    var plan = CaptureConversion.Plan()
    plan.isWanted = { time in
      (5..<12).contains((time?.nanoseconds ?? 0) / 1_000_000_000)
    }
    let timed = try Conversions.converted(
      capture.path, to: .pcap, .init(application: "test"), plan)
    #expect(try Conversions.frames(timed.bytes) == Array(frames[5..<12]))
    let filtered = try Conversions.converted(
      capture.path, to: .pcap, options: InputOptions(bpf: "tcp port 40001"))
    #expect(try Conversions.frames(filtered.bytes) == Array(frames[10..<20]))
  }

  @Test func `fragments of a chosen connection are written`() throws {
    // A packet in two fragments, between the hosts of the others.
    var dialogue = Dialogue()
    dialogue.open()
    dialogue.send(.client, [0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x61])
    var file = PcapBuilder(linkType: 101)
    let packets = dialogue.segments.map(Readout.packet)
    let connect = try #require(packets.first { $0.count > 50 })
    let halves = Fragments.halves(of: connect)
    for packet in packets.flatMap({ $0 == connect ? halves : [$0] }) {
      file.records.append(.init(data: packet))
    }
    let other = Fragments.halves(of: connect).map { Fragments.from([10, 9, 8, 7], $0) }
    file.records += other.map { .init(data: $0) }
    let capture = try TemporaryCapture(file.bytes)
    let frames = try all(capture)
    #expect(try chosen(capture) { $0.context.connection == 1 } == Array(frames.dropLast(2)))
  }
}

/// Packets of IPv4 in two fragments.
private enum Fragments {
  /// Cuts a packet behind the first 24 bytes of its payload.
  static func halves(of packet: [UInt8]) -> [[UInt8]] {
    let (header, payload) = (Array(packet[..<20]), Array(packet[20...]))
    return [
      fragment(header, Array(payload[..<24]), 0x2000), fragment(header, Array(payload[24...]), 3),
    ]
  }

  private static func fragment(_ header: [UInt8], _ payload: [UInt8], _ field: UInt16) -> [UInt8] {
    var header = header
    header.replaceSubrange(2..<4, with: [0, UInt8(20 + payload.count)])
    header.replaceSubrange(6..<8, with: [UInt8(field >> 8), UInt8(field & 0xff)])
    return header + payload
  }

  /// The same from another host.
  static func from(_ address: [UInt8], _ packet: [UInt8]) -> [UInt8] {
    packet[..<12] + address + packet[16...]
  }
}
