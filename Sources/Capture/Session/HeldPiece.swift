import DataClient

/// A piece of a connection that is kept until it is known what the connection speaks.
struct HeldPiece {
  enum Content {
    case bytes([UInt8])
    case lost(Int, Gap.Reason)
  }

  var side: Side
  var arrival: Arrival
  var content: Content

  /// The memory that the piece takes, in bytes.
  var reserved: Int { 96 + (bytes?.capacity ?? 0) }

  /// The bytes that came; nil for a loss.
  var bytes: [UInt8]? {
    if case .bytes(let bytes) = content { bytes } else { nil }
  }
}

/// Bytes of a side without a loss between them.
struct HeldStretch {
  var bytes: [UInt8] = []
  /// Where its pieces start.
  var starts: [Int] = []
}

extension [HeldPiece] {
  /// How many bytes came from both sides.
  var byteCount: Int { reduce(0) { $0 + ($1.bytes?.count ?? 0) } }

  /// Whether nothing is missing between the pieces.
  var isComplete: Bool { allSatisfy { $0.bytes != nil } }

  /// The bytes of a side up to its first loss, and whether there is one.
  func start(of side: Side) -> (bytes: [UInt8], isCut: Bool) {
    var result: [UInt8] = []
    for piece in self where piece.side == side {
      guard let bytes = piece.bytes else { return (result, true) }
      result += bytes
    }
    return (result, false)
  }

  /// The bytes of a side between its losses.
  func stretches(of side: Side) -> [HeldStretch] {
    var result = [HeldStretch()]
    for piece in self where piece.side == side {
      guard let bytes = piece.bytes else {
        result.append(HeldStretch())
        continue
      }
      result[result.count - 1].starts.append(result[result.count - 1].bytes.count)
      result[result.count - 1].bytes += bytes
    }
    return result
  }
}
