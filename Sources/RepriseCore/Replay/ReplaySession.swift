import Synchronization

/// One client's part of a session, which can be walked through as often as one likes.
struct ReplaySession: Sendable {
  /// Where the entries are.
  enum Storage: Sendable {
    /// In memory.
    case kept([ReplayEntry])
    /// In a session that is read again for each walk.
    case reread(Reread)
  }

  /// How to find the entries in a session once more.
  struct Reread: Sendable {
    let source: any SessionSource
    let selection: ReplaySelection
    let window: ReplayWindow
    /// What is replayed.
    let content: ReplayContent
    /// The last frame that belongs to it; what was written behind it since then does not.
    let lastFrame: Int
  }

  let totals: ReplayLife.Totals
  fileprivate let storage: Storage

  init(_ totals: ReplayLife.Totals, _ storage: Storage) {
    self.totals = totals
    self.storage = storage
  }
}

/// One walk through a session's entries, in pieces.
final class ReplayReader {
  /// How many entries that are in memory are handed out together.
  private static let pieceSize = 64

  private let storage: ReplaySession.Storage
  private var next = 0
  private var rereading: ReplayRereading?
  private var isOver = false

  init(_ session: ReplaySession) { storage = session.storage }

  /// Reads the next entries.
  /// - Parameter entries: Where they are added.
  /// - Returns: False when there are no more.
  /// - Throws: ``DataClientError`` when the session can't be read again.
  func read(into entries: inout [ReplayEntry]) throws(DataClientError) -> Bool {
    guard !isOver else { return false }
    switch storage {
    case .kept(let all):
      let end = min(next + Self.pieceSize, all.count)
      entries += all[next..<end]
      next = end
      isOver = next == all.count
      return true
    case .reread(let reread):
      let rereading = rereading ?? ReplayRereading(reread)
      self.rereading = rereading
      let piece = rereading.next()
      isOver = piece.isLast
      if let failure = piece.failure { throw failure }
      if entries.isEmpty { entries = piece.entries } else { entries += piece.entries }
      return true
    }
  }
}

/// A walk through a session that is read again, some pieces ahead of who goes through it.
///
/// Those are read by a task of their own, if one gets to it: where there is a processor for it, a replay takes a quarter
/// less time. What is not there yet is read by who asks for it, who so waits for nobody but a task that is reading.
private final class ReplayRereading: Sendable {
  /// Some entries, the end, or what keeps the session from being read on.
  struct Piece: Sendable {
    var entries: [ReplayEntry] = []
    var isLast = false
    var failure: DataClientError?
  }

  /// How many pieces are read ahead, each of some frames.
  private static let most = 16

  /// What was read and not asked for yet.
  private struct Ahead {
    var pieces = Fifo<Piece>()
    var isAttended = false
    var isOver = false
  }

  private let ahead = Mutex(Ahead())
  /// Taken before the other one, so that pieces come in their order.
  private let walk: Mutex<Walk>

  init(_ reread: ReplaySession.Reread) { walk = Mutex(Walk(reread)) }

  /// Returns the next piece.
  func next() -> Piece {
    let piece =
      take()
      ?? walk.withLock { walk in
        // A task may have been reading it just now.
        if let piece = take() { return piece }
        let piece = walk.read()
        if piece.isLast { ahead.withLock { $0.isOver = true } }
        return piece
      }
    readAhead()
    return piece
  }

  private func take() -> Piece? { ahead.withLock { $0.pieces.popFirst() } }

  /// Has a task read some pieces, when half of them are gone.
  private func readAhead() {
    let isWanted = ahead.withLock { ahead in
      guard !ahead.isAttended, !ahead.isOver, ahead.pieces.count <= Self.most / 2 else {
        return false
      }
      ahead.isAttended = true
      return true
    }
    guard isWanted else { return }
    Task.detached { [self] in
      // Where somebody reads for himself, this task would only wait for him.
      while walk.withLockIfAvailable({ readOne(&$0) }) == true {}
      ahead.withLock { $0.isAttended = false }
    }
  }

