import RepriseCore

/// Tells what an application did and was told in lines that are the same in every run.
struct TranscriptText: Sendable {
  private let roles: ReplayRoles
  private let redaction: RedactionRules

  /// Creates a writer of lines.
  /// - Parameters:
  ///   - roles: Which values each run makes anew.
  ///   - redaction: What is hidden.
  init(roles: ReplayRoles, hiding redaction: RedactionRules) {
    self.roles = roles
    self.redaction = redaction
  }

  /// Returns the line of an action.
  func line(_ action: ClientAction.Kind) -> String {
    let text =
      switch action {
      case .connect(let options):
        options.clientID.isEmpty ? "CONNECT" : "CONNECT \(options.clientID)"
      case .subscribe(let subscriptions):
        "SUBSCRIBE "
          + subscriptions.map { "\($0.filter) qos \($0.qos.rawValue)" }.joined(separator: ", ")
      case .unsubscribe(let filters): "UNSUBSCRIBE " + filters.joined(separator: ", ")
      case .publish(let message): "PUBLISH \(tell(message))"
      case .send(let request):
        "\(request.method) \(request.path)"
          + (request.parameters.isEmpty ? "" : " \(tell(request.parameters.json))")
      case .sendText(let text): "TEXT \(tell(Array(text.utf8)))"
      case .sendBinary(let bytes): "BINARY \(tell(bytes))"
      case .disconnect: "DISCONNECT"
      }
    return "→ \(redaction.shown(text))"
  }

  /// Returns the line of an event; nil for one that is none of the session.
  func line(_ event: ClientEvent) -> String? {
    let text: String? =
      switch event {
      case .connected(let answer):
        answer.isSessionPresent ? "connected, session present" : "connected"
      case .subscribed(_, let granted):
        "subscribed "
          + granted.map { $0.map { "qos \($0.rawValue)" } ?? "refused" }.joined(separator: ", ")
      case .unsubscribed: "unsubscribed"
      case .message(let message): "message \(tell(message))"
      case .text(let text): "text \(tell(Array(text.utf8)))"
      case .binary(let bytes): "binary \(tell(bytes))"
      case .response(_, let answer): "response \(answer.status) \(tell(answer.body))"
      case .failed(_, let failure): "failed: \(failure)"
      case .closed(let reason): "closed \(tell(reason))"
      case .published, .deadline, .woken, .ended: nil
      }
    return text.map { "← \(redaction.shown($0))" }
  }

  private func tell(_ message: Message) -> String {
    "\(message.topic) qos \(message.qos.rawValue)\(message.isRetained ? " retained" : "") \(tell(message.payload))"
  }

  private func tell(_ reason: ClientEvent.Closed) -> String {
    switch reason {
    case .byUser: "by the user"
    case .refused(let code): "refused, code \(code)"
    case .byServer(let code, _): "by the server" + (code.map { ", code \($0)" } ?? "")
    case .lost: "lost"
    case .unreached: "unreached"
    }
  }

  private func tell(_ payload: [UInt8]) -> String {
    if let value = JSONValue(parsing: payload) { return tell(value) }
    guard let text = String(validating: payload, as: UTF8.self) else {
      return "\(payload.count) bytes of binary data"
    }
    return tell(JSONValue.string(text))
  }

  private func tell(_ value: JSONValue) -> String {
    String(decoding: masked(value).utf8, as: UTF8.self)
  }

  /// A value with roles in the place of what each run makes anew.
  private func masked(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let members):
      .object(
        members.map { member in
          let role = roles.keys[member.key] ?? roles.keys[member.key.lowercased()]
          return JSONMember(member.key, role.map { .string("<\($0)>") } ?? masked(member.value))
        })
    case .array(let values): .array(values.map(masked))
    case .null, .bool, .number, .string: value
    }
  }
}
