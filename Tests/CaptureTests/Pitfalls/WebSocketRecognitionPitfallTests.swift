import RepriseCore
import TestSupport
import Testing
import Wire
import WireDeflate

@testable import Capture

/// Pitfall 38: WebSocket without its handshake, and all that only looks like it.
@Suite struct WebSocketRecognitionPitfallTests {
  /// A conversation of JSON, without its handshake.
  private static func middle(
    port: UInt16, turns: Int = 6, _ frame: (Int) -> WebSocketFrame
  ) -> Dialogue {
    var dialogue = WebSocketDialogue(port: port)
    for index in 0..<turns {
      dialogue.send(.client, [frame(index)])
      dialogue.send(.server, [frame(index)])
    }
    dialogue.close()
    dialogue.dialogue.segments.removeFirst(3)
    return dialogue.dialogue
  }

  @Test("38: text of both sides is recognised on any port, by both sides' masks")
  func text() {
    for port: UInt16 in [80, 1_883, 9_001] {
      let dialogue = Self.middle(port: port) { .text("{\"id\":\($0),\"method\":\"tick\"}") }
      let tap = Tap(dialogue)
      #expect(tap.frames(.client).count == 6 && tap.frames(.server).count == 6)
      #expect(tap.openings.first?.isFromStart == false)
      #expect(tap.openings.first?.evidence?.contains("no handshake") == true)
      #expect(tap.openings.first?.client == "10.0.0.1:40000")
      #expect(tap.malformations.isEmpty && tap.webSocketFaults.isEmpty)
    }
  }

  @Test("38: a capture that begins inside a frame finds the next one")
  func insideAFrame() {
    var dialogue = Self.middle(port: 9_001) { .text("{\"id\":\($0),\"method\":\"tick\"}") }
    dialogue.segments[0].payload.removeFirst(9)
    dialogue.segments[0].sequence &+= 9
    let tap = Tap(dialogue)
    #expect(tap.frames(.client).count == 5 && tap.frames(.server).count == 6)
    #expect(tap.malformations.map(\.code) == ["not-websocket"])
  }

  @Test("38: MQTT in the middle of a connection over WebSocket is recognised")
  func mqtt() {
    let session = Session.all(.v5_0)
    var dialogue = WebSocketDialogue()
    for turn in session.turns.dropFirst(4) { dialogue.send(turn.sender, [.binary(turn.bytes)]) }
    dialogue.close()
    dialogue.dialogue.segments.removeFirst(3)
    let tap = dialogue.tap()
    #expect(tap.packets(.client).count == session.packets(.client).count - 2)
    #expect(tap.packets(.server).count == session.packets(.server).count - 2)
    let wires = Set(
      tap.events.compactMap { if case .mqtt = $0.body { $0.context.wire } else { nil } })
    #expect(wires == [.mqttInferred(.v5_0)])
  }

  @Test("38: compressed messages are shown as they are where they refer to what nobody saw")
  func compressed() {
    var client = WebSocketDeflater()
    var server = WebSocketDeflater()
    var dialogue = WebSocketDialogue()
    for index in 0..<8 {
      let text = Array("{\"method\":\"the same words\",\"n\":\(index)}".utf8)
      dialogue.send(
        .client,
        [
          WebSocketFrame(.text, client?.deflate(text) ?? [], reservedBits: 4),
          WebSocketFrame(.ping, [1, 2]),
        ])
      dialogue.send(
        .server,
        [
          WebSocketFrame(.text, server?.deflate(text) ?? [], reservedBits: 4),
          WebSocketFrame(.pong, [1, 2]), .text("and some plain text"),
        ])
    }
    dialogue.dialogue.segments.removeFirst(6)
    let tap = dialogue.tap()
    #expect(tap.openings.count == 1 && tap.webSocketFaults.isEmpty)
    let compressed = tap.frames(.client).filter { $0.header.opcode == .text }
    #expect(compressed.count >= 6)
    #expect(compressed.allSatisfy { $0.keptCompressed == .contextLost })
  }

