/// Something that a session says and that did not happen yet: an action, or what the server sent.
public struct ReplayExpectation: Sendable, Hashable {
  /// Its place in the session.
  public let place: ReplayPlace
  /// The end that is expected to send it.
  public let sender: Peer
  /// The event in one line, with secrets hidden.
  public let summary: String
  /// The recorded event.
  public let event: Event
  /// The kind of action that is expected, with the recorded values; nil for what the server sends.
  public let action: ClientAction.Kind?
  /// Which of the session's actions it is, from 0, as ``ReplayDialogue`` counts them; only an action that
  /// is due has one.
  public let ordinal: Int?

  /// What is left over of a session: an action, or what somebody is told.
  init(_ entry: ReplayEntry) {
    if case .action = entry.role {
      self.init(entry.event)
    } else {
      self.init(told: entry.event)
    }
  }

  /// What somebody is told.
  private init(told event: Event) {
    (ordinal, action) = (nil, nil)
    place = ReplayPlace(event.context)
    sender = event.context.sender
    self.event = event
    summary = Self.summary(of: event)
  }

  init(_ event: Event, ordinal: Int? = nil, recorded: RecordedAction? = nil) {
    self.ordinal = ordinal
    place = ReplayPlace(event.context)
    sender = event.context.sender
    self.event = event
    if case .opened = event.body {
      // A connection that was open before the capture began may be opened anyhow.
      action = .connect(ConnectOptions())
      summary = "CONNECT"
      return
    }
    action = (recorded ?? RecordedAction(event))?.kind
    summary = action?.summary ?? Self.summary(of: event)
  }

  private static func summary(of event: Event) -> String {
    var line: [UInt8] = []
    event.withView { EventJSONWriter().append($0, to: &line) }
    // The place stands elsewhere; what is left is the type and its fields.
    let text = String(decoding: line, as: UTF8.self)
    let start = text.firstRange(ofText: "\"type\":")?.lowerBound ?? text.startIndex
    return String("{\(text[start...])".prefix(400))
  }
}

/// What a user of a replay is at, for whoever tells what it did and why.
public struct ReplayCause: Sendable, Hashable {
  /// The place of the event that was handed out last; after a deadline or a wake, and at first, that of the
  /// first action that was performed since, nil as long as there is none.
  public var place: ReplayPlace?
  /// The time of it, in the session.
  public var time: Timestamp

  /// Creates a cause.
  package init(place: ReplayPlace?, time: Timestamp) {
    self.place = place
    self.time = time
  }
}

/// Where something stands in a session.
public struct ReplayPlace: Sendable, Hashable {
  /// The number of the frame, or of a recording's line.
  public var frame: Int
  /// The number of the connection.
  public var connection: Int
  /// When it happened.
  public var time: Timestamp

  /// Creates a place.
  package init(frame: Int, connection: Int, time: Timestamp) {
    self.frame = frame
    self.connection = connection
    self.time = time
  }

  package init(_ context: EventContext) {
    frame = context.frame
    connection = context.connection
    time = context.time
  }

  /// The command that shows the place, and what is around it.
  /// - Parameter source: The file, as it is typed in commands.
  /// - Returns: The command.
  package func inspection(of source: String) -> String {
    let (first, last) = (max(1, frame &- 5), frame &+ 5)
    return
      "reprise inspect \(source) --filter 'connection == \(connection) and frame >= \(first) "
      + "and frame <= \(last)'"
  }
}

extension ReplayPlace: CustomStringConvertible {
  /// Frame or line, connection and time.
  public var description: String { "frame \(frame), connection \(connection), \(time)" }
}

extension StringProtocol {
  /// Where a text stands for the first time.
  func firstRange(ofText text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      let rest = self[start...]
      if rest.hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
