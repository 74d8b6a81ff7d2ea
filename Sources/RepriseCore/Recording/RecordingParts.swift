/// What a recording's lines say of how much of a session they are: of selections, and of several files in one.
///
/// Where a selection left events out it adds a ``Gap`` of each end that sent them; so does it at the end of the
/// recording for connections that are not over. Lines of several files, which `inspect` prints one behind the other,
/// become those of one session: their connections are numbered on, and end with their file.
struct RecordingParts: Sendable {
  /// More open connections than a reader of captures knows at once, and so than a selection has.
  private static let maximumConnections = 65_536

  private struct Followed: Sendable {
    var context: EventContext
    var isSelected: Bool
  }

  /// How many events were left out.
  private(set) var leftOutCount = 0
  private var open: [Int: Followed] = [:]
  /// The file that the last line was of; nil in recordings of one.
  private var file: String?
  private var last: EventContext?
  /// What is added to the numbers of the current file's connections, and the largest number so far.
  private var base = 0
  private var highest = 0

  /// Takes an event's line.
  /// - Parameters:
  ///   - event: The event, whose connection gets its number in the session.
  ///   - fields: The keys of its line.
  /// - Returns: What happened before it: gaps, and the ends of connections of the file before.
  /// - Throws: ``RecordingError`` for marks that can't be understood.
  mutating func take(
    _ event: inout Event, _ fields: RecordingFields
  ) throws(RecordingError) -> [Event] {
    let file = try fields.optionalString("file")
    let leftOut = try fields.optionalObject("leftOut")
    if file == nil, leftOut == nil, self.file == nil, open.isEmpty { return [] }
    event.context.isSelected = leftOut != nil
    var result: [Event] = []
    if file != self.file, last != nil || self.file != nil { result = endFile() }
    self.file = file
    let (number, isTooLarge) = event.context.connection.addingReportingOverflow(base)
    guard !isTooLarge else { throw fields.wrong("connection", "is too large") }
    event.context.connection = number
    highest = max(highest, number)
    for peer in Peer.allCases where leftOut?.value(peer.rawValue) != nil {
      let count = try leftOut?.integer(peer.rawValue) ?? 0
      guard count > 0 else { continue }
      leftOutCount &+= count
      result.append(Self.gap(peer, event.context))
    }
    follow(event, isSelected: leftOut != nil)
    return result
  }

  /// Takes the end of the recording.
  /// - Returns: Gaps of the connections of selections that are not over.
  mutating func finish() -> [Event] {
    defer { open = [:] }
    return open.keys.sorted().flatMap(losses)
  }

  private mutating func follow(_ event: Event, isSelected: Bool) {
    let number = event.context.connection
    last = event.context
    switch event.body {
    case .closed, .attempted: open[number] = nil
    case .tls: break
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http:
      let wasSelected = open[number]?.isSelected
      guard wasSelected != nil || open.count < Self.maximumConnections else { return }
      open[number] = Followed(
        context: event.context, isSelected: isSelected || wasSelected == true)
    }
  }

  private mutating func endFile() -> [Event] {
    base = highest
    defer { open = [:] }
    guard let last else { return [] }
    return open.keys.sorted().flatMap { number in
      guard var context = open[number]?.context else { return [Event]() }
      (context.time, context.frame) = (last.time, last.frame)
      context = Self.carrier(context)
      let closing = ConnectionClosing(
        how: .endOfCapture, firstFrame: last.frame, firstTime: last.time)
      return losses(of: number) + [Event(context, .closed(closing))]
    }
  }

  private func losses(of number: Int) -> [Event] {
    guard let followed = open[number], followed.isSelected else { return [] }
    return Peer.allCases.map { Self.gap($0, followed.context) }
  }

  /// What is left out of a connection may be of what carries it, and of what it carries.
  private static func gap(_ peer: Peer, _ context: EventContext) -> Event {
    var context = carrier(context)
    context.sender = peer
    return Event(context, .gap(Gap(bytes: 0, reason: .leftOut)))
  }

  private static func carrier(_ context: EventContext) -> EventContext {
    var context = context
    if context.over == .webSocket { context.wire = .webSocket }
    context.over = nil
    context.isOrderUncertain = false
    context.isRebuilt = false
    return context
  }
}
