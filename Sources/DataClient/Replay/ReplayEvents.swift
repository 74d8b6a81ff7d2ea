import Wire

/// Gathers the events of one client from a session that is being read.
///
/// Only the chosen client's events are kept, so that a large capture of many clients needs little memory; and
/// when the session can be read again, not even those once they are many: then a replay reads it again, as it
/// goes. It takes the events of any reader: `SessionInput.read` of the module Capture, a ``RecordingStream``, or
/// ``append(_:)`` one by one. What is gathered is a ``ReplayDialogue`` to look at and a ``ReplayClient`` to live
/// in:
///
/// ```swift
/// var events = ReplayEvents(of: .client("dev1&a1pk"))
/// var stream = RecordingStream()
/// try stream.consume(bytes.span.bytes, into: &events)
/// try stream.finish(into: &events)
/// let client = try ReplayClient(events)
/// ```
public struct ReplayEvents: EventConsumer, Sendable {
  /// How many bytes are kept of a session that can be read again: 4 MiB.
  public static let defaultLimit = 4 << 20

  private let window: ReplayWindow
  private let source: (any SessionSource)?
  private let limit: Int
  private var extraction: ReplayExtraction
  private var entries: [ReplayEntry] = []
  /// About how many bytes the entries take.
  private var size = 0
  private var isTooLarge = false

  /// Creates an empty collection.
  /// - Parameters:
  ///   - selection: Whose events to keep.
  ///   - window: When they happened; earlier ones only tell whose connection it is.
  ///   - source: The session that the events come from, if it can be read again instead of being kept.
  ///   - limit: How many bytes of a session that can be read again are kept, about; 0 keeps none.
  public init(
    of selection: ReplaySelection = .only, within window: ReplayWindow = ReplayWindow(),
    rereading source: (any SessionSource)? = nil, keeping limit: Int = ReplayEvents.defaultLimit
  ) {
    self.window = window
    self.source = source
    self.limit = limit
    extraction = ReplayExtraction(selection, within: window)
  }

  /// Takes the next event of the session.
  public mutating func consume(_ event: borrowing EventView) {
    let before = entries.count
    extraction.take(event, into: &entries)
    if source != nil { forget(from: before) }
  }

  /// Takes the next event of the session.
  /// - Parameter event: The event.
  public mutating func append(_ event: Event) {
    let before = entries.count
    extraction.take(event, into: &entries)
    if source != nil { forget(from: before) }
  }

  /// Gives up keeping when there is too much.
  private mutating func forget(from start: Int) {
    for entry in entries[min(start, entries.count)...] { size += entry.size }
    guard isTooLarge || size > limit else { return }
    // What was kept so far may be large, and what comes is little and comes often.
    if isTooLarge { entries.removeAll(keepingCapacity: true) } else { entries = [] }
    isTooLarge = true
  }

  /// Returns the chosen client's part of the session.
  /// - Returns: Its events, one connection after the other.
  /// - Throws: ``DataClientError`` when there is no such client, or more than one.
  func session() throws(DataClientError) -> ReplaySession {
    let census = extraction.census
    guard !census.isEmpty else {
      throw census.notFound(extraction.selection, isChosen: extraction.isChosen)
    }
    guard !isAmbiguous else { throw census.ambiguity }
    var extraction = extraction
    var entries = entries
    extraction.finish(into: &entries)
    if let connection = extraction.life.unanswered {
      throw DataClientError(
        .unreadable,
        "connection \(connection) has no CONNACK although its client goes on: what the server sent is "
          + "not in the session; capture both directions")
    }
    guard isTooLarge, let source else {
      return ReplaySession(extraction.life.totals, .kept(entries))
    }
    let reread = ReplaySession.Reread(
      source: source, selection: extraction.selection, window: window,
      lastFrame: extraction.lastFrame)
    return ReplaySession(extraction.life.totals, .reread(reread))
  }

  /// Whether the events seem to be those of several clients, of which one has to be chosen.
  ///
  /// A connection whose CONNECT was not captured is taken for one of the client that connects when it is over.
  public var isAmbiguous: Bool {
    extraction.selection == .only && extraction.census.isAmbiguous
  }
}

extension ReplayEntry {
  /// About how many bytes of memory the entry takes.
  var size: Int {
    guard case .mqtt(let packet) = event.body else { return MemoryLayout<ReplayEntry>.stride }
    return MemoryLayout<ReplayEntry>.stride + 32 + packet.bytes.count
  }
}
