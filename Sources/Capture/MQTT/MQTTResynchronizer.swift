import Wire

/// Finds the next packet in one direction of a connection whose packets are out of step.
///
/// Senders mostly begin a segment with a packet, so the starts of segments are tried first; other
/// places only when more packets prove them.
struct MQTTResynchronizer {
  struct Piece {
    var arrival: Arrival
    var bytes: [UInt8]
  }

  /// Where the kept bytes start, in bytes from the start of the stream.
  private(set) var offset: Int
  private var pieces: [Piece] = []
  private var count = 0

  /// So many bytes are looked at, at the most; then the oldest are given up.
  private static let limit = 64 << 10

  init(offset: Int) { self.offset = offset }

  /// What was found: how many bytes are no packets, and the pieces from the first packet on.
  struct Found {
    var skipped: Int
    var pieces: [Piece]
  }

  /// Takes the next bytes of the stream.
  mutating func take(_ bytes: RawSpan, _ arrival: Arrival) {
    pieces.append(Piece(arrival: arrival, bytes: Array(copying: bytes)))
    count += bytes.byteCount
  }

  /// Looks for a packet.
  /// - Parameters:
  ///   - layouts: The layouts that come into question.
  ///   - isFinal: Whether nothing more will come.
  /// - Returns: What was found, or how many bytes had to be given up; nil to wait for more.
  mutating func find(layouts: MQTTLayouts, isFinal: Bool) -> Found? {
    let all = Array(pieces.map(\.bytes).joined())
    let bytes = all.span.bytes
    var start = 0
    for piece in pieces {
      let chain = MQTTChain(bytes, from: start, layouts: layouts)
      let isProof = chain.weight >= 3 || (chain.weight >= 1 && chain.isExact(bytes))
      if !chain.isBroken, isProof { return found(at: start) }
      start += piece.bytes.count
    }
    guard isFinal || count > Self.limit else { return nil }
    for start in 0..<bytes.byteCount {
      let chain = MQTTChain(bytes, from: start, layouts: layouts)
      if !chain.isBroken, chain.packets >= 3 || (chain.packets == 2 && chain.weight >= 6) {
        return found(at: start)
      }
    }
    return found(at: all.count)
  }

  private mutating func found(at start: Int) -> Found {
    var rest: [Piece] = []
    var position = 0
    for piece in pieces {
      let from = Swift.max(0, start - position)
      if from < piece.bytes.count {
        rest.append(Piece(arrival: piece.arrival, bytes: Array(piece.bytes[from...])))
      }
      position += piece.bytes.count
    }
    pieces = []
    offset += start
    count = 0
    return Found(skipped: start, pieces: rest)
  }
}
