import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

/// Connections that are written as packets, read back by this package and by tshark.
@Suite struct SyntheticTCPTests {
  /// A file of one connection.
  private struct Written {
    var writer = PcapngWriter(application: "Tests 1.0", comments: ["a whole file"])
    var tcp: SyntheticTCP
    private let interface: UInt32
    private var time = Timestamp(nanoseconds: 1_800_000_000_123_456_789)

    init(
      isIPv4: Bool = true, port: UInt16 = 1_883, clientStart: UInt32 = 1_000,
      serverStart: UInt32 = 5_000
    ) {
      let ends = (1...2).map { number in
        isIPv4
          ? IPAddress(ipv4: 0x7F00_0000 + number)
          : IPAddress(high: 0xFD00 << 48, low: UInt64(number))
      }
      tcp = SyntheticTCP(
        client: Endpoint(address: ends[0], port: 40_001),
        server: Endpoint(address: ends[1], port: port),
        clientStart: clientStart, serverStart: serverStart)
      interface = writer.addInterface(.raw, name: "proxy", description: "between two ends")
    }

    /// Writes packets, a millisecond after those before.
    mutating func write(
      _ comments: [String] = [], _ write: (inout SyntheticTCP, SyntheticTCP.Taker) -> Void
    ) {
      let (interface, time) = (interface, time)
      self.time.nanoseconds += 1_000_000
      var comments = comments
      withUnsafeMutablePointer(to: &writer) { writer in
        write(&tcp) { header, payload in
          writer.pointee.addPacket(on: interface, at: time, comments: comments, header, payload)
          comments = []
        }
      }
    }

    mutating func send(from sender: Peer, _ bytes: [UInt8]) {
      write { $0.send(from: sender, bytes.span.bytes, $1) }
    }

    /// Puts the file where others can read it.
    func file() throws -> TemporaryCapture { try TemporaryCapture(writer.bytes) }
  }

  private static let checks = [
    "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE",
  ]

  /// What tshark warns of in a file, and the packets whose checksums it does not find good.
  private func complaints(_ path: String) throws -> [Substring] {
    try Tshark.lines(
      path, Self.checks + ["-Y", "_ws.expert.severity >= 0x600000 || !(tcp.checksum.status == 1)"],
      fields: ["frame.number", "_ws.expert.message"])
  }

