import RepriseCore
import Wire

/// What of a connection is not handed on yet, because it is looked for where the next packet of one side starts.
///
/// What the other side sends meanwhile may answer what is looked at: handed on at once, it would stand before it.
final class Backlog {
  enum Content {
    case bytes([UInt8])
    case lost(Int, Gap.Reason)
    /// Lost is nobody knows how much.
    case interrupted
  }

  struct Piece {
    var side: Side
    var arrival: Arrival
    var content: Content
    /// How far the side that is looked at had come by then, in bytes from the start of its stream.
    var position = 0
  }

  /// What waits for the side that is looked at, in the order of its coming.
  private(set) var waiting: [Piece] = []
  /// What is handed on now, the last piece first.
  private var due: [Piece] = []
  private var waitingBytes = 0
  /// Whether what is due is being handed on: what turns out to be due meanwhile is handed on by the same turn.
  var isDraining = false
  /// Whether more waited than is worth it, and the side that is looked at has not come into step since.
  var isGivenUp = false

  /// More than an answer or two is not worth the wait: who looks on live wants to see something.
  private static let mostBytes = 64 << 10
  private static let mostPieces = 256

  /// Whether more waits than is worth it.
  var isOverLimit: Bool { waitingBytes > Self.mostBytes || waiting.count > Self.mostPieces }

  /// The memory that it takes, in bytes.
  var reserved: Int { waitingBytes + waiting.grownSize + due.grownSize }

  /// Keeps a piece.
  func hold(_ piece: Piece) {
    if case .bytes(let bytes) = piece.content { waitingBytes += bytes.count }
    waiting.append(piece)
  }

  /// Makes all that waits due, and before it, between it and behind it what was found of the side that was looked at.
  /// - Parameters:
  ///   - found: The pieces of that side, each with the place where it starts in its stream.
  ///   - next: What follows all of it.
  func release(around found: [Piece], then next: Piece? = nil) {
    var merged: [Piece] = []
    var rest = waiting[...]
    for piece in found {
      while let first = rest.first, first.position <= piece.position {
        merged.append(first)
        rest.removeFirst()
      }
      merged.append(piece)
    }
    merged += rest
    if let next { merged.append(next) }
    due += merged.reversed()
    waiting = []
    waitingBytes = 0
  }

  /// Takes out the next piece that is due.
  func takeDue() -> Piece? { due.popLast() }
}
