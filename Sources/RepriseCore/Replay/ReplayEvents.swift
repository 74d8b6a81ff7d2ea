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
  private var extraction: ReplayExtraction
  private var entries: ReplayEntries
  /// The connections without MQTT, which are replayed when no other is.
  private var frames: FrameExtraction
  private var frameEntries: ReplayEntries
  /// The requests over HTTP, which are replayed when there is no other connection.
  private var requests: RequestExtraction
  private var requestEntries: ReplayEntries

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
    extraction = ReplayExtraction(selection, within: window)
    entries = ReplayEntries(keeping: source == nil ? nil : limit)
    frames = FrameExtraction(selection, within: window)
    frameEntries = entries
    requests = RequestExtraction(selection, within: window)
    requestEntries = entries
  }

  /// Takes the next event of the session.
  public mutating func consume(_ event: borrowing EventView) {
    guard event.context.wire != .http else { return consumeRequest(event) }
    let isKept = !entries.isTooLarge
    entries.add { extraction.take(event, into: &$0, isKept: isKept) }
    guard event.context.wire == .webSocket, extraction.census.isEmpty else { return }
    frameEntries.add { frames.take(event, into: &$0) }
  }

  /// Takes the next event of the session.
  /// - Parameter event: The event.
  public mutating func append(_ event: Event) {
    guard event.context.wire != .http else { return event.withView { consumeRequest($0) } }
    entries.add { extraction.take(event, into: &$0) }
    guard event.context.wire == .webSocket, extraction.census.isEmpty else { return }
    event.withView { view in frameEntries.add { frames.take(view, into: &$0) } }
  }

  private mutating func consumeRequest(_ event: borrowing EventView) {
    guard extraction.census.isEmpty else { return }
    requestEntries.add { requests.take(event, into: &$0) }
  }

  /// Returns the chosen client's part of the session.
  /// - Returns: Its events, one connection after the other.
  /// - Throws: ``DataClientError`` when there is no such client, or more than one.
  func session() throws(DataClientError) -> ReplaySession {
    let census = extraction.census
    guard !census.isEmpty else {
      if let session = try frameSession() { return session }
      if let session = try requestSession() { return session }
      let other = census.isNobody ? frames.notFound ?? requests.notFound : nil
      throw other ?? census.notFound(extraction.selection, isChosen: extraction.isChosen)
    }
    guard !isAmbiguous else { throw census.ambiguity }
    var extraction = extraction
    var entries = entries
    entries.add { extraction.finish(into: &$0) }
    if let connection = extraction.life.unanswered {
      throw DataClientError(
        .unreadable,
        "connection \(connection) has no CONNACK although its client goes on: what the server sent is "
          + "not in the session; capture both directions")
    }
    return session(extraction.life.totals, entries, lastFrame: extraction.lastFrame)
  }

  /// Returns the chosen connections without MQTT; nil when there are none with anything to replay.
  private func frameSession() throws(DataClientError) -> ReplaySession? {
    guard frames.hasContent else { return nil }
    try frames.check()
    var (frames, entries) = (frames, frameEntries)
    entries.add { frames.finish(into: &$0) }
    return session(frames.life.totals, entries, lastFrame: frames.lastFrame)
  }

  /// Returns the requests of the session; nil when there are none.
  private func requestSession() throws(DataClientError) -> ReplaySession? {
    guard requests.hasContent else { return nil }
    try requests.check()
    var (requests, entries) = (requests, requestEntries)
    entries.add { requests.finish(into: &$0) }
    return session(requests.totals, entries, lastFrame: requests.lastFrame)
  }

  private func session(
    _ totals: ReplayLife.Totals, _ entries: ReplayEntries, lastFrame: Int
  ) -> ReplaySession {
    guard entries.isTooLarge, let source else { return ReplaySession(totals, .kept(entries.kept)) }
    let reread = ReplaySession.Reread(
      source: source, selection: extraction.selection, window: window,
      content: totals.content, lastFrame: lastFrame)
    return ReplaySession(totals, .reread(reread))
  }

  /// Whether the events seem to be those of several clients, of which one has to be chosen.
  ///
  /// A connection whose CONNECT was not captured is taken for one of the client that connects when it is over.
  public var isAmbiguous: Bool {
    switch extraction.selection {
    case .only, .client: extraction.census.isAmbiguous
    case .connection: false
    }
  }
}

/// The entries of a session, as long as they are not too many.
private struct ReplayEntries: Sendable {
  private(set) var kept: [ReplayEntry] = []
  /// Whether there were too many, and none is kept any more.
  private(set) var isTooLarge = false
  private let limit: Int?
  /// About how many bytes the entries take.
  private var size = 0

  /// Begins without entries; nil keeps any number of bytes.
  init(keeping limit: Int?) { self.limit = limit }

  /// Adds entries, and gives up keeping them when there are too many.
  @inline(__always)
  mutating func add(_ add: (inout [ReplayEntry]) -> Void) {
    let start = kept.count
    add(&kept)
    guard let limit else { return }
    for entry in kept[min(start, kept.count)...] { size += entry.size }
    guard isTooLarge || size > limit else { return }
    // What was kept so far may be large, and what comes is little and comes often.
    if isTooLarge { kept.removeAll(keepingCapacity: true) } else { kept = [] }
    isTooLarge = true
  }
}
