import Wire

/// A run of packets or frames from a place in some bytes, as far as it proves something.
protocol StreamChain {
  /// What is known of the units beforehand.
  associatedtype Hint: Equatable

  /// Walks along units.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - start: Where the first would start.
  ///   - hint: What is known of them.
  ///   - isSearch: Whether each byte is tried, so that a walk which proves nothing is to be short.
  init(_ bytes: RawSpan, from start: Int, hint: Hint, isSearch: Bool)

  /// Whether what stands at the end can't be a unit.
  var isBroken: Bool { get }

  /// The number of complete units.
  var units: Int { get }

  /// Where the run ends.
  var end: Int { get }

  /// Whether the run is enough where a unit is likely to start.
  /// - Parameter isExact: Whether it covers all bytes.
  /// - Returns: Whether the place is taken for the start of a unit.
  func proves(isExact: Bool) -> Bool

  /// Whether the run is enough anywhere.
  var provesAnywhere: Bool { get }

  /// Whether the run covers all bytes.
  func isExact(_ bytes: RawSpan) -> Bool

  /// How many bytes there must be before the run may be another one.
  func needed(behind bytes: RawSpan) -> Int
}

/// Finds the next unit in one direction of a connection that is out of step.
///
/// Senders mostly begin a segment with a packet or frame, so the starts of segments are tried first;
/// other places only when more units prove them. Where a sender writes units in parts, segments begin anywhere.
struct StreamResynchronizer<Chain: StreamChain> {
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
  /// The starts of pieces that may still turn out to be units; one that can't be never will.
  private var candidates: [Candidate] = []
  /// What was known of the units when the candidates were looked at.
  private var hint: Chain.Hint?
  /// How often a run was walked along where a piece starts.
  private(set) var walks = 0

  private struct Candidate {
    var start: Int
    /// So many bytes there must be before another look is worth it.
    var needed: Int
  }

  /// So much is looked at, at the most; then it is searched byte by byte and given up.
  private static var mostBytes: Int { 64 << 10 }
  private static var mostPieces: Int { 1_024 }

  init(offset: Int) { self.offset = offset }

  /// Whether nothing is kept.
  var isEmpty: Bool { bytes.isEmpty }

  /// Where the kept bytes end, in bytes from the start of the stream.
  var end: Int { offset + bytes.count }

  /// The memory that the kept bytes take, in bytes.
  var reserved: Int {
    bytes.grownSize + starts.grownSize + candidates.grownSize
  }

  /// What was found: how many bytes are no units, what brought the last of them, and the pieces from the first unit on.
  struct Found {
    var skipped: Int
    var lastSkipped: Arrival?
    var pieces: [Piece]
  }

  /// Takes the next bytes of the stream.
  mutating func take(_ piece: RawSpan, _ arrival: Arrival) {
    guard !piece.isEmpty else { return }
    candidates.append(Candidate(start: bytes.count, needed: 0))
    starts.append(Start(position: bytes.count, arrival: arrival))
    piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Looks for a unit.
  /// - Parameters:
  ///   - hint: What is known of the units.
  ///   - isFinal: Whether nothing more will come.
  /// - Returns: What was found, or how many bytes had to be given up; nil to wait for more.
  mutating func find(_ hint: Chain.Hint, isFinal: Bool) -> Found? {
    if let start = provenStart(hint) { return found(at: start) }
    let isOver = bytes.count > Self.mostBytes || starts.count > Self.mostPieces
    guard isFinal || isOver else { return nil }
    for start in bytes.indices {
      let chain = Chain(bytes.span.bytes, from: start, hint: hint, isSearch: true)
      if !chain.isBroken, chain.provesAnywhere { return found(at: start) }
    }
    return found(at: bytes.count)
  }

  /// Walks along the runs that may be others than at the last look.
  /// - Returns: The start of the first that proves itself.
  private mutating func provenStart(_ hint: Chain.Hint) -> Int? {
    let isSame = self.hint == hint
    self.hint = hint
    var open: [Candidate] = []
    for candidate in candidates {
      guard !isSame || candidate.needed <= bytes.count else {
        open.append(candidate)
        continue
      }
      walks += 1
      let chain = Chain(
        bytes.span.bytes, from: candidate.start, hint: hint, isSearch: false)
      if chain.isBroken { continue }
      if proves(chain, from: candidate.start) { return candidate.start }
      open.append(
        Candidate(start: candidate.start, needed: chain.needed(behind: bytes.span.bytes)))
    }
    candidates = open
    return nil
  }

  /// A first piece of fewer bytes holds no more than the head of most units.
  private static var leastWhole: Int { 4 }

  /// Whether a run is enough where a piece starts: one that has more pieces than units is of a sender that writes them in
  /// parts, and its end shows nothing; nor does its start, where the first piece is hardly more than a head.
  private func proves(_ chain: Chain, from start: Int) -> Bool {
    let (first, behind) = (place(of: start), place(of: chain.end))
    let isInParts = behind - first > chain.units
    let next = first + 1 < starts.count ? starts[first + 1].position : bytes.count
    if isInParts, next - start < Self.leastWhole { return chain.provesAnywhere }
    return chain.proves(isExact: !isInParts && chain.isExact(bytes.span.bytes))
  }

  /// The place of the first piece that starts at a position or behind it.
  private func place(of position: Int) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle].position < position { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func found(at place: Int) -> Found {
    var rest: [Piece] = []
    var lastSkipped: Arrival?
    for (index, start) in starts.enumerated() {
      let end = index + 1 < starts.count ? starts[index + 1].position : bytes.count
      if start.position < place { lastSkipped = start.arrival }
      guard place < end else { continue }
      let part = bytes[max(place, start.position)..<end]
      rest.append(Piece(arrival: start.arrival, bytes: Array(part)))
    }
    self = StreamResynchronizer(offset: offset + place)
    return Found(skipped: place, lastSkipped: lastSkipped, pieces: rest)
  }
}
