import DataClient
import DeviceSDK

/// Writes what a replayed channel did as lines for people, in the manner of `inspect`.
struct ObservationText: Sendable {
  /// The most characters of parameters or a payload that a line shows.
  private static let preview = 200

  let file: String
  let subject: String
  let usesColor: Bool
  let redaction: RedactionRules
  private var day: Substring?

  init(file: String, subject: String, usesColor: Bool, redaction: RedactionRules) {
    self.file = file
    self.subject = subject
    self.usesColor = usesColor
    self.redaction = redaction
  }

  /// Appends one thing that was seen, without a line end, after a header where the date changes.
  mutating func append(_ observation: ChannelObservation, to buffer: inout [UInt8]) {
    appendStart(observation.time, observation.place, to: &buffer)
    switch observation.content {
    case .called(let call):
      append("→ ", "\(call.name) \(call.number)", .call, to: &buffer)
      let isHidden = redaction.hidesPayload(on: call.topic ?? "")
      append(
        [call.topic, call.params.map { isHidden ? RedactionRules.mark : text($0) }], to: &buffer)
    case .completed(let call, .success(let reply)):
      append("← ", "\(call.name) \(call.number)", .call, to: &buffer)
      let isHidden = redaction.hidesPayload(on: call.topic ?? "")
      append(
        ["ok", reply?.data.map { isHidden ? RedactionRules.mark : text($0) }], to: &buffer)
    case .completed(let call, .failure(let error)):
      append("← ", "\(call.name) \(call.number)", .call, to: &buffer)
      append(fault: "\(error)", to: &buffer)
    case .state(let change):
      append("← ", "state", .state, to: &buffer)
      append(["\(change.state)"], to: &buffer)
      guard let error = change.error else { return }
      append(fault: "\(error)" + (change.isFinal ? " (it stays so)" : ""), to: &buffer)
    case .account(let state):
      append("← ", "account", .state, to: &buffer)
      append([state.rawValue], to: &buffer)
    case .message(let message): append("message", message, to: &buffer)
    case .foreignMessage(let message): append("foreign", message, to: &buffer)
    case .note(let entry):
      append("· ", "note", .quiet, to: &buffer)
      append([entry.message], to: &buffer)
    }
  }

  private func append(_ name: String, _ message: ChannelMessage, to buffer: inout [UInt8]) {
    append("← ", name, .message, to: &buffer)
    append(
      [message.topic, message.isRetained ? "retained" : nil, payload(of: message)], to: &buffer)
  }

  // MARK: The start of a line

  mutating func appendStart(
    _ time: Timestamp, _ place: ReplayPlace?, to buffer: inout [UInt8]
  ) {
    let text = "\(time)"
    let day = text.prefix(10)
    if day != self.day {
      let header = self.day == nil ? "# \(file), \(day) (UTC), \(subject)" : "# \(day) (UTC)"
      begin(.quiet, to: &buffer)
      append(shown: header, to: &buffer)
      end(to: &buffer)
      buffer.append(UInt8(ascii: "\n"))
      self.day = day
    }
    buffer += text.dropFirst(11).dropLast().utf8
    let frame = place.map { "\($0.frame)" } ?? "-"
    let connection = place.map { "#\($0.connection)" } ?? "-"
    buffer += Self.padding(7, frame) + Array(frame.utf8)
    buffer += "  \(connection)".utf8 + Self.padding(5, connection)
  }

  func append(
    _ direction: String, _ type: String, _ style: Style, to buffer: inout [UInt8]
  ) {
    buffer += direction.utf8
    begin(style, to: &buffer)
    buffer += type.utf8
    end(to: &buffer)
    buffer += Self.padding(13, type)
  }

  private static func padding(_ width: Int, _ text: String) -> [UInt8] {
    Array(repeating: UInt8(ascii: " "), count: max(1, width - text.utf8.count))
  }

  // MARK: Fields

  /// Appends the fields that there are, two spaces between them.
  func append(_ fields: [String?], to buffer: inout [UInt8]) {
    for (index, field) in fields.compactMap(\.self).enumerated() {
      if index > 0 { buffer += "  ".utf8 }
      append(shown: field, limit: Self.preview, to: &buffer)
    }
    while buffer.last == UInt8(ascii: " ") { buffer.removeLast() }
  }

  func append(fault: String, to buffer: inout [UInt8]) {
    if buffer.last != UInt8(ascii: " ") { buffer += "  ".utf8 }
    begin(.fault, to: &buffer)
    append(shown: "! \(fault)", to: &buffer)
    end(to: &buffer)
  }

  private func append(shown text: String, limit: Int = .max, to buffer: inout [UInt8]) {
    let bytes = Array(redaction.shown(text).utf8)
    TerminalText.append(bytes.span.bytes, to: &buffer, limit: limit)
  }

  private func text(_ value: JSONValue) -> String {
    String(decoding: redaction.shown(value).utf8, as: UTF8.self)
  }

  /// The parameters, or a payload that has none.
  private func payload(of message: ChannelMessage) -> String {
    if redaction.hidesPayload(on: message.topic) { return RedactionRules.mark }
    if let params = message.params { return text(params) }
    if message.payload.isEmpty { return "empty" }
    guard let text = message.text else { return "\(message.payload.count) bytes, no text" }
    return "\"\(text)\""
  }

  // MARK: Colours

  enum Style: String {
    case call = "\u{1B}[36m"
    case state = "\u{1B}[34m"
    case message = "\u{1B}[32m"
    case quiet = "\u{1B}[2m"
    case fault = "\u{1B}[31m"
  }

  private func begin(_ style: Style, to buffer: inout [UInt8]) {
    if usesColor { buffer += style.rawValue.utf8 }
  }

  private func end(to buffer: inout [UInt8]) {
    if usesColor { buffer += "\u{1B}[0m".utf8 }
  }

  // MARK: The end

  /// Appends how a replay ended, without the last line's end.
  func append(_ outcome: ChannelReplayOutcome, to buffer: inout [UInt8]) {
    append(outcome.divergence, orElse: Self.summary(of: outcome), to: &buffer)
  }

  /// Appends where the SDK left a session, or other lines if it did not.
  func append(
    _ divergence: ReplayDivergence?, orElse summary: [String], to buffer: inout [UInt8]
  ) {
    let lines =
      divergence.map { "\($0)".split(separator: "\n").map(String.init) } ?? summary
    for (index, line) in lines.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: "\n")) }
      begin(divergence == nil ? .quiet : .fault, to: &buffer)
      append(shown: line, to: &buffer)
      end(to: &buffer)
    }
  }

  private static func summary(of outcome: ChannelReplayOutcome) -> [String] {
    var lines = ["# the session ends: \(outcome.state), account \(outcome.account.rawValue)"]
    for call in outcome.openCalls {
      let topic = call.topic.map { " \($0)" } ?? ""
      lines.append("# not answered: \(call.name) \(call.number)\(topic)")
    }
    if let unsent = outcome.unsent { lines.append("# the channel goes on with \(unsent)") }
    let counts = outcome.statistics
    lines.append(
      "# messages \(counts.messages), late replies \(counts.lateReplies), "
        + "repeated \(counts.duplicateReplies), unknown \(counts.unknownReplies), "
        + "lost connections \(counts.lostConnections)")
    return lines
  }
}
