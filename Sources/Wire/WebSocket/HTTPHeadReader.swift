/// Cuts the head of an HTTP/1.1 message out of a stream, whatever pieces its bytes come in.
public struct HTTPHeadReader: Sendable {
  /// The most bytes of a head.
  public let limit: Int
  private var kept: [UInt8] = []
  private var room = GrownRoom()

  /// Creates a reader at the start of a message.
  /// - Parameter limit: The most bytes of a head, 64 KiB if not stated.
  public init(limit: Int = 64 << 10) { self.limit = max(0, limit) }

  /// The bytes of the begun head.
  package var byteCount: Int { kept.count }

  /// The memory that the begun head takes, in bytes.
  package var reserved: Int { room.size }

  /// What a piece brought.
  public enum Reading: Sendable, Hashable {
    /// The head goes on in the next piece.
    case needMore
    /// The head ends in this piece, behind so many of its bytes.
    case head(HTTPHead, used: Int)
    /// The head is larger than the limit; the reader is of no use any more.
    case tooLarge
  }

  /// Takes the next piece of the stream.
  public mutating func consume(_ piece: RawSpan) -> Reading {
    // The empty line may begin in the piece before.
    var position = max(0, kept.count - 3)
    let before = kept.count
    kept.append(copying: piece.extracting(first: min(piece.byteCount, limit + 1 - before)))
    room.hold(kept.count)
    while let feed = kept[position...].firstIndex(of: 0x0A) {
      position = feed + 1
      guard let end = Self.emptyLineEnd(kept, behind: feed), end <= limit else { continue }
      defer { (kept, room) = ([], GrownRoom()) }
      return .head(HTTPHead(Array(kept[..<end])), used: max(0, end - before))
    }
    return kept.count > limit ? .tooLarge : .needMore
  }

  /// Where an empty line ends that follows a line feed; with or without a carriage return.
  private static func emptyLineEnd(_ bytes: [UInt8], behind feed: Int) -> Int? {
    guard feed + 1 < bytes.count else { return nil }
    if bytes[feed + 1] == 0x0A { return feed + 2 }
    guard feed + 2 < bytes.count, bytes[feed + 1] == 0x0D, bytes[feed + 2] == 0x0A else {
      return nil
    }
    return feed + 3
  }
}
