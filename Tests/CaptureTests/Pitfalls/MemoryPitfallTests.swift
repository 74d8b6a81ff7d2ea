import RepriseCore
import Testing
import Wire
import WireDeflate

/// Pitfall 23: the memory that everything unfinished takes together.
@Suite struct MemoryPitfallTests {
  private static let packet = PacketBuilder.publish("t", 100_000)

  /// Connections that each have sent the first half of a packet, one after the other.
  private static func halves(_ count: Int) -> [Dialogue] {
    (0..<count).map { index in
      var dialogue = Dialogue()
      dialogue.clientPort = UInt16(40_000 + index)
      dialogue.open()
      for turn in Session.all(.v3_1_1).turns.prefix(2) { dialogue.send(turn.sender, turn.bytes) }
      dialogue.send(.client, Array(packet.prefix(50_000)), pieces: 50_000)
      return dialogue
    }
  }

  private static func rest(_ dialogue: Dialogue) -> Dialogue {
    var dialogue = dialogue
    dialogue.segments = []
    dialogue.send(.client, Array(packet.dropFirst(50_000)), pieces: 100_000)
    dialogue.send(.client, PacketBuilder.publish("u", 1))
    return dialogue
  }

  @Test("23: the oldest unfinished packet is given up, told, and the next packet is there")
  func oldestIsGivenUp() {
    let halves = Self.halves(4)
    let segments = (halves + halves.map(Self.rest)).flatMap(\.segments)
    // Room for the halves of three; what is whole is handed on at once.
    let tap = Tap(segments, memory: 170_000)
    let gaps = tap.events.filter { if case .gap = $0.body { true } else { false } }
    #expect(gaps.map(\.context.connection) == [1])
    #expect(tap.gaps == [Gap(bytes: 50_000 - 256, reason: .limit)])
    #expect(tap.surrenders == 1)
    for connection in 1...4 {
      let packets = tap.packets(.client, connection: connection).suffix(2)
      let kept = connection == 1 ? Array(Self.packet.prefix(256)) : Self.packet
      #expect(packets.map(\.bytes) == [kept, PacketBuilder.publish("u", 1)])
      #expect(packets.first?.size == Self.packet.count)
    }
    #expect(tap.reserved == 0)
  }

  @Test("23: a note tells what was given up, and not that the capture lacks it")
  func givingUpIsNoted() throws {
    let halves = Self.halves(4)
    let segments = (halves + halves.map(Self.rest)).flatMap(\.segments)
    #expect(
      try Readout(segments, memory: 170_000).notes == [
        "49744 bytes of TCP streams are more than is kept and were given up, see GAP",
        "1 times a connection gave up what was unfinished: all of it together is more than --memory "
          + "allows",
      ])
  }

  @Test("23: what fits is not touched")
  func everythingFits() {
    let halves = Self.halves(4)
    let segments = (halves + halves.map(Self.rest)).flatMap(\.segments)
    let tap = Tap(segments, memory: 1 << 20)
    #expect(tap.gaps.isEmpty && tap.surrenders == 0 && tap.reserved == 0)
    #expect(tap.packets(.client).count { $0.bytes == Self.packet } == 4)
  }

  @Test("23: who goes on finishing packets is not the oldest")
  func whoMovesOnIsYounger() {
    var first = Self.halves(1)[0]
    let start = first.segments
    // The first connection finishes its packet and begins another behind the second one's.
    let second = Array(Self.halves(2)[1].segments)
    first.segments = []
    first.send(
      .client, Array(Self.packet.dropFirst(50_000)) + Self.packet.prefix(50_000), pieces: 120_000)
    let third = Self.halves(3)[2].segments
    let tap = Tap(start + second + first.segments + third, memory: 140_000)
    let gaps = tap.events.filter {
      if case .gap(let gap) = $0.body { gap.reason == .limit } else { false }
    }
    #expect(gaps.map(\.context.connection) == [2])
  }

  @Test(
    "23: heads of HTTP that never end are given up, and their connections can still be asked on")
  func headsAreGivenUp() {
    var dialogues = (0..<8).map { index in
      var dialogue = WebSocketDialogue()
      dialogue.dialogue.segments = []
      dialogue.dialogue = Dialogue(serverPort: 80)
      dialogue.dialogue.clientPort = UInt16(40_000 + index)
      dialogue.dialogue.open()
      dialogue.send(.client, "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 30_000))
      return dialogue
    }
    let before = dialogues.flatMap(\.dialogue.segments)
    dialogues[0].dialogue.segments = []
    dialogues[0].open()
    dialogues[0].send(.client, [.text("hello")])
    // Two of them fit, beside what eight connections take by themselves.
    let tap = Tap(before + dialogues[0].dialogue.segments, memory: 122_000)
    #expect(tap.surrenders == 6)
    #expect(tap.texts(.client) == ["hello"])
  }

  @Test("23: what inflates is given up, and frames that need it say that they are not readable")
  func inflatersAreGivenUp() {
    var deflater = WebSocketDeflater()
    let text = Array("one two three four".utf8)
    let first = deflater?.deflate(text) ?? []
    // Refers to the first.
    let second = deflater?.deflate(text) ?? []
    let dialogues = (0..<3).map { index in
      var dialogue = WebSocketDialogue()
      dialogue.dialogue = Dialogue(serverPort: 9_001)
      dialogue.dialogue.clientPort = UInt16(40_000 + index)
      dialogue.dialogue.open()
      dialogue.open(extensions: "permessage-deflate")
      dialogue.send(.client, [.init(.text, first, reservedBits: 0b100)])
      return dialogue
    }
    var last = dialogues[0]
    last.dialogue.segments = []
    last.send(.client, [.init(.text, second, reservedBits: 0b100)])
    let segments = dialogues.flatMap(\.dialogue.segments) + last.dialogue.segments
    // Room for two, beside what three connections take by themselves.
    let tap = Tap(segments, memory: 108_000)
    let kept = tap.events.compactMap { event -> WebSocketCompression? in
      event.withView { view in
        if case .webSocket(let frame) = view.body { frame.compression } else { nil }
      }
    }
    #expect(kept == [.inflated, .inflated, .inflated, .kept(.contextLost)])
    // The first for the third, and the second for what the first takes again.
    #expect(tap.surrenders == 2)
  }

  @Test("23: hellos of TLS that never end take no more than everything may take")
  func hellosAreGivenUp() {
    // The header of a record of 16,000 bytes with a ClientHello in it, of which 10,000 come.
    let start: [UInt8] = [0x16, 3, 1, 0x3E, 0x80, 1, 0, 0x3E, 0x7C, 3, 3]
    let hello = start + [UInt8](repeating: 7, count: 10_000)
    let dialogues = (0..<6).map { index in
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.clientPort = UInt16(40_000 + index)
      dialogue.open()
      dialogue.send(.client, hello, pieces: 20_000)
      return dialogue
    }
    let all = Tap(dialogues.flatMap(\.segments), memory: 1 << 20)
    #expect(all.mostReserved == 6 * hello.count)
    let tap = Tap(dialogues.flatMap(\.segments), memory: 50_000)
    #expect(tap.mostReserved == 3 * hello.count && tap.reserved == 0)
    // What is encrypted behind them can't be read then.
    #expect(tap.surrenders == 3 && tap.events.count == 6)
  }
}
