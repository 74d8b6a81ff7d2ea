package import DeviceSDK
package import RepriseCore

/// Writes what requests and their connection do as lines, and knows what was sent to write its answers.
///
/// `#1` stands for the uniqueId of the first message that was sent, `#2` for that of the second; they are
/// counted over all connections, as a uniqueId belongs to one of them.
package struct RequestText: Sendable {
  /// A request or a heartbeat that was sent.
  private struct Sent: Sendable {
    let connection: Int
    let id: Int
    let service: String
    let method: String
    let product: String
  }

  private let product: String
  private var connection = 0
  private var sent: [Sent] = []

  /// Creates the text of requests.
  /// - Parameter product: The product that is not worth a word.
  package init(product: String) { self.product = product }

  // MARK: Lines

  /// Returns the line of an action.
  package mutating func line(_ action: ClientAction) -> String {
    switch action.kind {
    case .connect:
      connection += 1
      return "CONNECT"
    case .sendText(let text): return line(text)
    case .sendBinary(let bytes): return "BINARY \(bytes.count)"
    case .disconnect: return "DISCONNECT"
    case .send(let request): return "ASK \(request.path)"
    case .subscribe, .unsubscribe, .publish: return "\(action.kind)"
    }
  }

  /// A message is shown in short when it is just what the model wants, and as it is otherwise.
  private mutating func line(_ text: String) -> String {
    guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"]?.integer,
      let service = value["service"]?.text, let method = value["method"]?.text,
      let product = value["product"]?.text
    else { return "TEXT \(text)" }
    let parameters = value["content"]?.text.flatMap { JSONValue(parsing: Array($0.utf8)) }
    let request = Sent(
      connection: connection, id: id, service: service, method: method, product: product)
    let name = name(of: request)
    guard Self.text(of: request, parameters) == text else { return "TEXT \(text)" }
    guard let parameters else {
      let isHeartbeat = service == "system/heart-beat" && method == "POST"
      return isHeartbeat ? "HEARTBEAT \(name)" : "TEXT \(text)"
    }
    let suffix = product == self.product ? "" : " for \(product)"
    return "SEND \(name) \(method) \(service) \(Self.text(parameters))\(suffix)"
  }

  /// The message that the model wants: compact, with its keys and those of its content in order.
  private static func text(of request: Sent, _ parameters: JSONValue?) -> String {
    let content = parameters.map {
      [JSONMember("content", .string(text($0.sortingKeys)))]
    }
    return text(
      .object(
        (content ?? []) + [
          JSONMember("method", .string(request.method)),
          JSONMember("product", .string(request.product)),
          JSONMember("service", .string(request.service)),
          JSONMember("uniqueId", .number(String(request.id))),
        ]))
  }

  private mutating func name(of request: Sent) -> String {
    let known = sent.firstIndex {
      $0.connection == request.connection && $0.id == request.id
    }
    if let known { return "#\(known + 1)" }
    sent.append(request)
    return "#\(sent.count)"
  }

  /// Returns the line of what the application was told.
  package static func line(_ effect: RequestStateMachine.Effect) -> String {
    switch effect {
    case .changeState(let change):
      "state \(change.state.rawValue)" + (change.error.map { " \(code($0))" } ?? "")
    case .push(.json(let value)): "push \(text(value))"
    case .push(.text(let text)): "push text \(text)"
    case .push(.binary(let bytes)): "push \(bytes.count) bytes"
    case .needsLogin: "login wanted"
    }
  }

  /// Returns the line of a call that was completed.
  package static func line(
    _ name: String, _ result: Result<RequestStateMachine.Value, RequestError>
  ) -> String {
    switch result {
    case .success(.done): "\(name) ok"
    case .success(.answer(let answer)): "\(name) ok \(text(answer.content))"
    case .failure(let error): "\(name) error \(code(error))"
    }
  }

  /// Returns the line of what was counted.
  package static func line(_ counts: RequestStatistics) -> String {
    "late \(counts.lateAnswers) duplicate \(counts.duplicateAnswers) pushes \(counts.pushes) "
      + "lost \(counts.lostConnections) resent \(counts.resent)"
  }

  private static func code(_ error: RequestError) -> String {
    "\(error.kind.rawValue)" + (error.serverCode.map { "/\($0)" } ?? "")
  }

  private static func text(_ value: JSONValue) -> String {
    String(decoding: value.utf8, as: UTF8.self)
  }

  // MARK: Answers

  /// Returns an answer that is as the server's should be.
  /// - Parameters:
  ///   - name: The name of the request, such as `#2`.
  ///   - members: What the answer has besides the keys of the request: `content`, `error`.
  /// - Returns: The text; nil when no such request was sent.
  package func answer(to name: String, _ members: [JSONMember]) -> String? {
    guard let request = request(named: name) else { return nil }
    return Self.text(
      .object(
        members + [
          JSONMember("method", .string(request.method)),
          JSONMember("product", .string(request.product)),
          JSONMember("service", .string(request.service)),
          JSONMember("uniqueId", .number(String(request.id))),
        ]))
  }

  /// Puts the ids that were sent in the place of their names.
  /// - Parameter value: JSON with names such as `#1`.
  /// - Returns: JSON as the wire has it.
  package func replacingNames(in value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text):
      request(named: text).map { .number(String($0.id)) } ?? value
    case .array(let values): .array(values.map(replacingNames))
    case .object(let members):
      .object(members.map { JSONMember($0.key, replacingNames(in: $0.value)) })
    case .null, .bool, .number: value
    }
  }

  private func request(named name: String) -> Sent? {
    guard name.hasPrefix("#"), let number = Int(name.dropFirst()),
      sent.indices.contains(number - 1)
    else { return nil }
    return sent[number - 1]
  }
}
