import DeviceSDK
import RepriseCore
import SDKReplay

/// Writes what a replayed system did as lines for people, in the manner of `inspect`.
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
  mutating func append<Plan: ShownPlan>(
    _ observation: SystemReplay<Plan>.Observation, of plan: Plan.Type, to buffer: inout [UInt8]
  ) {
    appendStart(observation.time, observation.place, to: &buffer)
    append(line(of: observation.content, plan), to: &buffer)
  }

  /// Appends a line of a time and a place, after a header where the date changes.
  mutating func append(
    _ line: ShownLine, at time: Timestamp, _ place: ReplayPlace?, to buffer: inout [UInt8]
  ) {
    appendStart(time, place, to: &buffer)
    append(line, to: &buffer)
  }

  private func line<Plan: ShownPlan>(
    of content: SystemReplay<Plan>.Observation.Content, _ plan: Plan.Type
  ) -> ShownLine {
    func line(_ direction: String, _ call: ReplayedCall, _ fields: [String?]) -> ShownLine {
      ShownLine(
        direction: direction, name: "\(call.name) \(call.number)", style: .call, fields: fields)
    }
    switch content {
    case .called(let call):
      return line("→ ", call, [call.subject, call.details.map { text($0, on: call.subject) }])
    case .completed(let call, .success(let value)):
      let data = plan.answer(in: value)?.data
      return line("← ", call, ["ok", data.map { text($0, on: call.subject) }])
    case .completed(let call, .failure(let error)):
      var line = line("← ", call, [])
      line.fault = "\(error)"
      return line
    case .told(let effect): return plan.line(of: effect, in: self)
    }
  }

  private func append(_ line: ShownLine, to buffer: inout [UInt8]) {
    append(line.direction, line.name, line.style, to: &buffer)
    append(line.fields, to: &buffer)
    if let fault = line.fault { append(fault: fault, to: &buffer) }
  }

  /// A message of a topic.
  func line(_ name: String, _ message: ChannelMessage) -> ShownLine {
    ShownLine(
      name: name, style: .message,
      fields: [message.topic, message.isRetained ? "retained" : nil, payload(of: message)])
  }

  /// A message of a server of requests.
  func shown(_ message: ServerMessage) -> String {
    switch message {
    case .json(let value): text(value)
    case .text(let text): "\"\(text)\""
    case .binary(let bytes): "\(bytes.count) bytes, no text"
    }
  }

  // MARK: The start of a line

  private mutating func appendStart(
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

  private func append(
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
  private func append(_ fields: [String?], to buffer: inout [UInt8]) {
    for (index, field) in fields.compactMap(\.self).enumerated() {
      if index > 0 { buffer += "  ".utf8 }
      append(shown: field, limit: Self.preview, to: &buffer)
    }
    while buffer.last == UInt8(ascii: " ") { buffer.removeLast() }
  }

  private func append(fault: String, to buffer: inout [UInt8]) {
    if buffer.last != UInt8(ascii: " ") { buffer += "  ".utf8 }
    begin(.fault, to: &buffer)
    append(shown: "! \(fault)", to: &buffer)
    end(to: &buffer)
  }

  private func append(shown text: String, limit: Int = .max, to buffer: inout [UInt8]) {
    let bytes = Array(redaction.shown(text).utf8)
    TerminalText.append(bytes.span.bytes, to: &buffer, limit: limit)
  }

  /// What comes with a topic, unless the topic is one whose payloads are hidden; a text as it is.
  func text(_ value: JSONValue, on topic: String?) -> String {
    if redaction.hidesPayload(on: topic ?? "") { return RedactionRules.mark }
    return value.text ?? text(value)
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
  func append<Plan: ShownPlan>(_ outcome: ReplayOutcome<Plan>, to buffer: inout [UInt8]) {
    append(outcome.divergence, orElse: Self.summary(of: outcome), to: &buffer)
  }

  /// Appends where the SDK left a session, or other lines if it did not.
  private func append(
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

  private static func summary<Plan: ShownPlan>(of outcome: ReplayOutcome<Plan>) -> [String] {
    let (state, counts) = Plan.summary(of: outcome)
    var lines = ["# the session ends: \(state)"]
    for call in outcome.openCalls {
      let subject = call.subject.map { " \($0)" } ?? ""
      lines.append("# not answered: \(call.name) \(call.number)\(subject)")
    }
    if let unsent = outcome.unsent { lines.append("# the \(Plan.system) goes on with \(unsent)") }
    if let counts { lines.append("# \(counts)") }
    return lines
  }
}
