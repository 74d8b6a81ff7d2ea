import TestSupport
import Testing
import Wire

/// One direction of a connection, in pieces of any size.
@Suite struct WebSocketFramerTests {
  static let frames: [WebSocketFrame] = [
    .text("Hello", key: 0x37FA_213D), WebSocketFrame(.ping, [], maskingKey: 0),
    WebSocketFrame(.binary, [UInt8](repeating: 7, count: 300), maskingKey: 0xDEAD_BEEF),
    .text("", isFinal: false), WebSocketFrame(.continuation, Array("abc".utf8)),
    WebSocketFrame(.binary, [UInt8](repeating: 9, count: 70_000), maskingKey: 1),
    WebSocketFrame(.close, [3, 232], maskingKey: 2),
  ]

  static let stream = frames.stream

  private struct Cut: Equatable {
    var bytes: [UInt8]
    var offset: Int
  }

  private static let expected: [Cut] = {
    var offset = 0
    return frames.map { frame in
      let bytes = frame.encoded()
      defer { offset += bytes.count }
      return Cut(bytes: bytes, offset: offset)
    }
  }()

  private static func cut(_ stream: [UInt8], _ places: [Int]) throws -> [Cut] {
    var framer = WebSocketFramer()
    var result: [Cut] = []
    for (start, end) in zip([0] + places, places + [stream.count]) {
      let piece = Array(stream[start..<end])
      try framer.consume(piece.span.bytes) { bytes, _, offset in
        result.append(Cut(bytes: Array(copying: bytes), offset: offset))
      }
    }
    #expect(framer.isAtBoundary && framer.unitOffset == stream.count)
    return result
  }

  @Test(arguments: [1, 2, 3, 5, 13, 1_000, 1 << 20]) func cutsPiecesOfOneSize(_ size: Int) throws {
    let places = Array(stride(from: size, to: Self.stream.count, by: size))
    #expect(try Self.cut(Self.stream, places) == Self.expected)
  }

  @Test func cutsAPairOfPiecesAtEveryPlace() throws {
    let count = Self.frames.prefix(5).map { $0.encoded().count }.reduce(0, +)
    for place in 0...count {
      let cuts = try Self.cut(Array(Self.stream.prefix(count)), [place])
      #expect(cuts == Array(Self.expected.prefix(5)))
    }
  }

  @Test(arguments: [UInt64](1...10)) func cutsRandomPieces(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let places = (0..<200).map { _ in random.int(0...Self.stream.count) }.sorted()
    #expect(try Self.cut(Self.stream, places) == Self.expected)
  }

  // MARK: What can't be cut

  @Test(arguments: ["82 7F 8000000000000000", "82 FF FFFFFFFFFFFFFFFF 01020304"])
  func handsOutAHeaderThatEndsNowhere(_ text: String) {
    let good = WebSocketFrame(.ping, [1]).encoded()
    let stream = good + hex(text) + [1, 2, 3]
    for size in [1, 2, 7, 100] {
      var framer = WebSocketFramer()
      var seen: [[UInt8]] = []
      var error: WebSocketFramingError?
      for start in stride(from: 0, to: stream.count, by: size) where error == nil {
        let piece = Array(stream[start..<min(stream.count, start + size)])
        do throws(WebSocketFramingError) {
          try framer.consume(piece.span.bytes) { bytes, _, _ in seen.append(Array(copying: bytes)) }
        } catch let thrown { error = thrown }
      }
      #expect(error == WebSocketFramingError(.impossibleLength, at: good.count))
      #expect(seen == [good, hex(text)])
      framer.restart(at: 40)
      #expect(framer.isAtBoundary && framer.unitOffset == 40)
    }
  }

  @Test func keepsNoMoreThanItsLimit() throws {
    let bytes = WebSocketFrame(.binary, [UInt8](repeating: 1, count: 200)).encoded()
    var framer = WebSocketFramer(limit: 50)
    #expect(WebSocketFramer(limit: -1).limit == 14)
    var seen: [Int] = []
    for byte in bytes + [0x89, 0] {
      try framer.consume([byte].span.bytes) { bytes, _, _ in seen.append(bytes.byteCount) }
    }
    #expect(seen == [50, 2])
  }

  @Test func waitsForAFrameThatNeverEndsWithoutKeepingIt() throws {
    var framer = WebSocketFramer(limit: 100)
    try framer.consume(hex("82 7F 7FFFFFFFFFFFFF00").span.bytes) { _, _, _ in }
    let piece = [UInt8](repeating: 0, count: 10_000)
    for _ in 0..<100 {
      try framer.consume(piece.span.bytes) { _, _, _ in Issue.record("no frame") }
    }
    var flushed = 0
    framer.flush { bytes, header, _ in
      flushed += 1
      #expect(bytes.byteCount == 100 && header.payloadLength == 0x7FFF_FFFF_FFFF_FF00)
    }
    #expect(flushed == 1 && framer.isAtBoundary)
  }

  // MARK: Losses

  @Test func losesBytesInsideAFrameAndBehindIt() throws {
    let bytes = WebSocketFrame(.binary, [UInt8](0..<100)).encoded()
    for (kept, lost) in [(10, 20), (10, 92), (10, 93), (2, 100), (1, 5), (0, 5)] {
      var framer = WebSocketFramer()
      var seen: [Int] = []
      try framer.consume(Array(bytes.prefix(kept)).span.bytes) { _, _, _ in }
      let loss = framer.lose(lost) { bytes, _, _ in seen.append(bytes.byteCount) }
      switch (kept, lost) {
      case (10, 20):
        #expect(loss == .insideUnit && seen.isEmpty)
        try framer.consume([UInt8](repeating: 0, count: 72).span.bytes) { bytes, _, _ in
          seen.append(bytes.byteCount)
        }
        #expect(seen == [10] && framer.isAtBoundary)
      case (10, 92), (2, 100): #expect(loss == .insideUnit && seen == [kept])
      case (10, 93): #expect(loss == .outOfStep(past: 1) && seen == [10])
      default: #expect(loss == .outOfStep(past: 5) && seen.isEmpty)
      }
    }
  }
}
