import Testing
import Wire
import WireDeflate

/// Frames in their place: fragments, control frames between them, text, the end.
@Suite struct WebSocketReceiverTests {
  static func continuation(_ text: String, isFinal: Bool = true) -> WebSocketFrame {
    WebSocketFrame(.continuation, Array(text.utf8), isFinal: isFinal)
  }

  @Test(arguments: [1, 2, 3, .max]) func putsFragmentsTogether(_ size: Int) {
    let seen = SeenStream(
      [
        .text("Hel", isFinal: false), WebSocketFrame(.ping, [1]),
        Self.continuation("", isFinal: false),
        WebSocketFrame(.pong, [2]), Self.continuation("lo"), WebSocketFrame(.binary, [0xFF]),
        WebSocketFrame(.close, [3, 232]),
      ].stream, pieces: size)
    #expect(seen.codes.isEmpty)
    #expect(seen.frames.count == 7)
    #expect(
      seen.messages == [
        .init(isText: true, data: Array("Hello".utf8)), .init(isText: false, data: [0xFF]),
      ])
  }

  @Test func unmasksWhatAClientSends() {
    let seen = SeenStream(
      [.text("Hel", isFinal: false, key: 0x0102_0304), .text("x", key: 5)].stream, from: .client)
    #expect(seen.frames.map(\.text) == ["Hel", "x"])
  }

  /// Frames of a server, and the faults of each of them.
  static let faults: [(frames: [WebSocketFrame], codes: [[WebSocketFault.Code]])] = [
    ([continuation("a")], [[.continuationOfNothing]]),
    ([.text("a"), continuation("b")], [[], [.continuationOfNothing]]),
    (
      [.text("a", isFinal: false), .text("b", isFinal: false), continuation("c")],
      [[], [.messageInsideMessage], []]
    ),
    ([.text("a", isFinal: false), WebSocketFrame(.binary, [])], [[], [.messageInsideMessage]]),
    // One fault a message is enough to be told of.
    (
      [continuation("a", isFinal: false), continuation("b"), .text("c")],
      [[.continuationOfNothing], [], []]
    ),
    ([continuation("a", isFinal: false), .text("c")], [[.continuationOfNothing], []]),
    (
      [WebSocketFrame(.close, []), .text("a"), WebSocketFrame(.ping, []), continuation("b")],
      [[], [.dataAfterClose], [], [.dataAfterClose, .continuationOfNothing]]
    ),
    ([WebSocketFrame(.text, [], reservedBits: 4)], [[.reservedBits]]),
    ([WebSocketFrame(.binary, [], reservedBits: 1)], [[.reservedBits]]),
    ([WebSocketFrame(.ping, [], reservedBits: 2)], [[.reservedBits]]),
    ([WebSocketFrame(.text, hex("61 FF 62"))], [[.invalidText]]),
    // A character that goes on in the next fragment is whole, one that the message cuts is not.
    (
      [
        WebSocketFrame(.text, hex("C3"), isFinal: false), WebSocketFrame(.ping, [0xFF]),
        WebSocketFrame(.continuation, hex("A4")),
      ], [[], [], []]
    ),
    (
      [WebSocketFrame(.text, hex("C3"), isFinal: false), WebSocketFrame(.continuation, [])],
      [[], [.invalidText]]
    ),
    (
      [WebSocketFrame(.text, hex("FF"), isFinal: false), WebSocketFrame(.continuation, hex("FF"))],
      [[.invalidText], []]
    ),
    ([WebSocketFrame(.binary, hex("FF"))], [[]]),
  ]

  @Test(arguments: faults.indices) func tellsFaultsOfPlace(_ index: Int) {
    let (frames, codes) = Self.faults[index]
    for size in [1, 3, .max] {
      #expect(SeenStream(frames.stream, pieces: size).frames.map(\.codes) == codes)
    }
  }

  @Test func tellsWhereATextGoesWrong() {
    let seen = SeenStream(
      [
        WebSocketFrame(.text, hex("61 62 63 FF"), maskingKey: 7),
        WebSocketFrame(.text, hex("61 C3"), maskingKey: 8),
      ].stream, from: .client)
    #expect(seen.frames.map { $0.faults.map(\.offset) } == [[9], [8]])
  }

  @Test func judgesNoMessageWhoseStartItDidNotSee() {
    let frames = [
      WebSocketFrame(.continuation, hex("FF"), isFinal: false), Self.continuation("b"), .text("c"),
    ]
    #expect(SeenStream(frames.stream, isFromStart: false).codes.isEmpty)
    var receiver = WebSocketReceiver(from: .server)
    var codes: [[WebSocketFault.Code]] = []
    func receive(_ frame: WebSocketFrame, kept: Int = .max) {
      let bytes = frame.encoded()
      receiver.receive(bytes.span.bytes.extracting(first: kept), frame.header) {
        codes.append($0.faults.map(\.code))
      }
    }
    receive(.text("a", isFinal: false))
    receiver.lose()
    receive(WebSocketFrame(.continuation, hex("FF")))
    // A text that lacks its end is not judged, neither there nor in what follows.
    receive(WebSocketFrame(.text, hex("61C3A4"), isFinal: false), kept: 4)
    #expect(receiver.openMessage == .text)
    receive(WebSocketFrame(.continuation, hex("41")))
    #expect(receiver.openMessage == nil)
    #expect(codes == [[], [], [], []])
  }

  @Test func anAssemblerSaysWhatItLacks() {
    var assembler = WebSocketAssembler(limit: 4)
    func take(_ frame: WebSocketFrame) -> WebSocketAssembler.Message? {
      frame.withView(from: .server) { assembler.take($0) }
    }
    #expect(take(.text("12345"))?.isComplete == false)
    #expect(take(.text("1234")) == .init(isText: true, data: Array("1234".utf8)))
    #expect(take(Self.continuation("x")) == nil)
    #expect(take(.text("123", isFinal: false)) == nil)
    #expect(take(Self.continuation("45"))?.data == Array("1234".utf8))
    var cut = WebSocketFrame.text("12")
    cut.payload.removeLast()
    #expect(take(cut)?.isComplete == false)
    var kept = WebSocketFrame.text("12")
    kept.keptCompressed = .contextLost
    #expect(take(kept) == .init(isText: true, data: [], isComplete: false))
    #expect(take(WebSocketFrame(WebSocketOpcode(rawValue: 3), [1])) == nil)
  }
}
