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
  private var feed: ReplayFeed?
  private var reading: (any SessionReading)?
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
      do {
        try read(reread, into: &entries)
        return true
      } catch {
        isOver = true
        throw DataClientError(
          .unreadable,
          "the session was read once and can't be read again: \(error); replay a copy that nobody "
            + "changes")
      }
    }
  }

  private func read(_ reread: ReplaySession.Reread, into entries: inout [ReplayEntry]) throws {
    let feed = feed ?? ReplayFeed(reread)
    self.feed = feed
    let reading = try reading ?? reread.source.open { feed.take($0) }
    self.reading = reading
    while feed.isEmpty, !isOver {
      guard !feed.isPast, try reading.advance() else {
        isOver = true
        feed.finish()
        guard feed.isComplete else { throw Changed() }
        break
      }
    }
    feed.hand(to: &entries)
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
