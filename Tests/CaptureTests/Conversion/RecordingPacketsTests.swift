import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Recordings that are written as packets.
@Suite struct RecordingPacketsTests {
  /// An event without what only the file that it stands in decides.
  private func content(_ event: Event) -> Event {
    var event = event
    event.context.frame = 0
    event.context.isOrderUncertain = false
    switch event.body {
    case .opened(var opening):
      opening.firstFrame = 0
      opening.evidence = nil
      event.body = .opened(opening)
    case .closed(var closing):
      closing.firstFrame = 0
      event.body = .closed(closing)
    default: break
    }
    return event
  }

  private func byConnection(_ events: [Event]) -> [Int: [Event]] {
    Dictionary(grouping: events.map(content), by: \.context.connection)
  }

  @Test(arguments: PackageFolder.captured)
  func `the packets of a session say what the session said`(_ name: String) throws {
    let events = try EventList.events(of: PackageFolder.capture(name), options: .init()).events
    let made = Conversions.packets(of: events)
    let again = try Conversions.events(made.bytes)
    let (before, after) = (byConnection(events), byConnection(again))
    #expect(after == before)
    #expect(made.losses.gaps == 0 && made.losses.bodies == 0 && made.losses.attempts == 0)
  }

  @Test(arguments: PackageFolder.captured)
  func `tshark decodes what it decodes of the original`(_ name: String) throws {
    let path = PackageFolder.capture(name)
    let events = try EventList.events(of: path, options: .init()).events
    let ports = Set(
      events.compactMap { event -> String? in
        guard case .opened(let opening) = event.body else { return nil }
        let isMQTT = event.context.wire.version != nil
        let port = opening.server.split(separator: ":").last ?? ""
        return "tcp.port==\(port),\(isMQTT ? "mqtt" : "http")"
      })
    // tshark does not decode the MQTT in frames of WebSocket.
    let isCarried = name == "mqtt-over-websocket"
    let fields =
      isCarried
      ? ["websocket.opcode", "websocket.payload_length", "websocket.mask"]
      : ["mqtt.msgtype", "mqtt.topic", "mqtt.msg"]
    let filter = ["-Y", isCarried ? "websocket" : "mqtt"]
    let theirs = try Tshark.lines(path, ports.flatMap { ["-d", $0] } + filter, fields: fields)
    let made = try TemporaryCapture(Conversions.packets(of: events, usesKnownPorts: true).bytes)
    let ours = try Tshark.lines(made.path, filter, fields: fields)
    // A frame of ours may hold one packet where one of theirs holds several.
    #expect(words(ours) == words(theirs))
    #expect(!ours.isEmpty)
    let bad = try Tshark.lines(
      made.path,
      [
        "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-Y",
        "tcp.checksum.status==0 || ip.checksum.status==0 || tcp.analysis.lost_segment || "
          + "tcp.analysis.ack_lost_segment || _ws.malformed",
      ], fields: ["frame.number"])
    #expect(bad == [])
  }

  private func words(_ lines: [Substring]) -> [String] {
    let columns = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    return (0..<3).map { column in
      columns.map { column < $0.count ? $0[column] : "" }.filter { !$0.isEmpty }
        .joined(separator: ",")
    }
  }

