import Capture
import RepriseCore

/// What happened in a session, as far as it is the same in every run: to compare a live run with a recorded one.
///
/// What was done is compared without its order, as tasks may take turns. What the server says is compared in order,
/// but on each topic, and to each request, by itself: a server keeps to no order between them.
struct SessionDigest {
  /// What was done, sorted.
  private var done: [String] = []
  /// What was told, by what keeps an order.
  private var told: [String: [String]] = [:]

  /// Reads a file.
  /// - Throws: What is wrong with it.
  init(contentsOf path: String, _ settings: CassetteSettings) throws {
    var events = ReplayEvents()
    _ = try SessionInput.read(path, options: settings.input, into: &events)
    try self.init(events, settings)
  }

  /// Reads a recording in memory.
  /// - Throws: `RecordingError` when it is none.
  init(recording: [UInt8], _ settings: CassetteSettings) throws {
    var events = ReplayEvents()
    var stream = RecordingStream()
    try stream.consume(recording.span.bytes, into: &events)
    try stream.finish(into: &events)
    try self.init(events, settings)
  }

  private init(_ events: ReplayEvents, _ settings: CassetteSettings) throws {
    let match = settings.match ?? settings.options.match
    let text = TranscriptText(
      roles: match == .strict ? .none : settings.options.roles, hiding: settings.redact,
      showsPayloads: match != .topic)
    var actions: [ClientAction.ID: String] = [:]
    for step in try events.dialogue() where !step.isImplied {
      switch step.content {
      case .action(let action):
        let line = text.line(action.kind)
        actions[action.id] = line
        done.append(line)
      case .event(let event):
        guard let line = text.line(event) else { continue }
        told[Self.stream(of: event, actions), default: []].append(line)
      }
    }
    done.sort()
  }

  /// What an event keeps an order with.
  private static func stream(
    of event: ClientEvent, _ actions: [ClientAction.ID: String]
  ) -> String {
    switch event {
    case .message(let message): "topic \(message.topic)"
    case .subscribed(let id, _), .unsubscribed(let id), .published(let id), .response(let id, _),
      .failed(let id, _):
      actions[id] ?? ""
    case .text, .binary: "messages"
    case .connected, .closed, .deadline, .woken, .ended: "connection"
    }
  }

  /// Tells what another session has otherwise.
  /// - Parameter other: The other session.
  /// - Returns: Lines with `-` for what this one alone has, `+` for what the other one has; none when they are equal.
  func differences(to other: SessionDigest) -> [String] {
    var lines = LineDifference.lines(from: done, to: other.done)
    for stream in Set(told.keys).union(other.told.keys).sorted() {
      lines += LineDifference.lines(from: told[stream] ?? [], to: other.told[stream] ?? [])
    }
    return lines
  }
}
