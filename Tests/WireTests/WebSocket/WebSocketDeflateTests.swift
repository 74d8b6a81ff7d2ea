import TestSupport
import Testing
import Wire
import WireDeflate

/// permessage-deflate: the messages of RFC 7692 section 7.2.3, the window, the limits.
@Suite struct WebSocketDeflateTests {
  static let keeps = WebSocketReceiver.Agreement.agreed(keepsContext: true)
  static let forgets = WebSocketReceiver.Agreement.agreed(keepsContext: false)

  /// Frames of a server in hexadecimal, and the text that they make.
  static let vectors = [
    // 7.2.3.1: one compressed block; the same in two fragments.
    "c1 07 f248cdc9c90700", "41 03 f248cd 80 04 c9c90700",
    // 7.2.3.3: a block without compression.
    "c1 0b 000500faff48656c6c6f00",
    // 7.2.3.4: a block that calls itself the last.
    "c1 08 f348cdc9c9070000",
    // 7.2.3.5: two blocks.
    "c1 0d f248050000 00ffffcac9c90700",
  ]

  @Test(arguments: vectors) func agreesWithTheRFC(_ text: String) {
    for agreement in [Self.keeps, Self.forgets, .unknown] {
      for size in [1, 3, .max] {
        let seen = SeenStream(hex(text), pieces: size, deflate: agreement)
        #expect(seen.messages == [.init(isText: true, data: Array("Hello".utf8))])
        #expect(seen.codes.isEmpty)
        #expect(seen.frames.allSatisfy { $0.compression == .inflated })
      }
    }
  }

  /// 7.2.3.2: the second Hello refers to the first one.
  @Test func sharesTheWindowOnlyWhereThatWasAgreedOn() {
    let stream = hex("c1 07 f248cdc9c90700 c1 05 f200110000")
    let kept = SeenStream(stream, deflate: Self.keeps)
    #expect(kept.frames.map(\.text) == ["Hello", "Hello"] && kept.codes.isEmpty)
    let forgotten = SeenStream(stream, deflate: Self.forgets)
    #expect(forgotten.frames.map(\.codes) == [[], [.damagedCompression]])
    #expect(forgotten.frames[1].compression == .kept(.damaged))
    #expect(forgotten.frames[1].data == hex("f200110000"))
  }

  /// The window outlives a block that calls itself the last one.
  @Test func sharesTheWindowBehindALastBlock() {
    let seen = SeenStream(
      hex("c1 08 f348cdc9c9070000 c1 05 f200110000"), deflate: Self.keeps)
    #expect(seen.frames.map(\.text) == ["Hello", "Hello"] && seen.codes.isEmpty)
  }