  /// A client's own recording has no PINGREQ: where the client must have sent one bytes are missing.
  @Test(arguments: [(true, 12.0, 0), (false, 10, 0), (false, 10.001, 1), (false, 12, 1)])
  func `packets lack the PINGREQs that a recording does not have`(
    _ hasPings: Bool, _ silence: Double, _ gaps: Int
  ) throws {
    func event(_ sender: Peer, _ body: Event.Body, at seconds: Double) -> Event {
      Event(
        EventContext(
          time: Timestamp(nanoseconds: Int64(seconds * 1_000_000_000)), frame: 1, connection: 1,
          sender: sender, wire: .mqtt(.v3_1_1)), body)
    }
    func packet(_ content: MQTTPacket.Content) throws -> Event.Body {
      .mqtt(PacketBytes(try MQTTPacket(content, version: .v3_1_1).encoded()))
    }
    let opening = ConnectionOpening(
      client: "10.0.0.1:40000", server: "10.0.0.9:1883", isFromStart: true, firstFrame: 1,
      firstTime: Timestamp(nanoseconds: 0), hasPings: hasPings)
    let closing = ConnectionClosing(
      how: .fin, firstFrame: 1,
      firstTime: Timestamp(nanoseconds: Int64((1 + silence) * 1_000_000_000)))
    let events = [
      event(.client, .opened(opening), at: 0),
      event(.client, try packet(.connect(.init(clientID: "c", keepAlive: 10))), at: 1),
      event(.server, try packet(.connack(.init())), at: 1),
      event(.client, .closed(closing), at: 1 + silence),
    ]
    let made = Conversions.packets(of: events)
    #expect(made.losses.gaps == gaps)
    let read = try Conversions.events(made.bytes)
    let seen = read.compactMap { event -> Peer? in
      if case .gap = event.body { event.context.sender } else { nil }
    }
    #expect(seen == [Peer](repeating: .client, count: gaps))
  }

