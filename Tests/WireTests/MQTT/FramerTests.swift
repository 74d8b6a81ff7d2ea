import TestSupport
import Testing
import Wire

/// One direction of a connection, in pieces of any size.
@Suite struct FramerTests {
  /// What a framer handed out.
  struct Framed: Hashable {
    var bytes: [UInt8]
    var size: Int
    var offset: Int
  }

  static let packets: [[UInt8]] =
    RandomPacket.corpus.map(\.bytes) + [
      hex("30 AC 02 0001 74") + [UInt8](repeating: 7, count: 297), hex("C0 00"),
    ]

  static let stream = Array(packets.joined())

  static let expected: [Framed] = {
    var offset = 0
    return packets.map { packet in
      defer { offset += packet.count }
      return Framed(bytes: packet, size: packet.count, offset: offset)
    }
  }()

  static func frame(_ stream: [UInt8], pieces: [Int], limit: Int = 16 << 20) throws -> [Framed] {
    var framer = MQTTFramer(limit: limit)
    var result: [Framed] = []
    var position = 0
    for size in pieces where position < stream.count {
      let piece = Array(stream[position..<min(stream.count, position + size)])
      try framer.consume(piece.span.bytes) { bytes, header, offset in
        result.append(
          Framed(bytes: Array(copying: bytes), size: header.packetSize, offset: offset))
      }
      position += piece.count
    }
    #expect(framer.isAtBoundary && framer.unitOffset == stream.count)
    return result
  }

  @Test func cutsTheWholeStream() throws {
    #expect(try Self.frame(Self.stream, pieces: [Self.stream.count]) == Self.expected)
  }

  @Test(arguments: [1, 2, 3, 5, 7, 64, 1_000]) func cutsPiecesOfOneSize(_ size: Int) throws {
    let pieces = Array(repeating: size, count: Self.stream.count / size + 1)
    #expect(try Self.frame(Self.stream, pieces: pieces) == Self.expected)
  }

  @Test(arguments: [UInt64](300..<320)) func cutsRandomPieces(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    // Empty pieces are pieces, too.
    let pieces = (0..<Self.stream.count).map { _ in random.int(0...(random.bool() ? 3 : 200)) }
    #expect(
      try Self.frame(Self.stream, pieces: pieces + [Self.stream.count]) == Self.expected)
  }

  @Test func cutsAPairOfPiecesAtEveryPlace() throws {
    let stream = Array(Self.stream.prefix(Self.packets.prefix(40).joined().count))
    for place in 0...stream.count {
      let framed = try Self.frame(stream, pieces: [place, stream.count])
      #expect(framed == Array(Self.expected.prefix(40)))
    }
  }

  @Test func startsAtTheOffsetThatItIsTold() throws {
    var framer = MQTTFramer(offset: 1_000)
    var offsets: [Int] = []
    try framer.consume(hex("C0 00 30 03 0001 74 C0").span.bytes) { _, _, offset in
      offsets.append(offset)
    }
    #expect(offsets == [1_000, 1_002] && framer.unitOffset == 1_007)
  }

  // MARK: Limit

  @Test func keepsNoMoreThanItsLimit() throws {
    let stream = hex("30 14 0001 74") + [UInt8](0..<17) + hex("C0 00")
    // In one piece nothing has to be kept.
    #expect(try Self.frame(stream, pieces: [99], limit: 8).map(\.bytes.count) == [22, 2])
    for size in [1, 2, 3, 10, 21] {
      let framed = try Self.frame(
        stream, pieces: Array(repeating: size, count: 24), limit: 8)
      #expect(framed[0] == Framed(bytes: Array(stream.prefix(8)), size: 22, offset: 0))
      #expect(framed[1] == Framed(bytes: hex("C0 00"), size: 2, offset: 22))
    }
  }

  @Test func keepsAHeaderWhateverTheLimit() throws {
    #expect(MQTTFramer(limit: -1).limit == 5)
    let stream = hex("30 80 80 01") + [UInt8](repeating: 0, count: 16_384) + hex("D0 00")
    let framed = try Self.frame(
      stream, pieces: Array(repeating: 1, count: stream.count), limit: 0)
    #expect(framed.map(\.size) == [16_388, 2] && framed[0].bytes == Array(stream.prefix(5)))
  }

  // MARK: Malformed lengths

  /// A length that does not end, behind a number of good packets, in pieces of every size.
  @Test func refusesALengthThatDoesNotEndWhereverItStands() {
    let bad = hex("30 FF FF FF FF 00 C0 00")
    for good in [0, 1, 5, 30] {
      let before = Array(Self.packets.prefix(good).joined())
      for size in [1, 2, 3, 4, 5, 100_000] {
        var framer = MQTTFramer()
        var count = 0
        var error: MQTTFramingError?
        let stream = before + bad
        for start in stride(from: 0, to: stream.count, by: size) where error == nil {
          let piece = Array(stream[start..<min(stream.count, start + size)])
          do throws(MQTTFramingError) {
            try framer.consume(piece.span.bytes) { _, _, _ in count += 1 }
          } catch let thrown { error = thrown }
        }
        #expect(error == MQTTFramingError(.malformedLength, at: before.count))
        #expect(count == good)
      }
    }
  }

  @Test func goesOnWhereItIsToldTo() throws {
    var framer = MQTTFramer()
    var offsets: [Int] = []
    #expect(throws: MQTTFramingError(.malformedLength, at: 0)) {
      try framer.consume(hex("30 FF FF").span.bytes) { _, _, _ in }
      try framer.consume(hex("FF FF").span.bytes) { _, _, _ in }
    }
    framer.restart(at: 50)
    #expect(framer.isAtBoundary)
    try framer.consume(hex("C0 00").span.bytes) { _, _, offset in offsets.append(offset) }
    #expect(offsets == [50])
  }
}
