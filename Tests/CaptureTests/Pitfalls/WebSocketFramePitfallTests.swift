import RepriseCore
import Testing
import Wire
import WireDeflate

/// Frames as they come on the wire: fragments, compression, and what breaks the rules.
@Suite struct WebSocketFramePitfallTests {
  @Test("34: control frames between fragments, the longest of them, and a close with a reason")
  func controlFrames() {
    let reason = Array(String(repeating: "ü", count: 61).utf8)
    for pieces in [1, 3, 1_460] {
      var dialogue = WebSocketDialogue(pieces: pieces)
      dialogue.open()
      dialogue.send(
        .client,
        [
          .text("one ", isFinal: false), WebSocketFrame(.ping, [UInt8](repeating: 7, count: 125)),
          .continuation(Array("two ".utf8), isFinal: false), WebSocketFrame(.pong, []),
          .continuation(Array("three".utf8)), WebSocketFrame(.close, [3, 232] + reason),
        ])
      dialogue.send(.server, [WebSocketFrame(.pong, [UInt8](repeating: 7, count: 125))])
      dialogue.send(.server, [WebSocketFrame(.close, [3, 232])])
      dialogue.close()
      let tap = dialogue.tap()
      #expect(
        tap.types == [
          "OPEN", "UPGRADE", "UPGRADED", "TEXT", "PING", "CONTINUATION", "PONG", "CONTINUATION",
          "CLOSE", "PONG", "CLOSE", "CLOSE",
        ])
      #expect(tap.webSocketFaults.isEmpty && tap.closings == [.fin])
      #expect(tap.frames(.client).last?.payload.count == 124)
    }
  }

  @Test("35: each direction has its own window, and a message without compression touches none")
  func compression() {
    for extensions in [
      "permessage-deflate", "permessage-deflate; server_no_context_takeover",
      "permessage-deflate; client_no_context_takeover; server_max_window_bits=10",
    ] {
      var dialogue = WebSocketDialogue()
      let offer = extensions.replacing("; server_max_window_bits=10", with: "")
      dialogue.send(.client, WebSocketDialogue.request(extensions: offer))
      dialogue.send(.server, WebSocketDialogue.response(extensions: extensions))
      var client = WebSocketDeflater(keepsContext: !extensions.contains("client_no"))
      var server = WebSocketDeflater(keepsContext: !extensions.contains("server_no"))
      var texts: [String] = []
      for index in 0..<6 {
        let text = "{\"method\":\"the same words\",\"n\":\(index)}"
        texts.append(text)
        let toServer = client?.deflate(Array(text.utf8)) ?? []
        let toClient = server?.deflate(Array(text.utf8)) ?? []
        // In two fragments, and with a message between that is not compressed.
        dialogue.send(
          .client,
          [
            WebSocketFrame(.text, Array(toServer.prefix(5)), isFinal: false, reservedBits: 4),
            .continuation(Array(toServer.dropFirst(5))), .text("plain"),
          ])
        dialogue.send(.server, [WebSocketFrame(.text, toClient, reservedBits: 4)])
      }
      dialogue.close()
      let tap = dialogue.tap()
      #expect(tap.webSocketFaults.isEmpty, "\(tap.webSocketFaults)")
      #expect(tap.texts(.server) == texts)
      #expect(tap.texts(.client).joined() == texts.map { $0 + "plain" }.joined())
    }
  }

  @Test("14, 35: behind a gap the window is lost for the rest of that direction only")
  func lostContext() {
    for keeps in [true, false] {
      var dialogue = WebSocketDialogue()
      let extensions = "permessage-deflate" + (keeps ? "" : "; server_no_context_takeover")
      dialogue.open(extensions: extensions)
      var client = WebSocketDeflater()
      var server = WebSocketDeflater(keepsContext: keeps)
      for _ in 0..<5 {
        let words = Array("some words that come again and again".utf8)
        dialogue.send(
          .client, [WebSocketFrame(.text, client?.deflate(words) ?? [], reservedBits: 4)])
        dialogue.send(
          .server, [WebSocketFrame(.text, server?.deflate(words) ?? [], reservedBits: 4)])
      }
      dialogue.close()
      let replies = dialogue.dialogue.segments.indices.filter {
        dialogue.dialogue.segments[$0].sender == .server
          && !dialogue.dialogue.segments[$0].payload.isEmpty
      }
      // The second message of the server, behind the handshake and the first.
      dialogue.dialogue.segments.remove(at: replies[2])
      let tap = dialogue.tap()
      #expect(tap.gaps.count == 1 && tap.webSocketFaults.isEmpty)
      #expect(tap.frames(.client).allSatisfy { $0.inflated != nil })
      let kept = tap.frames(.server).map(\.keptCompressed)
      #expect(
        kept == (keeps ? [nil, .contextLost, .contextLost, .contextLost] : [nil, nil, nil, nil]))
    }
  }

  @Test("35: MQTT in compressed messages is read")
  func compressedMQTT() {
    var dialogue = WebSocketDialogue()
    dialogue.open(subprotocol: "mqtt", extensions: "permessage-deflate")
    let session = Session.all(.v5_0)
    var client = WebSocketDeflater()
    var server = WebSocketDeflater()
    for turn in session.turns {
      let packed =
        (turn.sender == .client ? client?.deflate(turn.bytes) : server?.deflate(turn.bytes)) ?? []
      dialogue.send(turn.sender, [WebSocketFrame(.binary, packed, reservedBits: 4)])
    }
    dialogue.close()
    let tap = dialogue.tap()
    for peer in Peer.allCases { #expect(tap.packets(peer) == session.packets(peer)) }
    #expect(tap.faults.isEmpty && tap.webSocketFaults.isEmpty)
  }

  @Test("35: a bomb does not go off")
  func bomb() {
    var dialogue = WebSocketDialogue()
    dialogue.open(extensions: "permessage-deflate")
    var server = WebSocketDeflater()
    let bomb = server?.deflate([UInt8](repeating: 0, count: 40 << 20)) ?? []
    dialogue.send(.server, [WebSocketFrame(.binary, bomb, reservedBits: 4), .text("after")])
    let tap = dialogue.tap()
    #expect(tap.frames(.server).map(\.keptCompressed) == [.tooLarge, nil])
    #expect(tap.texts(.server).last == "after")
  }

  @Test("36: what breaks the rules is shown, with its fault, and the next frame is read")
  func brokenFrames() {
    let cases: [(Peer, String, [WebSocketFault.Code])] = [
      (.client, "81 02 6162", [.unmaskedFromClient]),
      (.client, "81 82 00000000 6162", []),
      (.server, "81 82 37FA213D 569B", [.maskedFromServer]),
      (.server, "82 7E 0002 6162", [.lengthNotShortest]),
      (.server, "82 7F 0000000000000002 6162", [.lengthNotShortest]),
      (.server, "83 02 6162", [.reservedOpcode]), (.server, "8B 02 6162", [.reservedOpcode]),
      (.server, "C1 02 6162", [.reservedBits]), (.server, "91 02 6162", [.reservedBits]),
      (.server, "80 02 6162", [.continuationOfNothing]),
      (.server, "09 02 6162", [.fragmentedControl]),
      (.server, "81 02 FF62", [.invalidText]), (.server, "88 02 03ED", [.invalidCloseCode]),
    ]
    for (sender, hex, codes) in cases {
      for pieces in [1, 1_460] {
        var dialogue = WebSocketDialogue(pieces: pieces)
        dialogue.open()
        let digits = hex.compactMap(\.hexDigitValue)
        let bytes = stride(from: 0, to: digits.count, by: 2).map {
          UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
        dialogue.send(sender, bytes)
        dialogue.send(sender, [WebSocketFrame(.ping, [1])])
        dialogue.close()
        let tap = dialogue.tap()
        #expect(tap.webSocketFaults == codes, "\(hex)")
        #expect(tap.frames(sender).count == 2 && tap.malformations.isEmpty, "\(hex)")
        #expect(tap.frames(sender).first?.encoded() == bytes)
      }
    }
  }

  @Test("36: an impossible length is shown, told, and left behind")
  func impossibleLength() {
    for pieces in [1, 5, 1_460] {
      var dialogue = WebSocketDialogue(pieces: pieces)
      dialogue.open()
      dialogue.send(.server, [.text("before")])
      dialogue.send(.server, [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 1, 9, 9, 9])
      for index in 0..<5 { dialogue.send(.server, [.text("behind \(index)")]) }
      dialogue.send(.client, [.text("other side")])
      dialogue.close()
      let tap = dialogue.tap()
      #expect(tap.webSocketFaults.filter { $0 == .lengthTooLarge }.count == 1)
      #expect(tap.malformations.first?.code == "impossible-frame-length")
      #expect(tap.texts(.server).first == "before" && tap.texts(.server).last == "behind 4")
      #expect(tap.texts(.client) == ["other side"])
    }
  }

  @Test("14, 33: a loss in a frame takes its end, one over frames is followed by the next frame")
  func losses() {
    var dialogue = WebSocketDialogue()
    dialogue.pieces = 100
    dialogue.open()
    dialogue.send(.server, [.binary((0..<1_000).map { UInt8($0 & 0xFF) })])
    dialogue.send(.server, [.text("next")])
    dialogue.close()
    let large = dialogue.dialogue.segments.indices.filter {
      dialogue.dialogue.segments[$0].payload.count == 100
        && dialogue.dialogue.segments[$0].sender == .server
    }
    var middle = dialogue
    middle.dialogue.segments.remove(at: large[5])
    let tap = middle.tap()
    #expect(tap.gaps.map(\.bytes) == [100])
    #expect(tap.texts(.server).last == "next" && tap.malformations.isEmpty)
    let cut = tap.frames(.server).first
    #expect(cut?.header.payloadLength == 1_000 && (1..<1_000).contains(cut?.payload.count ?? 0))
  }

  @Test("23: of a frame that is too large its start is shown, and how much is missing")
  func largeFrame() {
    var dialogue = WebSocketDialogue()
    dialogue.open()
    dialogue.pieces = 1 << 16
    dialogue.send(
      .server, [.binary([UInt8](repeating: 1, count: (16 << 20) + 100)), .text("next")])
    let tap = dialogue.tap()
    #expect(tap.gaps.map(\.reason) == [.limit])
    #expect(tap.frames(.server).first?.payload.count == (16 << 20) - 10)
    #expect(tap.texts(.server).last == "next")
  }

  @Test("4: a stream that ends inside a frame says so")
  func incomplete() {
    for isClosed in [true, false] {
      var dialogue = WebSocketDialogue()
      dialogue.open()
      dialogue.send(.server, Array(WebSocketFrame.binary([1, 2, 3]).encoded().dropLast()))
      if isClosed { dialogue.close() }
      let tap = dialogue.tap()
      #expect(tap.malformations.map(\.code) == (isClosed ? ["incomplete-frame"] : []))
      #expect(tap.gaps.map(\.bytes) == (isClosed ? [] : [1]))
    }
  }

  @Test("4: of a header that the end cuts a reserved opcode is told", arguments: [0x83, 0x81])
  func cutHeader(firstByte: UInt8) {
    for isClosed in [true, false] {
      var dialogue = WebSocketDialogue()
      dialogue.open()
      dialogue.send(.server, [firstByte])
      if isClosed { dialogue.close() }
      let tap = dialogue.tap()
      let isReserved = firstByte == 0x83
      #expect(
        tap.malformations.map(\.code)
          == (isReserved ? ["reserved-opcode"] : isClosed ? ["incomplete-frame"] : []))
      #expect(tap.gaps.map(\.bytes) == (isReserved || isClosed ? [] : [1]))
      guard isReserved else { continue }
      #expect(
        tap.malformations.first?.message
          == "the stream ends inside the header of a frame with the reserved opcode 3 (first byte 0x83)"
      )
    }
  }
}