  /// A compressed message with a secret in its first fragment is told uncompressed from there on.
  @Test(arguments: [(0 as UInt8, false, true), (0, true, false), (0b100, false, false)])
  func `what follows a fragment that is told uncompressed is so too`(
    _ reservedBits: UInt8, _ isFinal: Bool, _ isPlain: Bool
  ) {
    let first = WebSocketFrame(
      .text, Array("a=***".utf8), isFinal: isFinal, reservedBits: reservedBits)
    var second = WebSocketFrame(.continuation, [0x4A, 0x04, 0x00], isFinal: false, maskingKey: 7)
    second.inflated = Array("b".utf8)
    var messages = PlainMessages()
    func take(_ frame: WebSocketFrame, from sender: Peer) -> WebSocketFrame? {
      frame.withView(from: nil) { messages.take($0, from: sender) }
    }
    #expect(take(first, from: .client) == nil)
    #expect(take(second, from: .server) == nil)
    let plain = WebSocketFrame(.continuation, Array("b".utf8), isFinal: false, maskingKey: 7)
    for _ in 0..<2 { #expect(take(second, from: .client) == (isPlain ? plain : nil)) }
    #expect(take(WebSocketFrame(.text, [0x4A], reservedBits: 0b100), from: .client) == nil)
    #expect(take(second, from: .client) == nil)
  }

  /// What a capture showed of how soon things arrived is not in packets that are made of a recording: they claim it only
  /// where nothing was late and all was seen beside both ends.
  @Test(
    arguments: [.fin, .reset, .endOfCapture] as [ConnectionClosing.How],
    [(nil, nil, nil, false), (0, nil, nil, false), (nil, 5, nil, false), (nil, nil, 5, false)]
      + [(nil, nil, nil, true)] as [(Int64?, Int64?, Int64?, Bool)])
  func `packets claim no more of times than the recording`(
    _ how: ConnectionClosing.How, _ known: (Int64?, Int64?, Int64?, Bool)
  ) throws {
    for (client, isFromStart) in [("10.0.0.1:40000", true), ("10.0.0.2:40000", false)] {
      func event(_ sender: Peer, _ body: Event.Body, at seconds: Int64) -> Event {
        Event(
          EventContext(
            time: Timestamp(nanoseconds: seconds * 1_000_000_000), frame: 1, connection: 1,
            sender: sender, wire: .mqtt(.v3_1_1)), body)
      }
      let closing = ConnectionClosing(
        how: how, firstFrame: 1, firstTime: Timestamp(nanoseconds: 90_000_000_000),
        isAnswered: false, isLate: known.3, clientSilence: known.0, clientRest: known.1,
        serverRest: known.2)
      let connect = PacketBytes([0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x61])
      let events = [
        event(
          .client,
          .opened(
            ConnectionOpening(
              client: client, server: "10.0.0.2:1883", isFromStart: isFromStart, firstFrame: 1,
              firstTime: Timestamp(nanoseconds: 0))), at: 0),
        event(.client, .gap(Gap(bytes: 40, reason: .acknowledged)), at: 0),
        event(.client, .mqtt(connect), at: 1),
        event(.server, .mqtt(PacketBytes([0x20, 2, 0, 0])), at: 2),
        event(.client, .closed(closing), at: 90),
      ]
      // A connection whose beginning is missing may begin with a hole.
      let made = Conversions.packets(of: isFromStart ? [events[0]] + events[2...] : events)
      let ends = try Conversions.events(made.bytes).compactMap { event -> ConnectionClosing? in
        if case .closed(let closing) = event.body { closing } else { nil }
      }
      let end = try #require(ends.first)
      let isClaimed = !known.3 && known.0 == nil && known.1 == nil && known.2 == nil
      #expect(ends.count == 1 && end.isLate == !isClaimed)
      #expect(end.clientSilence == (isClaimed ? nil : 0))
      // From its first segment on it may have ended at any time.
      let whole: Int64? = isClaimed ? nil : isFromStart ? 90_000_000_000 : 89_000_000_000
      #expect(end.clientRest == whole && end.serverRest == whole)
    }
  }

  /// What is cut out of a file, or goes on in the next one, claims no more than the whole.
  @Test(arguments: [SyntheticTCP.Vantage.client, .nowhere, .everywhere], 0...3)
  func `a connection tells where it was seen from wherever it begins`(
    _ vantage: SyntheticTCP.Vantage, _ cut: Int
  ) throws {
    let ends = [1, 2].map { IPAddress(ipv4: 0x7F00_0000 + $0) }
    var tcp = SyntheticTCP(
      client: Endpoint(address: ends[0], port: 40_000),
      server: Endpoint(address: ends[1], port: 1_883), start: 7, seenFrom: vantage)
    var packets: [[UInt8]] = []
    let take: SyntheticTCP.Taker = { packets.append(Array(copying: $0) + Array(copying: $1)) }
    let connect: [UInt8] = [0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x61]
    tcp.open(take)
    tcp.send(from: .client, connect.span.bytes, take)
    tcp.send(from: .server, [0x20, 2, 0, 0].span.bytes, take)
    tcp.acknowledge(.client, take)
    tcp.finish(from: .server, take)
    tcp.finish(from: .client, take)
    var writer = PcapngWriter(application: "test")
    let interface = writer.addInterface(.raw, name: "test", description: "")
    for (index, packet) in packets.enumerated().dropFirst(cut) {
      let time = Timestamp(nanoseconds: Int64(index) * 1_000_000_000)
      writer.addPacket(on: interface, at: time, comments: [], packet.span.bytes, RawSpan())
    }
    let closings = try Conversions.events(writer.bytes).compactMap { event -> ConnectionClosing? in
      if case .closed(let closing) = event.body { closing } else { nil }
    }
    let closing = try #require(closings.first)
    #expect(closings.count == 1 && closing.isLate == (vantage == .nowhere))
    #expect(closing.clientSilence == (vantage == .nowhere ? 0 : nil))
    #expect((closing.clientRest == nil) == (vantage != .nowhere))
    #expect((closing.serverRest == nil) == (vantage == .everywhere))
  }

  /// What the other end says behind a FIN stands behind it in the packets, as it did.
  @Test(arguments: Peer.allCases)
  func `an end that the other one goes on behind has its place`(_ sender: Peer) throws {
    func event(_ sender: Peer, _ body: Event.Body, at seconds: Int64) -> Event {
      Event(
        EventContext(
          time: Timestamp(nanoseconds: seconds * 1_000_000_000), frame: 1, connection: 1,
          sender: sender, wire: .mqtt(.v3_1_1)), body)
    }
    let connect = PacketBytes([0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x61])
    let last = PacketBytes(sender == .client ? [0xd0, 0] : [0xc0, 0])
    let events = [
      event(
        .client,
        .opened(
          ConnectionOpening(
            client: "127.0.0.1:40000", server: "127.0.0.1:1883", isFromStart: true, firstFrame: 1,
            firstTime: Timestamp(nanoseconds: 0))), at: 1),
      event(.client, .mqtt(connect), at: 1),
      event(.server, .mqtt(PacketBytes([0x20, 2, 0, 0])), at: 2),
      event(sender, .mqtt(PacketBytes(sender == .client ? [0xc0, 0] : [0xd0, 0])), at: 3),
      event(sender.other, .mqtt(last), at: 5),
      event(
        sender,
        .closed(
          ConnectionClosing(
            how: .fin, firstFrame: 1, firstTime: Timestamp(nanoseconds: 4_000_000_000))), at: 6),
    ]
    let made = Conversions.packets(of: events)
    #expect(byConnection(try Conversions.events(made.bytes)) == byConnection(events))
    let file = try TemporaryCapture(made.bytes)
    let ends = try Tshark.lines(
      file.path, ["-Y", "tcp.flags.fin==1"], fields: ["frame.time_relative"])
    #expect(ends.map { Double($0) } == [4, 6])
    let times = try Tshark.lines(file.path, [], fields: ["frame.time_relative"]).map {
      Double($0) ?? -1
    }
    #expect(times == times.sorted())
  }

  @Test func `what a recording does not have is missing in the packets`() throws {
    let open = ConnectionOpening(
      client: "10.0.0.1:40000", server: "10.0.0.2:1883", isFromStart: true, firstFrame: 1,
      firstTime: Timestamp(nanoseconds: 0))
    func event(_ sender: Peer, _ body: Event.Body) -> Event {
      Event(
        EventContext(
          time: Timestamp(nanoseconds: 1_000), frame: 1, connection: 1, sender: sender,
          wire: .mqtt(.v3_1_1)), body)
    }
    let ping = Event.Body.mqtt(PacketBytes([0xc0, 0]))
    let connect = PacketBytes([0x10, 13, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x61])
    let events = [
      event(.client, .opened(open)), event(.client, .mqtt(connect)),
      event(.server, .mqtt(PacketBytes([0x20, 2, 0, 0]))),
      event(.client, .gap(Gap(bytes: 700, reason: .acknowledged))), event(.client, ping),
      // A loss inside of a packet: told before it, and as what is missing from it.
      event(.server, .gap(Gap(bytes: 95, reason: .acknowledged))),
      event(.server, .mqtt(PacketBytes([0x30, 98, 0, 1, 0x61]))),
      event(.server, .mqtt(PacketBytes([0xd0, 0]))),
      event(
        .client,
        .closed(
          .init(how: .reset, firstFrame: 1, firstTime: Timestamp(nanoseconds: 1_000)))),
    ]
    let made = Conversions.packets(of: events)
    #expect(
      made.losses
        == { () -> SessionPackets.Losses in
          var losses = SessionPackets.Losses()
          losses.gaps = 3
          return losses
        }())
    let again = try Conversions.events(made.bytes)
    #expect(again.map(content).map(\.body) == events.map(content).map(\.body))
  }

