/// The entries of a session as a replay goes through them: read when they are needed, and forgotten behind it.
///
/// Entries have numbers from 0. Two places are of interest: the entry that is handed out next, and the next action,
/// which may be far ahead of it when a user is. A look ahead keeps what lies between the two as long as that is
/// little; beyond, a second walk through the session looks for the action alone.
struct ReplayStream {
  /// How many entries, and about how many bytes of them, are kept to look ahead.
  private static let limit = (entries: 1_024, bytes: 4 << 20)

  private let session: ReplaySession
  private let reader: ReplayReader
  private var entries = ReplayQueue<ReplayEntry>()
  private var bytes = 0
  /// What was read last, kept for its memory.
  private var piece: [ReplayEntry] = []
  private var scout: Scout?
  private(set) var outlook: ReplayOutlook

  /// The second walk.
  private struct Scout {
    let reader: ReplayReader
    var next = 0
  }

  /// Begins before the first entry.
  /// - Parameters:
  ///   - session: The session.
  ///   - base: The path of the URL that requests are sent to; nil takes what the session tells.
  init(_ session: ReplaySession, below base: String? = nil) {
    self.session = session
    outlook = ReplayOutlook(requestBase: base ?? session.totals.requestBase ?? "")
    reader = ReplayReader(session)
  }

  /// What the session is in all.
  var totals: ReplayLife.Totals { session.totals }

  /// Returns an entry that is not forgotten; nil behind the end.
  @inline(__always)
  mutating func entry(at number: Int) throws(DataClientError) -> ReplayEntry? {
    while number >= entries.end {
      guard try load() else { return nil }
    }
    return entries[number]
  }

  /// Forgets what stands before a place.
  mutating func forget(before number: Int) {
    while entries.start < number, let first = entries.first {
      bytes -= first.size
      entries.removeFirst()
    }
    outlook.forget(before: number)
  }

  /// Returns the first action that was not taken; nil when there is none.
  mutating func nextAction() throws(DataClientError) -> ReplayOutlook.Action? {
    while outlook.nextAction == nil {
      guard try lookFurther() else { return nil }
    }
    return outlook.nextAction
  }

  /// Returns the first action from a place on that was not taken and may come instead of the next one, as far as its
  /// place tells.
  /// - Parameters:
  ///   - index: Which of the session's actions, from 0, behind the next one.
  ///   - first: The next action.
  /// - Returns: The action; nil when it and all behind it can only be made after the next one, or there is none.
  /// - Throws: ``DataClientError`` when the session can't be read again.
  mutating func action(
    from index: Int, insteadOf first: ReplayOutlook.Action
  ) throws(DataClientError) -> ReplayOutlook.Action? {
    var index = outlook.untaken(from: index)
    while index >= outlook.actions.end {
      guard !outlook.separates(first), try lookFurther() else { return nil }
      index = outlook.untaken(from: index)
    }
    guard let action = outlook.actions[index], action.precedence.barrier < first.number else {
      return nil
    }
    return action
  }

  /// Returns an action, whatever stands before it; nil when there is none.
  /// - Parameter index: Which of the session's actions, from 0.
  /// - Returns: The action.
  /// - Throws: ``DataClientError`` when the session can't be read again.
  mutating func action(at index: Int) throws(DataClientError) -> ReplayOutlook.Action? {
    while index >= outlook.actions.end {
      guard try lookFurther() else { return nil }
    }
    return outlook.actions[index]
  }

  /// Decodes an action that was found, with the topics that aliases stand for.
  mutating func recorded(at index: Int) -> RecordedAction? { outlook.recorded(at: index) }

  /// Takes an action out of those that are expected.
  mutating func takeAction(at index: Int) { outlook.takeAction(at: index) }

  /// Reads the next entries.
  private mutating func load() throws(DataClientError) -> Bool {
    piece.removeAll(keepingCapacity: true)
    guard try reader.read(into: &piece) else { return false }
    var number = entries.end
    for entry in piece {
      outlook.note(entry, at: number)
      bytes += entry.size
      number += 1
    }
    entries.append(contentsOf: piece)
    return true
  }

  /// Looks at the next entries that nobody looked at.
  private mutating func lookFurther() throws(DataClientError) -> Bool {
    let isNear = entries.count < Self.limit.entries && bytes < Self.limit.bytes
    if isNear, outlook.end <= entries.end { return try load() }
    var scout = scout ?? Scout(reader: ReplayReader(session))
    defer { self.scout = scout }
    let end = outlook.end
    while outlook.end == end {
      var piece: [ReplayEntry] = []
      guard try scout.reader.read(into: &piece) else { return false }
      for entry in piece {
        outlook.note(entry, at: scout.next)
        scout.next += 1
      }
    }
    return true
  }

  /// Shows entries from a place on, whatever is done with this stream; what can't be read is not shown.
  /// - Parameters:
  ///   - start: A place that is not forgotten.
  ///   - body: Takes an entry with its number, and returns whether it wants more.
  func scan(from start: Int, _ body: (Int, ReplayEntry) -> Bool) {
    var number = max(start, entries.start)
    while let entry = entries[number] {
      guard body(number, entry) else { return }
      number += 1
    }
    let reader = ReplayReader(session)
    var next = 0
    var piece: [ReplayEntry] = []
    while (try? reader.read(into: &piece)) == true {
      for entry in piece {
        if next >= number, !body(next, entry) { return }
        next += 1
      }
      piece.removeAll(keepingCapacity: true)
    }
  }
}
