import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfalls 22 and 23: cut frames, and traffic that would fill the memory.
@Suite struct LimitPitfallTests {
  private static func publish(_ topic: String, _ count: Int) -> [UInt8] {
    let packet = MQTTPacket(
      .publish(.init(topic: topic, payload: Array(repeating: 0x78, count: count))), version: .v3_1_1
    )
    return (try? packet.encoded()) ?? []
  }

  private static func opened(serverPort: UInt16 = 1_883) -> Dialogue {
    var dialogue = Dialogue(serverPort: serverPort)
    dialogue.open()
    for turn in Session.all(.v3_1_1).turns.prefix(4) { dialogue.send(turn.sender, turn.bytes) }
    return dialogue
  }

  /// Cuts the captured bytes of a segment.
  private static func snap(_ dialogue: inout Dialogue, _ index: Int, to captured: Int) {
    let payload = dialogue.segments[index].payload
    dialogue.segments[index].wireLength = payload.count
    dialogue.segments[index].payload = Array(payload.prefix(captured))
  }

  // MARK: Snaplen

  @Test("22: a cut payload says how much is missing, and the next packet is there")
  func cutPayload() {
    var dialogue = Self.opened()
    let first = Self.publish("t", 200)
    dialogue.send(.client, first)
    Self.snap(&dialogue, dialogue.segments.count - 2, to: 50)
    dialogue.send(.client, Self.publish("u", 1))
    let tap = Tap(dialogue)
    #expect(
      tap.packets(.client).suffix(2) == [
        PacketBytes(Array(first.prefix(50))), PacketBytes(Self.publish("u", 1)),
      ])
    #expect(tap.gaps.isEmpty && tap.malformations.isEmpty)
  }

  @Test("22: packets that a snaplen cut off with the end of a segment are told", arguments: 1...9)
  func cutPackets(_ captured: Int) {
    var dialogue = Self.opened()
    // Three packets in one segment; the cut falls into the first or right behind it.
    let packets = [Self.publish("t", 3), Self.publish("u", 30), Self.publish("v", 7)]
    dialogue.send(.client, Array(packets.joined()))
    Self.snap(&dialogue, dialogue.segments.count - 2, to: captured)
    dialogue.send(.client, Self.publish("w", 5))
    let tap = Tap(dialogue)
    let told = tap.gaps.reduce(0) { $0 + $1.bytes }
    let shown = tap.packets(.client).suffix(from: 2).reduce(0) { $0 + $1.size }
    let total = packets.reduce(0) { $0 + $1.count } + Self.publish("w", 5).count
    // Every byte is in a packet, in a gap, or part of a header whose packet is in the gap.
    #expect(told + shown + (captured == 1 || captured == 9 ? captured % 8 : 0) == total)
    #expect(tap.gaps.map(\.reason) == [.snaplen])
    #expect(tap.packets(.client).last == PacketBytes(Self.publish("w", 5)))
  }

  @Test("22: frames cut in a real capture", .capturesOfOthers)
  func cutForReal() throws {
    let path = SharedCaptures.path("made-here/g10_snaplen120.pcap")
    let (events, summary) = try EventList.events(of: path)
    let cut = events.filter { event in
      if case .mqtt(let packet) = event.body { packet.bytes.count < packet.size } else { false }
    }
    #expect(!cut.isEmpty)
    #expect(summary.notes.contains { $0.contains("snapshot length") })
    #expect(!events.contains { if case .malformed = $0.body { true } else { false } })
  }

  // MARK: Floods

  @Test("23: a hundred thousand half-open connections leave room for one that speaks")
  func synFlood() {
    var segments = Session.all(.v3_1_1).dialogue().segments
    let rest = segments.suffix(from: 20)
    segments.removeLast(segments.count - 20)
    for index in 0..<100_000 {
      segments.append(
        Segment(
          sender: .client, sequence: UInt32(index), flags: .syn,
          clientPort: UInt16(1_024 + index % 50_000), serverPort: UInt16(2_000 + index / 50_000)))
    }
    var limits = TCPLimits()
    limits.flows = 10_000
    let tap = Tap(segments + rest, limits: limits)
    #expect(tap.statistics.evictedFlows > 80_000)
    // The session was the idlest of all, and was given up: that is an end, not a loss.
    #expect(tap.closings.first == .endOfCapture)
    #expect(tap.openings.count <= 2)
  }

  @Test("23: the less memory there is, the fewer connections are known")
  func limitsByMemory() {
    let limits = [0, -1, 4 << 20, 22 << 20, 143 << 20, Int.max].map { TCPLimits(memory: $0) }
    #expect(limits.map(\.flows) == [1_024, 1_024, 2_097, 11_534, 65_536, 65_536])
    #expect(
      limits.map(\.allPendingBytes) == [0, 0, 1 << 19, 11 << 18, 16 << 20, 16 << 20])
  }

  @Test("23: a connection in use outlives a flood of half-open ones")
  func floodBesideASession() {
    var limits = TCPLimits()
    limits.flows = 1_000
    var segments: [Segment] = []
    let session = Session.all(.v3_1_1)
    var port: UInt16 = 1_024
    for segment in session.dialogue(pieces: 100).segments {
      segments.append(segment)
      for _ in 0..<200 {
        port = port == 39_000 ? 1_024 : port + 1
        segments.append(
          Segment(sender: .client, sequence: 1, flags: .syn, clientPort: port, serverPort: 22))
      }
    }
    let tap = Tap(segments, limits: limits)
    #expect(tap.packets(.client) == session.packets(.client))
    #expect(tap.packets(.server) == session.packets(.server))
    #expect(tap.gaps.isEmpty && tap.closings == [.fin])
    #expect(tap.statistics.evictedFlows > 5_000)
  }

  @Test("23: a hole that nothing fills is given up at a limit of bytes or of segments")
  func holeAtALimit() {
    for isBytes in [true, false] {
      var limits = TCPLimits()
      if isBytes { limits.pendingBytes = 500 } else { limits.pendingSegments = 20 }
      var dialogue = Self.opened()
      dialogue.next[.client] = (dialogue.next[.client] ?? 0) &+ 13
      for _ in 0..<60 {
        dialogue.send(.client, Self.publish("t", 20), acknowledged: false)
      }
      let before = dialogue.segments
      // Nothing but the limit tells of the hole.
      let tap = Tap(before, limits: limits)
      #expect(tap.gaps == [Gap(bytes: 13, reason: .limit)])
      #expect(tap.packets(.client).count == 62)
      #expect(tap.malformations.isEmpty)
    }
  }

  @Test("23: a hole that nobody acknowledges is not looked at again before its connection goes on")
  func idleHole() throws {
    var dialogue = Self.opened()
    let hole = (dialogue.next[.client] ?? 0) &+ 13
    dialogue.next[.client] = hole
    dialogue.send(.client, Self.publish("t", 20), acknowledged: false)
    var acknowledged = dialogue
    acknowledged.segments = []
    acknowledged.next[.client] = hole
    acknowledged.add(.server, [])
    var other = Self.opened()
    other.clientPort = 40_001
    for index in other.segments.indices { other.segments[index].clientPort = 40_001 }
    for _ in 0..<1_200 { other.send(.client, [0xC0, 0]) }
    #expect(other.segments.count > 2_400)
    let parts = [other.segments.prefix(1_200), other.segments.dropFirst(1_200)]
    #expect(Tap(dialogue.segments + parts[0].prefix(500)).isWatching)
    let silent = Tap(dialogue.segments + other.segments)
    #expect(!silent.isWatching && silent.gaps == [Gap(bytes: 13, reason: .unfilled)])
    let between = dialogue.segments + parts[0] + acknowledged.segments
    #expect(Tap(between).isWatching)
    let told = Tap(between + parts[1])
    #expect(!told.isWatching && told.gaps == [Gap(bytes: 13, reason: .acknowledged)])
    let place = try #require(told.types.firstIndex(of: "GAP"))
    #expect(told.types.suffix(from: place).contains("PINGREQ"))
  }

  @Test("23: holes of many connections share one limit")
  func holesOfMany() {
    var limits = TCPLimits()
    limits.allPendingBytes = 10_000
    var segments: [Segment] = []
    for port in UInt16(1)...100 {
      var dialogue = Dialogue()
      dialogue.clientPort = port
      dialogue.open()
      dialogue.send(.client, Session.all(.v3_1_1).turns[0].bytes)
      dialogue.next[.client] = (dialogue.next[.client] ?? 0) &+ 1
      dialogue.send(.client, Self.publish("t", 400), acknowledged: false)
      segments += dialogue.segments
    }
    let tap = Tap(segments, limits: limits)
    #expect(tap.gaps.count == 100)
    #expect(tap.gaps.filter { $0.reason == .limit }.count >= 70)
    #expect(tap.packets(.client).count == 200)
  }

  @Test("23: segments scattered far and wide cost neither time nor memory nor a trap")
  func scattered() {
    var random = SplitMix64(seed: 4)
    var dialogue = Self.opened()
    for _ in 0..<5_000 {
      dialogue.segments.append(
        Segment(
          sender: .client, sequence: UInt32(truncatingIfNeeded: random.next()),
          acknowledgment: UInt32(truncatingIfNeeded: random.next()), flags: .push,
          payload: random.bytes(random.int(1...40))))
    }
    let tap = Tap(dialogue)
    #expect(tap.statistics.strayedSegments > 1_000)
    #expect(tap.packets(.client).starts(with: Session.all(.v3_1_1).packets(.client).prefix(2)))
    #expect(tap.events.count < 20_000)
  }

  @Test("23: garbage behind a loss is searched in little time, in pieces of any size")
  func garbageBehindALoss() {
    // Pings without end but for a byte that no packet begins with: every place begins a long run.
    let pings = Array(repeating: [0xC0, 0] as [UInt8], count: 32_000).joined() + [0x0F]
    for size in [1, 1_400] {
      var dialogue = Self.opened()
      dialogue.next[.client] = (dialogue.next[.client] ?? 0) &+ 13
      let garbage = size == 1 ? Array(repeating: 0x3F, count: 20_000) : Array(pings)
      dialogue.send(.client, garbage, pieces: size, acknowledged: false)
      dialogue.send(.client, Self.publish("t", 1))
      let tap = Tap(dialogue)
      #expect(tap.gaps.map(\.bytes).contains(13))
    }
  }
}