  @Test func `a host without an address gets one, and is named`() throws {
    let open = ConnectionOpening(
      client: "", server: "broker.example.com:8883", isFromStart: true, firstFrame: 1,
      firstTime: Timestamp(nanoseconds: 0))
    let context = EventContext(
      time: Timestamp(nanoseconds: 0), frame: 1, connection: 1, sender: .client,
      wire: .mqtt(.v5_0))
    let connect: [UInt8] = [
      0x10, 14, 0, 4, 0x4d, 0x51, 0x54, 0x54, 5, 2, 0, 60, 0, 0, 1, 0x61,
    ]
    let made = Conversions.packets(
      of: [Event(context, .opened(open)), Event(context, .mqtt(PacketBytes(connect)))],
      usesKnownPorts: true)
    let file = try TemporaryCapture(made.bytes)
    #expect(
      try Tshark.lines(
        file.path, ["-Y", "frame.number==1 || mqtt"],
        fields: ["ip.src", "ip.dst", "tcp.dstport", "frame.comment", "mqtt.clientid"])
        == [
          "192.0.2.1\t192.0.2.2\t1883\t192.0.2.1 stands for a client whose address is not known,"
            + "192.0.2.2 stands for broker.example.com,the server was 192.0.2.2:8883\t",
          "192.0.2.1\t192.0.2.2\t1883\t\ta",
        ])
  }
}
