import Wire

/// Names an exchange over HTTP in a session.
struct ReplayExchange: Sendable, Hashable {
  private let connection: Int
  private let exchange: Int

  /// The connection's number, and that of the exchange on it.
  var place: (connection: Int, exchange: Int) { (connection, exchange) }

  init(_ connection: Int, _ exchange: Int) {
    self.connection = connection
    self.exchange = exchange
  }
}

/// The machine's work on requests that are answered by themselves.
extension ReplayMachine {
  /// Tells of the answer to a request, with the values of this run in the place of recorded ones.
  mutating func take(_ part: HTTPPart, _ context: EventContext) -> ClientEvent? {
    let exchange = ReplayExchange(context.connection, part.exchange)
    switch part {
    case .request: return nil
    case .response(_, let message):
      guard let id = asked.removeValue(forKey: exchange) else { return nil }
      var body = Message(topic: "", payload: message.body)
      bindings.rewrite(&body, by: options.roles, at: position)
      return .response(id, ResponseMessage(status: message.status ?? 0, body: body.payload))
    case .unanswered(_, let cause, let reason):
      guard let id = asked.removeValue(forKey: exchange) else { return nil }
      return .failed(id, .unanswered(cause, reason))
    }
  }

  /// Says what a session of requests has no place for.
  static func check(request kind: ClientAction.Kind) throws(DataClientError) {
    guard case .send = kind else {
      throw DataClientError(
        .unsupported,
        "\(kind.name) is not among what a session of requests over HTTP answers; perform send only")
    }
  }
}

extension HTTPPart {
  /// What a step that is whole is for a replay.
  var replayRole: ReplayEventRole {
    switch self {
    case .request: .action
    case .response, .unanswered: .fromServer
    }
  }

  /// The request, as the port has it.
  /// - Parameter base: The path of the server's URL.
  /// - Returns: The request; nil for other steps.
  func request(below base: String) -> RequestMessage? {
    guard case .request(_, let message) = self,
      case .request(let method, let target) = message.start
    else { return nil }
    return RequestMessage(method: method, target: target, body: message.body, below: base)
  }
}