  @Test("38: on the user's word a port is WebSocket, with or without a handshake")
  func forced() {
    var dialogue = WebSocketDialogue(port: 7_777)
    dialogue.send(.client, [.binary([1, 2, 3])])
    dialogue.send(.server, [.binary([4, 5, 6])])
    dialogue.close()
    #expect(dialogue.tap().events.isEmpty)
    let tap = dialogue.tap(decode: [7_777: .webSocket])
    #expect(tap.types == ["OPEN", "BINARY", "BINARY", "CLOSE"])
    #expect(tap.frames(.client).map(\.payload) == [[1, 2, 3]] && tap.webSocketFaults.isEmpty)
    var whole = WebSocketDialogue(port: 7_777)
    whole.open()
    whole.send(.client, [.text("a")])
    #expect(
      whole.tap(decode: [7_777: .webSocket]).types == [
        "OPEN", "UPGRADE", "UPGRADED", "TEXT", "CLOSE",
      ])
    for rule in [DecodeRule.none, .mqtt(version: nil)] {
      #expect(!whole.tap(decode: [7_777: rule]).types.contains("UPGRADE"))
    }
  }

  // MARK: What is none

  @Test("38: one frame of each side is no proof")
  func tooLittle() {
    for frame in [
      WebSocketFrame.binary([1, 2, 3]), .text("{\"a\":1}"), WebSocketFrame(.ping, [1]),
    ] {
      #expect(Tap(Self.middle(port: 9_001, turns: 1) { _ in frame }).events.isEmpty)
    }
    // Binary frames of a server alone look like any protocol with a length in its second byte.
    var server = Self.middle(port: 9_001, turns: 12) {
      .binary([UInt8]("1234567".utf8.prefix($0 % 7)))
    }
    server.segments.removeAll { $0.sender == .client }
    #expect(Tap(server).events.isEmpty)
  }

  @Test("38: MQTT in the middle of its connection is never taken for WebSocket")
  func plainMQTT() {
    for version in MQTTVersion.allCases {
      let session = Session.all(version)
      for port: UInt16 in [1_883, 9_001, 80] {
        for first in 3..<30 {
          var dialogue = session.dialogue(port: port)
          dialogue.segments.removeFirst(min(first, dialogue.segments.count))
          #expect(Tap(dialogue).frames(.client).isEmpty && Tap(dialogue).frames(.server).isEmpty)
        }
      }
    }
    // A SUBSCRIBE has the first byte of a binary frame, and its length where that has it.
    var subscribes = Session()
    for id in 1...30 {
      subscribes.say(
        .client, .subscribe(packetID: UInt16(id), [.init("a/\(id)", options: 0)], []), .v3_1_1)
      subscribes.say(.server, .suback(packetID: UInt16(id), codes: [0], []), .v3_1_1)
    }
    var dialogue = subscribes.dialogue(port: 9_001)
    dialogue.segments.removeFirst(3)
    let tap = Tap(dialogue)
    #expect(tap.packets(.client).count == 30 && tap.frames(.client).isEmpty)
  }

  /// Messages with a length before them, as many binary protocols have them.
  private static let framings: [(String, @Sendable ([UInt8]) -> [UInt8])] = [
    ("two bytes of length", { [UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }),
    ("type 1 and a length", { [1, UInt8($0.count & 0x7F)] + $0.prefix($0.count & 0x7F) }),
    ("type 2 and a length", { [2, UInt8($0.count & 0x7F)] + $0.prefix($0.count & 0x7F) }),
    ("BER, context 1", { [0x81, UInt8($0.count & 0x7F)] + $0.prefix($0.count & 0x7F) }),
    ("BER, context 2", { [0x82, UInt8($0.count & 0x7F)] + $0.prefix($0.count & 0x7F) }),
    ("four bytes of length", { [0, 0, UInt8($0.count >> 8), UInt8($0.count & 0xFF)] + $0 }),
    ("a length of one byte", { [UInt8($0.count & 0x7F)] + $0.prefix($0.count & 0x7F) }),
  ]

  @Test("38: other binary protocols are not taken for WebSocket", arguments: framings.indices)
  func otherFramings(_ index: Int) {
    var random = SplitMix64(seed: UInt64(index) + 77)
    for round in 0..<200 {
      var dialogue = Dialogue(serverPort: round % 2 == 0 ? 80 : 9_001)
      for _ in 0..<random.int(2...12) {
        for peer in Peer.allCases {
          dialogue.send(peer, Self.framings[index].1(random.bytes(random.int(0...200))))
        }
      }
      #expect(Tap(dialogue).events.isEmpty, "\(Self.framings[index].0) round \(round)")
    }
  }

  @Test("38: random bytes are not taken for WebSocket", arguments: [UInt64](1...12))
  func randomBytes(_ seed: UInt64) {
    var random = SplitMix64(seed: seed &* 1_000)
    for _ in 0..<250 {
      var dialogue = Dialogue(serverPort: 80)
      for _ in 0..<random.int(1...10) {
        dialogue.send(.client, random.bytes(random.int(1...600)), pieces: 200)
        dialogue.send(.server, random.bytes(random.int(1...600)), pieces: 200)
      }
      #expect(Tap(dialogue).events.isEmpty)
    }
  }

  /// Bytes out of the few that begin frames: the worst that chance can do.
  @Test("38: bytes that all could begin frames are hardly ever taken for WebSocket")
  func likelyBytes() {
    var random = SplitMix64(seed: 38)
    let likely: [UInt8] = [0x81, 0x82, 0x88, 0x89, 0x8A, 0x00, 0x01, 0x02, 0x80, 0x83, 0x85]
    var recognised = 0
    for _ in 0..<1_000 {
      var dialogue = Dialogue(serverPort: 80)
      for _ in 0..<6 {
        for peer in Peer.allCases {
          let bytes = (0..<random.int(1...40)).map { _ in likely[random.int(0...likely.count - 1)] }
          dialogue.send(peer, bytes)
        }
      }
      if !Tap(dialogue).events.isEmpty { recognised += 1 }
    }
    #expect(recognised <= 5, "\(recognised) of 1000")
  }

  /// All of a damaged dialogue is read to its end.
  @Test("33, 36: damaged dialogues give events that make sense", arguments: [UInt64](1...30))
  func damaged(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let session = Session.all(.v5_0)
    for _ in 0..<8 {
      var dialogue = WebSocketDialogue(pieces: random.int(1...2_000))
      let isNamed = random.int(0...1) == 0
      dialogue.open(
        subprotocol: isNamed ? "mqtt" : nil,
        extensions: random.int(0...1) == 0 ? "permessage-deflate" : nil)
      for turn in session.turns {
        dialogue.send(turn.sender, [.binary(turn.bytes), WebSocketFrame(.ping, [])])
      }
      dialogue.close()
      var segments = dialogue.dialogue.segments
      for _ in 0..<(1 << random.int(0...5)) {
        let index = random.int(0...segments.count - 1)
        switch random.int(0...4) {
        case 0: segments.remove(at: index)
        case 1: segments.swapAt(index, random.int(0...segments.count - 1))
        case 2: segments[index].wireLength = segments[index].payload.count + random.int(0...70_000)
        default:
          for offset in segments[index].payload.indices where random.int(0...9) == 0 {
            segments[index].payload[offset] = UInt8(truncatingIfNeeded: random.next())
          }
        }
        if segments.count < 8 { break }
      }
      let tap = Tap(segments)
      #expect(tap.openings.count == tap.closings.count)
      #expect(tap.gaps.allSatisfy { $0.bytes > 0 })
      let bytes = segments.reduce(0) { $0 + $1.payload.count }
      #expect(tap.events.count <= 2 * bytes + 4 * segments.count)
      for event in tap.events { _ = try? InspectLine(event) }
    }
  }
}
