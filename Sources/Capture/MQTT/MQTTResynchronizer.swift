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

  /// Where a piece starts among the kept bytes, and what brought it.
  private struct Start {
    var position: Int
    var arrival: Arrival
  }

  /// Where the kept bytes start, in bytes from the start of the stream.
  private(set) var offset: Int
  private var bytes: [UInt8] = []
  private var starts: [Start] = []
  /// The starts of pieces that may still turn out to be packets; one that can't be never will.
  private var candidates: [Int] = []

  /// So much is looked at, at the most; then it is searched byte by byte and given up.
  private static let mostBytes = 64 << 10
  private static let mostPieces = 1_024

  init(offset: Int) { self.offset = offset }

  /// What was found: how many bytes are no packets, and the pieces from the first packet on.
  struct Found {
    var skipped: Int
    var pieces: [Piece]
  }

  /// Takes the next bytes of the stream.
  mutating func take(_ piece: RawSpan, _ arrival: Arrival) {
    guard !piece.isEmpty else { return }
    candidates.append(bytes.count)
    starts.append(Start(position: bytes.count, arrival: arrival))
    piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Looks for a packet.
  /// - Parameters:
  ///   - layouts: The layouts that come into question.
  ///   - isFinal: Whether nothing more will come.
  /// - Returns: What was found, or how many bytes had to be given up; nil to wait for more.
  mutating func find(layouts: MQTTLayouts, isFinal: Bool) -> Found? {
    var open: [Int] = []
    for start in candidates {
      let chain = MQTTChain(bytes.span.bytes, from: start, layouts: layouts)
      if chain.isBroken { continue }
      let isExact = chain.isExact(bytes.span.bytes)
      if chain.weight >= 3 || (chain.weight >= 1 && isExact) { return found(at: start) }
      open.append(start)
    }
    candidates = open
    let isOver = bytes.count > Self.mostBytes || starts.count > Self.mostPieces
    guard isFinal || isOver else { return nil }
    for start in bytes.indices {
      let chain = MQTTChain(bytes.span.bytes, from: start, layouts: layouts)
      if !chain.isBroken, chain.packets >= 3 || (chain.packets == 2 && chain.weight >= 6) {
        return found(at: start)
      }
    }
    return found(at: bytes.count)
  }

  private mutating func found(at place: Int) -> Found {
    var rest: [Piece] = []
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1].position : bytes.count
      guard place < end else { continue }
      let part = bytes[max(place, start.position)..<end]
      rest.append(Piece(arrival: start.arrival, bytes: Array(part)))
    }
    self = MQTTResynchronizer(offset: offset + place)
    return Found(skipped: place, pieces: rest)
  }
}
