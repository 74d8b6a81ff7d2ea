import RepriseCore
import Testing
import Wire

/// MQTT in the messages of WebSocket: packets and frames have nothing to do with each other.
@Suite struct WebSocketCargoPitfallTests {
  /// The session in frames of up to so many bytes each, which pay no heed to packets; pings in between.
  private static func dialogue(
    _ session: Session, frames size: Int, pieces: Int = 1_460, subprotocol: String? = "mqtt",
    isFragmented: Bool = false
  ) -> WebSocketDialogue {
    var dialogue = WebSocketDialogue(pieces: pieces)
    dialogue.open(subprotocol: subprotocol)
    var turns = session.turns[...]
    while let first = turns.first {
      let run = turns.prefix { $0.sender == first.sender }
      turns = turns.dropFirst(run.count)
      let bytes = run.flatMap(\.bytes)
      var frames: [WebSocketFrame] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        let part = Array(bytes[start..<min(bytes.count, start + size)])
        let isLast = start + size >= bytes.count
        frames.append(
          isFragmented && start > 0
            ? .continuation(part, isFinal: isLast)
            : .binary(part, isFinal: !isFragmented || isLast))
        if frames.count % 3 == 0 {
          frames.append(WebSocketFrame(.ping, [UInt8(frames.count & 0xFF)]))
        }
      }
      dialogue.send(first.sender, frames)
    }
    dialogue.close()
    return dialogue
  }

  private static func check(_ tap: Tap, _ session: Session, _ version: MQTTVersion) {
    for peer in Peer.allCases { #expect(tap.packets(peer) == session.packets(peer)) }
    #expect(tap.malformations.isEmpty && tap.gaps.isEmpty && tap.webSocketFaults.isEmpty)
    #expect(tap.openings.count == 1 && tap.closings == [.fin])
    for event in tap.events {
      if case .mqtt = event.body {
        #expect(event.context.wire == .mqtt(version) && event.context.over == .webSocket)
      } else {
        #expect(event.context.wire == .webSocket && event.context.over == nil)
      }
    }
  }

  @Test("32: packets are cut out of frames of any size", arguments: MQTTVersion.allCases)
  func anyFrames(_ version: MQTTVersion) {
    let session = Session.all(version)
    for size in [1, 2, 3, 7, 125, 126, 1_000, 1 << 20] {
      for isFragmented in [false, true] {
        let dialogue = Self.dialogue(session, frames: size, isFragmented: isFragmented)
        Self.check(dialogue.tap(), session, version)
      }
    }
  }

  @Test("32: MQTT is known by its first packet where no subprotocol names it")
  func withoutSubprotocol() {
    for version in MQTTVersion.allCases {
      let session = Session.all(version)
      for size in [1, 5, 1 << 20] {
        Self.check(
          Self.dialogue(session, frames: size, subprotocol: nil).tap(), session, version)
      }
    }
  }

  @Test("32: what is named otherwise, or does not begin with a CONNECT, is no MQTT")
  func otherCargo() {
    let session = Session.all(.v5_0)
    let named = Self.dialogue(session, frames: 1 << 20, subprotocol: "v12.stomp").tap()
    #expect(named.packets(.client).isEmpty && named.frames(.client).count > 3)
    // A name that begins like it is no proof of it.
    for name in ["mqttv3.1", "MQTT", "mqtt.own"] {
      Self.check(
        Self.dialogue(session, frames: 5, subprotocol: name).tap(), session, .v5_0)
    }
    let payloads = [
      [], [0x10], [0x10, 0x10, 0, 4, 0x4D], [0xFF, 1, 2], Array("{\"a\":1}".utf8),
    ]
    for (payload, name) in payloads.flatMap({ [($0, nil), ($0, "mqtt.own")] }) {
      var dialogue = WebSocketDialogue()
      dialogue.open(subprotocol: name)
      dialogue.send(.client, [.binary(payload)])
      dialogue.send(.server, [.text("no")])
      dialogue.send(.client, [.text("yes")])
      dialogue.close()
      let tap = dialogue.tap()
      #expect(tap.packets(.client).isEmpty && tap.malformations.isEmpty)
      #expect(tap.frames(.client).count == 2 && tap.texts(.server) == ["no"])
      #expect(tap.frames(.client).allSatisfy { $0.cargo == .unknown })
    }
  }

  @Test("33: frames and handshake are cut out of segments of any size")
  func anySegments() {
    let session = Session.all(.v3_1_1)
    for pieces in [1, 2, 3, 5, 64, 1_460, 1 << 16] {
      Self.check(Self.dialogue(session, frames: 300, pieces: pieces).tap(), session, .v3_1_1)
    }
  }

  @Test("36: MQTT in text frames is read, and told")
  func textFrames() {
    var dialogue = WebSocketDialogue()
    dialogue.open(subprotocol: "mqtt")
    let session = Session.all(.v3_1_1)
    for turn in session.turns.prefix(2) {
      dialogue.send(turn.sender, [WebSocketFrame(.text, turn.bytes)])
    }
    let tap = dialogue.tap()
    #expect(tap.packets(.client).count == 1 && tap.packets(.server).count == 1)
    #expect(tap.webSocketFaults == [.textCarriesMQTT, .textCarriesMQTT])
  }

  @Test("32: whoever hides secrets shows no bytes of packets that hold or cut some")
  func concealed() throws {
    var session = Session()
    session.say(
      .client, .connect(.init(clientID: "c", username: "u", password: Array("geheim".utf8))),
      .v3_1_1)
    session.say(.server, .connack(.init()), .v3_1_1)
    session.say(
      .client, .publish(.init(topic: "t", payload: Array("{\"token\":\"geheim\"}".utf8))), .v3_1_1)
    session.say(.client, .publish(.init(topic: "t", payload: Array("21.5".utf8))), .v3_1_1)
    for size in [1, 7, 20, 1 << 20] {
      for event in Self.dialogue(session, frames: size).tap().events {
        var shown: [UInt8] = []
        var writer = EventTextWriter()
        event.withView { view in
          EventJSONWriter().append(view, to: &shown)
          writer.append(view, to: &shown)
        }
        let text = String(decoding: shown, as: UTF8.self)
        #expect(!text.contains("geheim") && !text.contains("Z2VoZWlt"))
        guard size > 20 || !text.contains("BINARY") else { continue }
        let line = try InspectLine(event, showsSecrets: false)
        guard case .webSocket(let frame) = event.body, size > 20 else { continue }
        // What holds no secret is shown.
        let isOpen =
          frame.payload == session.turns[1].bytes || frame.payload == session.turns[3].bytes
        #expect((line.fields["payload"] as? String == "***") == !isOpen)
      }
    }
  }

  @Test(
    "14, 17: what goes on in a message whose start is missing is not shown", arguments: 0...2)
  func lostStart(_ missing: Int) throws {
    var dialogue = WebSocketDialogue()
    dialogue.open()
    dialogue.send(.client, [.text("one")])
    dialogue.send(.client, [.text(#"{"password":"hun"#, isFinal: false)])
    dialogue.send(.client, [.continuation(Array("ter2".utf8), isFinal: false)])
    dialogue.send(.client, [.continuation(Array(#"","n":1}"#.utf8))])
    for _ in 0..<4 {
      for peer in Peer.allCases { dialogue.send(peer, [.text("more text")]) }
    }
    dialogue.send(.client, [.text("a", isFinal: false), .continuation(Array("b".utf8))])
    dialogue.close()
    let start = try #require(
      dialogue.dialogue.segments.indices.filter {
        dialogue.dialogue.segments[$0].sender == .client
          && !dialogue.dialogue.segments[$0].payload.isEmpty
      }.dropFirst(2).first)
    switch missing {
    case 0: break
    case 1: dialogue.dialogue.segments.remove(at: start)
    default: dialogue.dialogue.segments.removeFirst(start + 1)
    }
    let tap = dialogue.tap()
    let shown = tap.frames(.client).map { frame in
      frame.cargo == .concealed ? "***" : String(decoding: frame.payload, as: UTF8.self)
    }
    let first = [["one", #"{"password":"hun"#], ["one"], []][missing]
    let more = [String](repeating: "more text", count: 4)
    #expect(shown == first + ["***", "***"] + more + ["a", "b"])
  }

  // MARK: Losses

  @Test("14, 32: packets go on behind a loss in the frames")
  func losses() {
    let session = Session.all(.v3_1_1)
    let whole = Self.dialogue(session, frames: 1 << 20).tap()
    #expect(whole.gaps.isEmpty)
    let segments = Self.dialogue(session, frames: 1 << 20).dialogue.segments
    var found = 0
    for index in segments.indices where !segments[index].payload.isEmpty {
      var rest = segments
      rest.remove(at: index)
      let tap = Tap(rest)
      let sender = segments[index].sender
      #expect(tap.openings.count == 1 && tap.closings == [.fin], "without \(index)")
      // The other side is not touched, and of this one all packets behind the loss are found.
      if index > 6 {
        #expect(tap.packets(sender.other) == session.packets(sender.other), "without \(index)")
        #expect(tap.gaps.map(\.bytes) == [segments[index].payload.count], "without \(index)")
        found += tap.packets(sender).count - session.packets(sender).count
      }
    }
    // Each loss takes the packet in it with it, and no other.
    #expect(found >= -18 && found < 0, "\(found)")
  }

  @Test("22, 32: a frame that a snaplen cut says what it lacks, and so does its packet")
  func snaplen() {
    let session = Session.all(.v3_1_1)
    var dialogue = Self.dialogue(session, frames: 1 << 20, pieces: 1 << 20).dialogue
    for index in dialogue.segments.indices where dialogue.segments[index].payload.count > 1_000 {
      dialogue.segments[index].wireLength = dialogue.segments[index].payload.count
      dialogue.segments[index].payload = Array(dialogue.segments[index].payload.prefix(60))
    }
    let tap = Tap(dialogue)
    #expect(tap.gaps.isEmpty)
    let cut = tap.events.filter { event in
      event.withView { view in
        switch view.body {
        case .webSocket(let frame): frame.missing > 0
        case .mqtt(let packet): packet.missing > 0
        default: false
        }
      }
    }
    #expect(cut.count == 4)
    #expect(tap.packets(.client).count == session.packets(.client).count)
    #expect(tap.packets(.server).count == session.packets(.server).count)
  }
}