  /// Reads one piece ahead.
  /// - Returns: Whether there is room for another one.
  private func readOne(_ walk: inout Walk) -> Bool {
    guard !ahead.withLock({ $0.isOver }) else { return false }
    let piece = walk.read()
    return ahead.withLock { ahead in
      ahead.pieces.append(piece)
      ahead.isOver = piece.isLast
      return !ahead.isOver && ahead.pieces.count < Self.most
    }
  }

  /// The walk itself, for one task at a time.
  private struct Walk {
    private let reread: ReplaySession.Reread
    private let feed: ReplayFeed
    private var reading: (any SessionReading)?

    init(_ reread: ReplaySession.Reread) {
      self.reread = reread
      feed = ReplayFeed(reread)
    }

    mutating func read() -> Piece {
      var piece = Piece()
      do {
        piece.isLast = try !advance()
        feed.hand(to: &piece.entries)
      } catch {
        piece.isLast = true
        piece.failure = DataClientError(
          .unreadable,
          "the session was read once and can't be read again: \(error); replay a copy that nobody "
            + "changes")
      }
      return piece
    }

    /// Reads until there are entries.
    /// - Returns: Whether there may be more.
    private mutating func advance() throws -> Bool {
      let feed = feed
      let reading = try reading ?? reread.source.open { feed.take($0) }
      self.reading = reading
      while feed.isEmpty {
        guard !feed.isPast, try reading.advance() else {
          feed.finish()
          guard feed.isComplete else { throw Changed() }
          return false
        }
      }
      return true
    }
  }

  /// A session that has become shorter since it was read first.
  private struct Changed: Error, CustomStringConvertible {
    let description = "it ends earlier than before"
  }
}

/// Takes the events of a session that is read again.
private final class ReplayFeed {
  /// All that changes, in one place because it is asked for with every event.
  private struct State {
    var entries: [ReplayEntry] = []
    var isPast = false
    var extraction: ReplayExtraction
    /// What is extracted instead, where there is no MQTT.
    var frames: FrameExtraction?
    /// What is extracted instead, where there are requests alone.
    var requests: RequestExtraction?
    let lastFrame: Int

    mutating func take(_ event: borrowing EventView) {
      guard !isPast, event.context.frame <= lastFrame else {
        isPast = true
        return
      }
      if frames != nil {
        frames?.take(event, into: &entries)
      } else if requests != nil {
        requests?.take(event, into: &entries)
      } else if event.context.wire != .http {
        extraction.take(event, into: &entries)
      }
    }

    /// The highest frame that was seen.
    var seenFrame: Int { frames?.lastFrame ?? requests?.lastFrame ?? extraction.lastFrame }

    mutating func finish() {
      if frames != nil {
        frames?.finish(into: &entries)
      } else if requests != nil {
        requests?.finish(into: &entries)
      } else {
        extraction.finish(into: &entries)
      }
    }
  }

  @exclusivity(unchecked) private var state: State

  init(_ reread: ReplaySession.Reread) {
    state = State(
      extraction: ReplayExtraction(reread.selection, within: reread.window),
      frames: reread.content == .frames
        ? FrameExtraction(reread.selection, within: reread.window) : nil,
      requests: reread.content == .requests
        ? RequestExtraction(reread.selection, within: reread.window) : nil,
      lastFrame: reread.lastFrame)
  }

  var isEmpty: Bool { state.entries.isEmpty }

  /// Whether there were events that were not there when the session was read first.
  var isPast: Bool { state.isPast }

  /// Whether everything was there that was there when the session was read first.
  var isComplete: Bool { state.isPast || state.seenFrame == state.lastFrame }

  func take(_ event: borrowing EventView) { state.take(event) }

  func finish() { state.finish() }

  /// Hands over what was taken.
  func hand(to taker: inout [ReplayEntry]) {
    if taker.isEmpty { return swap(&taker, &state.entries) }
    taker += state.entries
    state.entries.removeAll(keepingCapacity: true)
  }
}