  @Test func tellsDamageOnceAMessage() {
    let seen = SeenStream(hex("41 02 FFFF 00 02 FFFF 80 01 00 89 00"), deflate: Self.keeps)
    #expect(seen.frames.map(\.codes) == [[.damagedCompression], [], [], []])
    #expect(
      seen.frames.map(\.compression) == [
        .kept(.damaged), .kept(.damaged), .kept(.damaged), .none,
      ])
  }

  @Test func inflatesAFragmentToItsEnd() {
    let packed = Packer().deflate([UInt8](repeating: 7, count: 5_000))
    let seen = SeenStream(
      WebSocketFrame(.binary, packed, isFinal: false, reservedBits: 4).encoded(),
      deflate: Self.keeps)
    #expect(seen.frames.map(\.data.count) == [5_000])
  }

  /// 7.2.3.6: an empty message is one byte.
  @Test func inflatesNothingToNothing() {
    let seen = SeenStream(hex("c1 01 00 c1 00"), deflate: Self.keeps)
    #expect(seen.messages == [.init(isText: true, data: []), .init(isText: true, data: [])])
  }

  @Test func keepsAMessageWithoutCompressionOutOfTheWindow() {
    let stream =
      hex("c1 07 f248cdc9c90700") + WebSocketFrame.text("other words").encoded()
      + hex("c1 05 f200110000")
    let seen = SeenStream(stream, deflate: Self.keeps)
    #expect(seen.frames.map(\.text) == ["Hello", "other words", "Hello"] && seen.codes.isEmpty)
    #expect(seen.frames.map(\.compression) == [.inflated, .none, .inflated])
  }

  @Test func asksForReservedBitsToMeanSomething() {
    let compressed = hex("c1 07 f248cdc9c90700")
    #expect(SeenStream(compressed).codes == [.reservedBits])
    #expect(SeenStream(compressed).frames[0].compression == .none)
    for (text, codes) in [
      ("e1 07 f248cdc9c90700", [WebSocketFault.Code.reservedBits]), ("c9 00", [.reservedBits]),
      ("01 00 c0 00", [.reservedBits]), ("c8 00", [.reservedBits]),
    ] {
      #expect(SeenStream(hex(text), deflate: Self.keeps).codes == codes, "\(text)")
    }
  }

  @Test func judgesTheTextThatWasInflated() throws {
    let deflater = Packer()
    let good = deflater.deflate(Array("Grüße".utf8))
    let bad = deflater.deflate([0x61, 0xC3])
    for size in [1, .max] {
      let seen = SeenStream(
        [
          WebSocketFrame(.text, good, reservedBits: 4), WebSocketFrame(.text, bad, reservedBits: 4),
        ].stream, pieces: size, deflate: Self.keeps)
      #expect(seen.frames.map(\.codes) == [[], [.invalidText]])
    }
  }

  // MARK: There and back

  @Test(arguments: [8, 9, 10, 12, 15], [true, false])
  func inflatesWhatItDeflates(_ bits: Int, _ keeps: Bool) throws {
    let deflater = Packer(windowBits: bits, keepsContext: keeps)
    var random = SplitMix64(seed: UInt64(bits))
    var frames: [WebSocketFrame] = []
    var messages: [WebSocketAssembler.Message] = []
    for round in 0..<60 {
      let words = (0..<random.int(0...300)).map { _ in random.pick(["a", "temp", "21.5", "{}"]) }
      let text = round == 30 ? String(repeating: "0123456789", count: 9_000) : words.joined()
      let message = Array(text.utf8)
      messages.append(.init(isText: false, data: message))
      var rest = deflater.deflate(message)[...]
      var isFirst = true
      repeat {
        let part = rest.prefix(random.int(0...200))
        rest = rest.dropFirst(part.count)
        frames.append(
          WebSocketFrame(
            isFirst ? .binary : .continuation, Array(part), isFinal: rest.isEmpty,
            reservedBits: isFirst ? 4 : 0, maskingKey: UInt32(truncatingIfNeeded: random.next())))
        isFirst = false
      } while !rest.isEmpty
    }
    let seen = SeenStream(
      frames.stream, from: .client, deflate: .agreed(keepsContext: keeps))
    #expect(seen.codes.isEmpty)
    #expect(seen.messages == messages)
  }

  // MARK: Losses and limits

  @Test func tellsWhatItCanNotInflateBehindALoss() throws {
    let deflater = Packer()
    let text = Array("{\"method\":\"publish\"}".utf8)
    let frames = (0..<3).map { _ in
      WebSocketFrame(.text, deflater.deflate(text), reservedBits: 4)
    }
    // From the middle: the second refers to the first, which nobody saw.
    let middle = SeenStream(
      Array(frames.dropFirst()).stream, deflate: .unknown, isFromStart: false)
    #expect(middle.frames.map(\.compression) == Array(repeating: .kept(.contextLost), count: 2))
    #expect(middle.codes.isEmpty)
    // From the start: all is there.
    #expect(
      SeenStream(frames.stream, deflate: .unknown).messages.map(\.data) == [text, text, text])
  }

  @Test func readsOnBehindALossWhereMessagesStandAlone() throws {
    for keeps in [true, false] {
      let deflater = Packer(keepsContext: keeps)
      var receiver = WebSocketReceiver(from: .server, deflate: .agreed(keepsContext: keeps))
      var seen: [SeenFrame] = []
      for round in 0..<4 {
        let bytes = WebSocketFrame(
          .text, deflater.deflate(Array("the same words again".utf8)), reservedBits: 4
        ).encoded()
        guard case .header(let header) = WebSocketFrameHeader.read(bytes.span.bytes) else {
          continue
        }
        // Of the second one the end is missing.
        let kept = round == 1 ? bytes.count - 1 : bytes.count
        receiver.receive(bytes.span.bytes.extracting(first: kept), header) {
          seen.append(SeenFrame($0))
        }
      }
      #expect(seen.flatMap(\.faults).isEmpty)
      #expect(seen[0].text == "the same words again")
      #expect(seen[1].missing == 1)
      let expected: WebSocketCompression = keeps ? .kept(.contextLost) : .inflated
      #expect(seen.suffix(2).map(\.compression) == [expected, expected])
    }
  }

  /// Of a message in fragments one is not whole: what follows it is not inflated from its middle.
  @Test(arguments: [true, false], 0..<3)
  func readsNoFragmentBehindOneThatIsCut(keeps: Bool, cut: Int) throws {
    let deflater = Packer(keepsContext: keeps)
    let bytes = deflater.deflate(Array((0..<200).map { "word \($0 % 7) of \($0)" }.joined().utf8))
    let third = bytes.count / 3
    let parts = [bytes[..<third], bytes[third..<2 * third], bytes[(2 * third)...]]
    let next = deflater.deflate(Array("the next one".utf8))
    let frames =
      parts.enumerated().map { index, part in
        WebSocketFrame(
          index == 0 ? .text : .continuation, Array(part), isFinal: index == 2,
          reservedBits: index == 0 ? 4 : 0)
      } + [WebSocketFrame(.text, next, reservedBits: 4)]
    var receiver = WebSocketReceiver(from: .server, deflate: .agreed(keepsContext: keeps))
    var seen: [SeenFrame] = []
    for (index, frame) in frames.enumerated() {
      let bytes = frame.encoded()
      guard case .header(let header) = WebSocketFrameHeader.read(bytes.span.bytes) else { continue }
      let kept = index == cut ? bytes.count - 20 : bytes.count
      receiver.receive(bytes.span.bytes.extracting(first: kept), header) {
        seen.append(SeenFrame($0))
      }
    }
    #expect(seen.flatMap(\.faults).isEmpty)
    let lost = WebSocketCompression.kept(.contextLost)
    // The next one refers to nothing before it.
    let behind = Array(repeating: lost, count: 2 - cut)
    #expect(seen.suffix(3 - cut).map(\.compression) == behind + [.inflated])
    #expect(seen.last?.text == "the next one")
  }

  @Test func aBombIsAnErrorAndNoGigabyte() throws {
    let deflater = Packer()
    let bomb = deflater.deflate([UInt8](repeating: 0, count: 50 << 20))
    #expect(bomb.count < 60_000)
    let after = deflater.deflate([UInt8](repeating: 0, count: 50))
    let half = bomb.count / 2
    let frames = [
      WebSocketFrame(.binary, Array(bomb[..<half]), isFinal: false, reservedBits: 4),
      WebSocketFrame(.continuation, Array(bomb[half...])),
      WebSocketFrame(.binary, after, reservedBits: 4), WebSocketFrame(.ping, [1]),
    ]
    let seen = SeenStream(frames.stream, deflate: Self.keeps, limit: 1 << 20)
    #expect(
      seen.frames.map(\.compression) == [
        .kept(.tooLarge), .kept(.tooLarge), .kept(.contextLost), .none,
      ])
    #expect(seen.codes.isEmpty)
    #expect(seen.messages.map(\.isComplete) == [false, false])
  }

  @Test func countsTheFragmentsOfAMessageTogether() {
    let deflater = Packer()
    let frames = (0..<3).map { index in
      WebSocketFrame(
        index == 0 ? .binary : .continuation,
        deflater.deflate([UInt8](repeating: 7, count: 400)) + [0, 0, 0xFF, 0xFF],
        isFinal: index == 2, reservedBits: index == 0 ? 4 : 0)
    }
    let seen = SeenStream(frames.stream, deflate: Self.keeps, limit: 1_000)
    #expect(seen.frames.map(\.compression) == [.inflated, .inflated, .kept(.tooLarge)])
  }

  @Test(arguments: [0, 1, 4_096, 100_000]) func inflatesUpToTheLimit(_ limit: Int) throws {
    for excess in [0, 1] {
      let deflater = Packer()
      let message = (0..<(limit + excess)).map { UInt8(truncatingIfNeeded: $0 &* 7 / 3) }
      let frame = WebSocketFrame(.binary, deflater.deflate(message), reservedBits: 4)
      let seen = SeenStream(frame.encoded(), deflate: Self.keeps, limit: limit)
      let expected: WebSocketCompression = excess == 0 ? .inflated : .kept(.tooLarge)
      #expect(seen.frames.map(\.compression) == [expected])
      if excess == 0 { #expect(seen.frames.map(\.data) == [message]) }
    }
  }
}
