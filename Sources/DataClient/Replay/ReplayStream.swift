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
  private(set) var outlook = ReplayOutlook()

  /// The second walk.
  private struct Scout {
    let reader: ReplayReader
    var next = 0
  }

  init(_ session: ReplaySession) {
    self.session = session
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

  /// Takes the next action, so that the one behind it is the next.
  mutating func takeAction() { outlook.takeAction() }

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

/// What lies ahead of a replay, as far as anybody looked.
struct ReplayOutlook {
  /// An action that was not performed.
  struct Action {
    let number: Int
    let event: Event
    /// The last entry before it that has a time of its own; nil when there is none.
    let lastTimed: Int?
  }

  /// The end of a connection.
  struct End {
    let number: Int
    let connection: Int
    /// Whether the client may have left: it closed the connection, or nobody knows.
    let mayBeOfUser: Bool
  }

  private var actions = ReplayQueue<Action>()
  private var lastTimed: Int?
  private(set) var ends: [End] = []
  /// What is missing of the client.
  private(set) var holes: [(number: Int, event: Event)] = []
  /// How many entries were looked at.
  private(set) var end = 0

  /// The first action that was not taken, as far as anybody looked.
  var nextAction: Action? { actions.first }

  /// Looks at an entry, unless that was done before.
  @inline(__always)
  mutating func note(_ entry: ReplayEntry, at number: Int) {
    guard number >= end else { return }
    end = number + 1
    switch entry.role {
    case .fromServer: lastTimed = number
    case .action:
      actions.append(Action(number: number, event: entry.event, lastTimed: lastTimed))
    case .closing:
      lastTimed = number
      guard case .closed(let closing) = entry.event.body else { return }
      let context = entry.event.context
      ends.append(
        End(
          number: number, connection: context.connection,
          mayBeOfUser: closing.how == .endOfCapture || context.sender == .client))
    case .hole:
      if entry.event.context.sender == .client { holes.append((number, entry.event)) }
    case .nothing: return
    }
  }

  mutating func takeAction() { actions.removeFirst() }

  /// Forgets what stands before a place.
  @inline(__always)
  mutating func forget(before number: Int) {
    while let first = ends.first, first.number < number { ends.removeFirst() }
    while let first = holes.first, first.number < number { holes.removeFirst() }
  }
}
