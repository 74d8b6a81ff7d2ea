import RepriseCore
import Testing
import Wire

@testable import Capture

/// Pitfall 23: each kind of thing that is unfinished is given up when the memory is used up, and what
/// is missing for it is told.
@Suite struct MemoryKindsTests {
  private static let packet = PacketBuilder.publish("t", 100_000)

  /// How many bytes are told as what can't be cut.
  private static func uncut(_ tap: Tap) -> Int {
    tap.malformations.reduce(0) { $0 + (Int($1.message.prefix { $0 != " " }) ?? 0) }
  }

  @Test(
    "23: a packet in frames of WebSocket is given up, told as one of MQTT, and the next is there")
  func packetsInFrames() {
    var dialogues = (0..<4).map { index in
      var dialogue = WebSocketDialogue(pieces: 60_000)
      dialogue.dialogue = Dialogue(serverPort: 9_001)
      dialogue.dialogue.clientPort = UInt16(40_000 + index)
      dialogue.dialogue.open()
      dialogue.open(subprotocol: "mqtt")
      for turn in Session.all(.v3_1_1).turns.prefix(2) {
        dialogue.send(turn.sender, [.binary(turn.bytes)])
      }
      dialogue.send(.client, [.binary(Array(Self.packet.prefix(50_000)))])
      return dialogue
    }
    let one = Tap(dialogues[0].dialogue.segments).mostReserved
    var segments = dialogues.flatMap(\.dialogue.segments)
    for index in dialogues.indices {
      dialogues[index].dialogue.segments = []
      let rest = Array(Self.packet.dropFirst(50_000))
      dialogues[index].send(.client, [.binary(rest), .binary(PacketBuilder.publish("u", 1))])
      segments += dialogues[index].dialogue.segments
    }
    // Room for three and most of another one.
    let tap = Tap(segments, memory: one * 15 / 4)
    let gaps = tap.events.filter { if case .gap = $0.body { true } else { false } }
    #expect(gaps.map(\.context.connection) == [1] && gaps.map(\.context.over) == [.webSocket])
    #expect(tap.gaps == [Gap(bytes: 50_000 - 256, reason: .limit)])
    #expect(tap.surrenders == 1 && tap.reserved == 0 && tap.malformations.isEmpty)
    for connection in 1...4 {
      let packets = tap.packets(.client, connection: connection).suffix(2)
      let kept = connection == 1 ? Array(Self.packet.prefix(256)) : Self.packet
      #expect(packets.map(\.bytes) == [kept, PacketBuilder.publish("u", 1)])
    }
  }

  @Test("23: bytes behind a loss in which no packet begins are given up, and told as such")
  func searchedBytes() {
    var dialogue = Dialogue()
    dialogue.open()
    for turn in Session.all(.v3_1_1).turns.prefix(2) { dialogue.send(turn.sender, turn.bytes) }
    dialogue.next[.client] = (dialogue.next[.client] ?? 0) &+ 13
    for _ in 0..<40 { dialogue.send(.client, [UInt8](repeating: 0x78, count: 1_000)) }
    dialogue.send(.client, PacketBuilder.publish("u", 1))
    for (memory, pieces) in [(InputOptions.defaultMemory, 1), (30_000, 3)] {
      let tap = Tap(dialogue.segments, memory: memory)
      #expect(tap.gaps == [Gap(bytes: 13, reason: .acknowledged)])
      #expect(tap.malformations.map(\.code) == [String](repeating: "not-mqtt", count: pieces))
      #expect(Self.uncut(tap) == 40_000 && tap.mostReserved <= max(memory, 30_000))
      #expect(tap.packets(.client).last?.bytes == PacketBuilder.publish("u", 1))
      // They are here, if of no use: nothing is missing for it.
      #expect(tap.surrenders == 0 && tap.reserved == 0)
    }
  }

  @Test("23: what a connection in its middle brings is given up before it is known, and told later")
  func heldPieces() {
    var dialogue = Dialogue()
    for _ in 0..<30 { dialogue.send(.client, [UInt8](repeating: 0x78, count: 1_000)) }
    let turns = Session.all(.v3_1_1).turns[2...]
    for turn in turns { dialogue.send(turn.sender, turn.bytes) }
    // The bytes of a side lie in one place, which grows by doubling, and counts as large as it is.
    for (memory, lost) in [(InputOptions.defaultMemory, []), (20_000, [17_000])] {
      let tap = Tap(dialogue.segments, memory: memory)
      #expect(tap.gaps == lost.map { Gap(bytes: $0, reason: .limit) })
      #expect(Self.uncut(tap) + lost.reduce(0, +) == 30_000)
      #expect(tap.surrenders == lost.count && tap.mostReserved <= max(20_000, memory))
      #expect(
        tap.packets(.client).map(\.bytes) == turns.filter { $0.sender == .client }.map(\.bytes))
    }
    // Where there is room for the packets that follow, each byte is told once, wherever and however often it is given up.
    for memory in stride(from: 9_500, to: 50_000, by: 100) {
      let tap = Tap(dialogue.segments, memory: memory)
      let lost = tap.gaps.reduce(0) { $0 + $1.bytes }
      #expect(Self.uncut(tap) + lost == 30_000, "\(memory)")
    }
  }

  @Test("23: a connection that brought more than a packet can have is of no interest any more")
  func heldForTooLong() {
    let piece = [UInt8](repeating: 0x78, count: 60_000)
    // Of the last but one nothing more is given up, and of the last one nothing more is expected.
    for (count, lost, uncut) in [(279, [279], 0), (280, [279], 1), (281, [], 0)] {
      var dialogue = Dialogue()
      for _ in 0..<count { dialogue.send(.client, piece, pieces: piece.count) }
      for turn in Session.all(.v3_1_1).turns[2...] { dialogue.send(turn.sender, turn.bytes) }
      let tap = Tap(dialogue.segments, memory: 20_000)
      #expect(tap.openings.count == lost.count && tap.reserved == 0)
      #expect(tap.gaps == lost.map { Gap(bytes: $0 * piece.count, reason: .limit) })
      #expect(Self.uncut(tap) == uncut * piece.count && tap.surrenders == 279)
      #expect(tap.mostReserved < 70_000)
    }
  }

  @Test("23: frames that a client sends before the answer came are told when they are too many")
  func earlyFrames() {
    let texts = (0..<12).map { String(repeating: "text \($0) ", count: 250) }
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request())
    dialogue.send(.client, texts.map { .text($0) })
    let before = dialogue.dialogue.segments
    dialogue.send(.server, WebSocketDialogue.response())
    dialogue.send(.server, [.text("yes")])
    for memory in [InputOptions.defaultMemory, 20_000] {
      let isGivenUp = memory == 20_000
      let tap = Tap(before, memory: memory)
      #expect(tap.texts(.client) == texts)
      #expect((tap.mostReserved <= 20_000) == isGivenUp && tap.surrenders == 0)
      let whole = Tap(dialogue.dialogue.segments, memory: memory)
      #expect(whole.texts(.client) == texts && whole.texts(.server) == ["yes"])
      // Where nobody waits for the answer any more, it is no frame.
      #expect(whole.types.contains("UPGRADED") == !isGivenUp)
      #expect(whole.malformations.map(\.code) == (isGivenUp ? ["not-websocket"] : []))
    }
  }
}