  @Test(arguments: [true, false]) func isReadAsItWasSaid(isIPv4: Bool) throws {
    var written = Written(isIPv4: isIPv4)
    written.write { $0.open($1) }
    written.send(from: .client, [1, 2, 3])
    written.send(from: .server, [4])
    written.write { $0.finish(from: .client, $1) }
    written.send(from: .client, [9])
    written.send(from: .server, [5, 6])
    written.write { $0.finish(from: .server, $1) }
    written.write { $0.finish(from: .server, $1) }
    let reading = try Reading(written.writer.bytes)
    #expect(reading.error == nil)
    let start: Int64 = 1_800_000_000_123_456_789
    #expect(
      reading.frames.map { ($0.time?.nanoseconds ?? 0) - start }
        == [0, 0, 0, 1, 2, 3, 3, 5, 6, 6].map { $0 * 1_000_000 })
    #expect(Set(reading.frames.map(\.linkType)) == [.raw])
    let (client, server) =
      isIPv4
      ? ("127.0.0.1:40001", "127.0.0.2:1883") : ("[fd00::1]:40001", "[fd00::2]:1883")
    let expected: [(Bool, UInt32, TCPFlags, [UInt8])] = [
      (true, 1_000, .syn, []), (false, 5_000, [.syn, .acknowledgment], []),
      (true, 1_001, .acknowledgment, []), (true, 1_001, [.acknowledgment, .push], [1, 2, 3]),
      (false, 5_001, [.acknowledgment, .push], [4]), (true, 1_004, [.acknowledgment, .fin], []),
      (false, 5_002, .acknowledgment, []), (false, 5_002, [.acknowledgment, .push], [5, 6]),
      (false, 5_004, [.acknowledgment, .fin], []), (true, 1_005, .acknowledgment, []),
    ]
    #expect(
      reading.segments
        == expected.enumerated().map { index, segment in
          SeenSegment(
            frame: index + 1, source: segment.0 ? client : server,
            destination: segment.0 ? server : client, sequenceNumber: segment.1, flags: segment.2,
            payload: segment.3, wireLength: segment.3.count)
        })
    let file = try written.file()
    #expect(try complaints(file.path) == [])
    // Numbers count from the handshake on: all is acknowledged in the end.
    #expect(
      try Tshark.lines(file.path, ["-Y", "frame.number >= 9"], fields: ["tcp.seq", "tcp.ack"])
        == ["4\t5", "5\t5"])
  }

  /// Each segment of either end says whose bytes are altered, from where they are.
  @Test(arguments: [true, false]) func saysWhoseBytesAreAltered(isIPv4: Bool) throws {
    var written = Written(isIPv4: isIPv4)
    written.write { $0.open($1) }
    written.send(from: .client, [1])
    written.write { tcp, _ in tcp.alter(.client) }
    written.send(from: .client, [2])
    written.send(from: .server, [3])
    written.write { tcp, _ in tcp.alter(.server) }
    written.send(from: .server, [4])
    written.write { $0.finish(from: .client, $1) }
    let tcp = isIPv4 ? 20 : 40
    let options = try Conversions.frames(written.writer.bytes).dropFirst(3).map { frame in
      Array(frame[(tcp + 20)..<(tcp + Int(frame[tcp + 12] >> 4) * 4)])
    }
    let name: [UInt8] = [253, 7, 0x52, 0x50, 0x72, 0x73]
    // An acknowledgement goes in front of the FIN.
    #expect(
      options == [[], name + [1, 1], name + [2, 1]]
        + [[UInt8]](repeating: name + [3, 1], count: 3))
    let file = try written.file()
    #expect(try complaints(file.path) == [])
  }

  /// A large write is cut, numbers wrap at 4 GiB, and nobody waits for what was acknowledged.
  @Test(arguments: [true, false]) func cutsAndWraps(isIPv4: Bool) throws {
    var written = Written(
      isIPv4: isIPv4, port: 9, clientStart: UInt32.max - 70_000, serverStart: UInt32.max)
    var random = SplitMix64(seed: 1)
    let bytes = random.bytes(300_001)
    written.write { $0.open($1) }
    for peer in [Peer.client, .server] { written.send(from: peer, bytes) }
    written.write { $0.reset(from: .server, $1) }
    written.send(from: .client, [1])
    written.write { $0.finish(from: .client, $1) }
    let segments = try Reading(written.writer.bytes).segments
    #expect(segments.last?.flags == [.reset, .acknowledgment])
    let largest = isIPv4 ? 65_495 : 65_475
    for source in Set(segments.map(\.source)) {
      let sent = segments.filter { $0.source == source }
      #expect(sent.flatMap(\.payload) == bytes)
      #expect(sent.map(\.payload.count).max() == largest)
      var next = sent[0].sequenceNumber &+ 1
      for segment in sent.dropFirst() {
        #expect(segment.sequenceNumber == next)
        next &+= UInt32(segment.payload.count)
      }
      #expect(next < sent[0].sequenceNumber)
    }
    let file = try written.file()
    // The reset is what is to be warned of, and nothing else.
    #expect(try complaints(file.path) == ["\(segments.count)\tConnection reset (RST)"])
    // Nothing is told to be lost.
    let notes = try EventList.events(of: file.path).summary.notes
    #expect(notes.count == 1 && notes[0].hasPrefix("no MQTT or WebSocket was found in"))
  }

  @Test func holdsWhatOthersDecode() throws {
    var written = Written()
    let connect = MQTTPacket(
      .connect(.init(clientID: "c", cleanStart: true, keepAlive: 60)), version: .v3_1_1)
    let publish = MQTTPacket(
      .publish(.init(topic: "a/b", payload: Array("21.5".utf8))), version: .v3_1_1)
    written.write(["from far away"]) { $0.open($1) }
    written.send(from: .client, try connect.encoded())
    written.send(
      from: .server, try MQTTPacket(.connack(.init(code: 0)), version: .v3_1_1).encoded())
    written.send(from: .client, try publish.encoded())
    for peer in [Peer.client, .server] { written.write { $0.finish(from: peer, $1) } }
    let moment = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
    written.writer.addStatistics(of: 0, from: moment, to: moment, InterfaceCounts(received: 10))
    let file = try written.file()
    #expect(
      try Tshark.lines(
        file.path, ["-Y", "mqtt"], fields: ["frame.number", "mqtt.msgtype", "mqtt.topic"])
        == ["4\t1\t", "5\t2\t", "6\t3\ta/b"])
    #expect(
      try Tshark.lines(
        file.path, ["-Y", "frame.comment"], fields: ["frame.number", "frame.comment"])
        == ["1\tfrom far away"])
    #expect(try complaints(file.path) == [])
    let (events, summary) = try EventList.events(of: file.path)
    #expect(summary.notes == [])
    #expect(summary.frames == 10)
    #expect(
      try events.map { try InspectLine($0).type }
        == ["OPEN", "CONNECT", "CONNACK", "PUBLISH", "CLOSE"])
  }

  /// A text that is too long for its option is cut between two characters.
  @Test(arguments: [0, 1, 2]) func cutsTexts(shift: Int) throws {
    var writer = PcapngWriter(application: "Tests")
    _ = writer.addInterface(.raw, name: "", description: "")
    let text = String(repeating: "x", count: shift) + String(repeating: "ä€", count: 14_000)
    let moment = Timestamp(nanoseconds: -5)
    writer.addPacket(
      on: 0, at: moment, comments: [text], [UInt8](1...3).span.bytes, [UInt8](4...5).span.bytes)
    let file = try TemporaryCapture(writer.bytes)
    let frames = try Reading(path: file.path).frames
    #expect(frames.map(\.bytes) == [[1, 2, 3, 4, 5]])
    #expect(frames.map(\.time) == [Timestamp(nanoseconds: 0)])
    let seen = try #require(try Tshark.lines(file.path, [], fields: ["frame.comment"]).first)
    #expect(text.hasPrefix(seen))
    #expect(seen.utf8.count > PcapngWriter.longestText - 5)
    writer.removeAll()
    #expect(writer.bytes == [])
  }
}
