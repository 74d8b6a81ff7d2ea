import RepriseCore

/// Tells what an application did and was told in lines that are the same in every run.
struct TranscriptText: Sendable {
  private let roles: ReplayRoles
  private let redaction: RedactionRules
  private let showsPayloads: Bool

  /// Creates a writer of lines.
  /// - Parameters:
  ///   - roles: Which values each run makes anew.
  ///   - redaction: What is hidden.
  ///   - showsPayloads: Whether payloads are told, or only that there are messages.
  init(roles: ReplayRoles, hiding redaction: RedactionRules, showsPayloads: Bool = true) {
    self.roles = roles
    self.redaction = redaction
    self.showsPayloads = showsPayloads
  }

  /// Returns the line of an action.
  func line(_ action: ClientAction.Kind) -> String { "→ \(redaction.shown(text(action)))" }

  private func text(_ action: ClientAction.Kind) -> String {
    switch action {
    case .connect(let options): words("CONNECT", topic(options.clientID))
    case .subscribe(let wanted):
      "SUBSCRIBE "
        + wanted.map { "\(topic($0.filter)) qos \($0.qos.rawValue)" }.joined(separator: ", ")
    case .unsubscribe(let filters): "UNSUBSCRIBE \(filters.map(topic).joined(separator: ", "))"
    case .publish(let message): "PUBLISH \(text(message))"
    case .send(let request):
      words(
        "\(request.method) \(request.path)",
        request.parameters.isEmpty ? "" : payload(request.parameters.json.utf8))
    case .sendText(let text): words("TEXT", payload(Array(text.utf8)))
    case .sendBinary(let bytes): words("BINARY", payload(bytes))
    case .disconnect: "DISCONNECT"
    }
  }

  /// Returns the line of an event; nil for one that is none of the session.
  func line(_ event: ClientEvent) -> String? {
    text(event).map { "← \(redaction.shown($0))" }
  }

  private func text(_ event: ClientEvent) -> String? {
    switch event {
    case .connected(let answer):
      answer.isSessionPresent ? "connected, session present" : "connected"
    case .subscribed(_, let granted):
      "subscribed "
        + granted.map { $0.map { "qos \($0.rawValue)" } ?? "refused" }.joined(separator: ", ")
    case .unsubscribed: "unsubscribed"
    case .message(let message): "message \(text(message))"
    case .text(let text): words("text", payload(Array(text.utf8)))
    case .binary(let bytes): words("binary", payload(bytes))
    case .response(_, let answer): words("response \(answer.status)", payload(answer.body))
    case .failed(_, .refused(let code, _)): "failed: refused, code \(code)"
    case .failed(_, .unanswered(let cause, _)): "failed: \(cause.rawValue)"
    case .closed(let reason): "closed \(text(reason))"
    case .published, .deadline, .woken, .ended: nil
    }
  }

  private func text(_ message: Message) -> String {
    let retained = message.isRetained ? " retained" : ""
    return words(
      "\(topic(message.topic)) qos \(message.qos.rawValue)\(retained)", payload(message.payload))
  }

  private func text(_ reason: ClientEvent.Closed) -> String {
    switch reason {
    case .byUser: "by the user"
    case .refused(let code): "refused, code \(code)"
    case .byServer(let code, _): "by the server" + (code.map { ", code \($0)" } ?? "")
    case .lost: "lost"
    case .unreached: "unreached"
    }
  }

  private func words(_ first: String, _ second: String) -> String {
    second.isEmpty ? first : "\(first) \(second)"
  }

  // MARK: What each run makes anew

  private func payload(_ bytes: [UInt8]) -> String {
    guard showsPayloads else { return "" }
    if let value = JSONValue(parsing: bytes) {
      return String(decoding: masked(value).utf8, as: UTF8.self)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return "\(bytes.count) bytes of binary data"
    }
    return String(decoding: JSONValue.string(text).utf8, as: UTF8.self)
  }

  /// A value with roles in the place of what has one.
  private func masked(_ value: JSONValue, at path: String = "") -> JSONValue {
    switch value {
    case .object(let members):
      .object(
        members.map { member in
          let path = path.isEmpty ? member.key : "\(path).\(member.key)"
          let role =
            roles.paths[path] ?? roles.keys[member.key] ?? roles.keys[member.key.lowercased()]
          return JSONMember(
            member.key, role.map { .string("<\($0)>") } ?? masked(member.value, at: path))
        })
    case .array(let values): .array(values.map { masked($0, at: path) })
    case .null, .bool, .number, .string: value
    }
  }

  /// A topic, or a filter, with roles in the place of levels that have one.
  private func topic(_ topic: String) -> String {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    for pattern in roles.topics {
      let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
      if let named = Self.named(levels, by: parts) { return named.joined(separator: "/") }
    }
    return topic
  }

  /// The levels with their roles; nil when the pattern is that of another topic.
  private static func named(_ levels: [Substring], by pattern: [Substring]) -> [Substring]? {
    let isOpen = pattern.last == "#"
    let parts = isOpen ? pattern.dropLast() : pattern[...]
    guard isOpen ? parts.count <= levels.count : parts.count == levels.count else { return nil }
    var named = levels
    for (index, part) in parts.enumerated() {
      if part.hasPrefix("{"), part.hasSuffix("}") {
        named[index] = "<\(part.dropFirst().dropLast())>"
      } else if part != "+", part != levels[index] {
        return nil
      }
    }
    return named
  }
}
