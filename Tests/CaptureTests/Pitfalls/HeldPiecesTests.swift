import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// What waits until it is known what it is: looked at again and again, and at a price that grows with
/// its size alone.
@Suite struct HeldPiecesTests {
  private static let arrival = Arrival(frame: 1, time: Timestamp(nanoseconds: 0))

  @Test("Pieces that are added one by one are what they are all at once", arguments: 0..<50)
  func pieces(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    var held = HeldPieces()
    var stretches: [Side: [[[UInt8]]]] = [.first: [[]], .second: [[]]]
    var lost: [Side: Int] = [.first: 0, .second: 0]
    var reasons: [Side: Gap.Reason] = [:]
    for _ in 0..<random.int(0...40) {
      let side: Side = random.int(0...1) == 0 ? .first : .second
      if random.int(0...5) == 0 {
        let reason: Gap.Reason = random.int(0...1) == 0 ? .snaplen : .acknowledged
        held.lose(7, reason, from: side, Self.arrival)
        stretches[side, default: []].append([])
        lost[side, default: 0] += 7
        reasons[side] = reasons[side] ?? reason
      } else {
        let bytes = (0..<random.int(1...9)).map { _ in UInt8(random.int(0...255)) }
        held.append(bytes.span.bytes, from: side, Self.arrival)
        let last = (stretches[side]?.count ?? 1) - 1
        stretches[side]?[last].append(bytes)
      }
    }
    #expect(held.byteCount == stretches.values.joined().joined().joined().count)
    #expect(held.isComplete == (lost[.first] == 0 && lost[.second] == 0))
    for side in [Side.first, .second] {
      let kept = held[side]
      let expected = stretches[side] ?? []
      #expect(
        kept.stretches.map { Array(kept.bytes[$0.range]) } == expected.map { Array($0.joined()) })
      #expect(
        kept.stretches.map(\.starts)
          == expected.map { pieces in pieces.indices.map { pieces[..<$0].joined().count } })
      #expect(Array(kept.bytes[kept.start]) == Array((expected.first ?? []).joined()))
      #expect(kept.lost == lost[side] && kept.firstLoss == reasons[side])
    }
    var told: [Side: [[UInt8]]] = [:]
    held.forEachBytes { bytes, piece in
      told[piece.side, default: []].append([UInt8](copying: bytes))
    }
    for side in [Side.first, .second] {
      #expect(told[side] ?? [] == Array((stretches[side] ?? []).joined()))
    }
  }

  /// Twice the pieces are twice the work, in each of which a large packet may begin.
  @Test("Each piece is looked at once as long as it may begin a packet that is not whole")
  func walks() {
    func walks(_ count: Int) -> Int {
      var stream = StreamResynchronizer<MQTTChain>(offset: 0)
      for _ in 0..<count {
        // PUBLISH of 1 MiB.
        let start: [UInt8] = [0x30, 0x80, 0x80, 0x40, 0, 1, 0x74] + [UInt8](repeating: 0, count: 9)
        stream.take(start.span.bytes, Self.arrival)
        #expect(stream.find(.both, isFinal: false) == nil)
      }
      return stream.walks
    }
    #expect(walks(400) == 400)
    #expect(walks(800) == 800)
  }

  @Test("What becomes whole is looked at again, and so is all when the layout is known")
  func walksAgain() {
    var stream = StreamResynchronizer<MQTTChain>(offset: 0)
    let publish: [UInt8] = [0x30, 12, 0, 1, 0x74] + [UInt8](repeating: 0x78, count: 9)
    let (start, rest) = (Array(publish.prefix(8)), Array(publish.dropFirst(8)))
    stream.take(start.span.bytes, Self.arrival)
    #expect(stream.find(.both, isFinal: false) == nil)
    #expect(stream.find(.both, isFinal: false) == nil)
    #expect(stream.walks == 1)
    #expect(stream.find(.v3, isFinal: false) == nil)
    #expect(stream.walks == 2)
    stream.take(rest.span.bytes, Self.arrival)
    #expect(stream.find(.v3, isFinal: false)?.skipped == 0)
  }

  @Test(
    "Where packets are written in parts, the start of a segment is that of a packet only where more prove it",
    arguments: [
      // AUTH of two bytes, DISCONNECT of 5.0, PUBACK: whole, and byte by byte.
      ([[0xF0, 0]], true), ([[0xF0], [0]], false), ([[0xE0], [0]], false),
      ([[0x40, 2, 0, 9]], true), ([[0x40], [2], [0], [9]], false), ([[0x40, 2], [0, 9]], false),
      ([[0x40, 2], [0, 9], [0x40, 2], [0, 10]], false),
      ([[0x40, 2], [0, 9], [0x40, 2], [0, 10], [0x40, 2], [0, 11]], true),
      // PUBLISH, whose head comes by itself, and one that is too large for a segment.
      ([[0x30, 5], [0, 1, 0x74, 0, 2]], false), ([[0x30, 5, 0, 1, 0x74], [0, 2]], true),
    ] as [([[UInt8]], Bool)])
  func parts(pieces: [[UInt8]], isFound: Bool) {
    var stream = StreamResynchronizer<MQTTChain>(offset: 0)
    var found: Int?
    for piece in pieces {
      stream.take(piece.span.bytes, Self.arrival)
      found = found ?? stream.find(.v5, isFinal: false)?.skipped
    }
    #expect(found == (isFound ? 0 : nil))
  }

  @Test("The same acknowledgement over and over, as a payload may be, begins no packets")
  func periodicAcknowledgements() {
    for (bytes, isFound) in [
      ((0..<256).flatMap { _ in [0x40, 2, 1, 0x30] as [UInt8] }, false),
      ((0..<64).flatMap { [0x40, 2, 1, UInt8($0)] as [UInt8] }, true),
    ] {
      var stream = StreamResynchronizer<MQTTChain>(offset: 0)
      stream.take(bytes.span.bytes, Self.arrival)
      #expect((stream.find(.both, isFinal: true)?.skipped == 0) == isFound)
    }
  }
}
