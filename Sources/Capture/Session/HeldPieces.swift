import RepriseCore
import Wire

/// What came of a connection until it is known what it speaks: the pieces of both sides in the order of
/// their coming, and the bytes of each side in one place.
///
/// A piece is copied once and counted once, however often all of them are looked at.
struct HeldPieces {
  enum Content {
    /// Where the bytes lie among those of their side.
    case bytes(Range<Int>)
    /// So many, though that may not be certain.
    case lost(Int, Gap.Reason, isCounted: Bool)
  }

  struct Piece {
    var side: Side
    var arrival: Arrival
    var content: Content
    /// What the bytes begin with, as far as HTTP is concerned.
    var start: HTTPStart
  }

  /// In the order of their coming.
  private(set) var pieces: [Piece] = []
  private var first = HeldSide()
  private var second = HeldSide()
  private var losses = 0

  var count: Int { pieces.count }
  var isEmpty: Bool { pieces.isEmpty }

  /// How many bytes came from both sides.
  var byteCount: Int { first.bytes.count + second.bytes.count }

  /// Whether nothing is missing between the pieces.
  var isComplete: Bool { losses == 0 }

  /// The memory that the pieces take, in bytes.
  var reserved: Int { pieces.count * 144 + first.room.size + second.room.size }

  /// What came from a side.
  subscript(side: Side) -> HeldSide { side == .first ? first : second }

  /// Keeps bytes.
  mutating func append(_ bytes: RawSpan, from side: Side, _ arrival: Arrival) {
    let range = side == .first ? first.append(bytes) : second.append(bytes)
    pieces.append(
      Piece(side: side, arrival: arrival, content: .bytes(range), start: HTTPStart(bytes)))
  }

  /// Notes a loss.
  mutating func lose(
    _ count: Int, isCounted: Bool = true, _ reason: Gap.Reason, from side: Side,
    _ arrival: Arrival
  ) {
    if side == .first { first.lose(count, reason) } else { second.lose(count, reason) }
    losses += 1
    pieces.append(
      Piece(
        side: side, arrival: arrival, content: .lost(count, reason, isCounted: isCounted),
        start: .no))
  }

  /// Takes out the last piece, whose bytes stay where they are.
  mutating func removeLast() { _ = pieces.popLast() }

  /// Calls a closure with each piece that has bytes.
  func forEachBytes(_ body: (RawSpan, Piece) -> Void) {
    for piece in pieces {
      guard case .bytes(let range) = piece.content else { continue }
      body(self[piece.side].bytes.span.bytes.extracting(range), piece)
    }
  }
}

/// What came from one side.
struct HeldSide {
  /// All bytes, as if nothing were lost between them.
  private(set) var bytes: [UInt8] = []
  /// The room that they have.
  fileprivate private(set) var room = GrownRoom()
  /// The bytes between losses; at least one, which may be empty.
  private(set) var stretches = HeldStretch.none
  /// Why the first bytes that are missing are; nil where none are.
  private(set) var firstLoss: Gap.Reason?
  /// How many bytes are missing.
  private(set) var lost = 0

  /// Whether anything is missing behind the first stretch.
  var isCut: Bool { firstLoss != nil }

  /// Where the bytes before the first loss lie.
  var start: Range<Int> { stretches[0].range }

  fileprivate mutating func append(_ piece: RawSpan) -> Range<Int> {
    let place = bytes.count
    piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
    room.hold(bytes.count)
    let last = stretches.count - 1
    stretches[last].starts.append(place - stretches[last].range.lowerBound)
    stretches[last].range = stretches[last].range.lowerBound..<bytes.count
    return place..<bytes.count
  }

  fileprivate mutating func lose(_ count: Int, _ reason: Gap.Reason) {
    firstLoss = firstLoss ?? reason
    lost += count
    stretches.append(HeldStretch(range: bytes.count..<bytes.count))
  }
}

/// Bytes of a side without a loss between them.
struct HeldStretch {
  /// Where they lie among the bytes of the side.
  var range = 0..<0
  /// Where its pieces start, from its first byte on.
  var starts: [Int] = []

  /// What there is of a side of which nothing came: in one place, because of most connections nothing
  /// is held for long.
  static let none = [HeldStretch()]
}
