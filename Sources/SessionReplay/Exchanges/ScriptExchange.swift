package import RepriseCore
package import Wire

/// A request of a session over HTTP, with what became of it.
package struct ScriptExchange: Sendable {
  /// When something happens in a session.
  package struct Moment: Sendable {
    /// Where it stands.
    package let place: ReplayPlace
    /// Its number among all that is replayed, in order.
    let order: Int
    /// When it happened; what ended a connection may have been seen later than it did.
    package let time: Timestamp
  }

  /// What became of a request.
  package enum Outcome: Sendable {
    /// The server answers.
    case response(HTTPMessage)
    /// An end ends the connection before there is an answer.
    case end(by: Peer, ConnectionClosing.How)
  }

  /// Its number on its connection.
  package let number: Int
  /// The request.
  package let request: HTTPMessage
  /// When it was asked.
  package let asked: Moment
  /// Whether its connection is one that it shared with the others of that number; a client that was recorded does not tell
  /// which connections it had.
  package let isOnOneConnection: Bool
  /// What became of it; nil where the session ends before that.
  package internal(set) var answer: (outcome: Outcome, moment: Moment)?

  init(
    number: Int, _ request: HTTPMessage, _ asked: Moment, isOnOneConnection: Bool
  ) {
    (self.number, self.request, self.asked) = (number, request, asked)
    self.isOnOneConnection = isOnOneConnection
  }

  /// The number of its connection in its file.
  package var connection: Int { asked.place.connection }

  /// Whether a secret seems to be hidden in what is asked.
  var isHiding: Bool {
    guard case .request(_, let target) = request.start else { return false }
    return target.contains(RedactionRules.mark)
      || String(decoding: request.body, as: UTF8.self).contains(RedactionRules.mark)
  }

  // MARK: How it is shown

  /// A message of the exchange as an event.
  /// - Parameters:
  ///   - message: The request or the response, as it is in this run.
  ///   - time: When.
  /// - Returns: The event, which stands in the place of the recorded one.
  package func event(_ message: HTTPMessage, _ time: Timestamp) -> Event {
    let isRequest = message.status == nil
    let place = isRequest ? asked.place : answer?.moment.place ?? asked.place
    return Event(
      EventContext(
        time: time, frame: place.frame, connection: place.connection,
        sender: isRequest ? .client : .server, wire: .http),
      .http(
        isRequest
          ? .request(exchange: number, message) : .response(exchange: number, message)))
  }

  /// A message of the exchange in a line for people, with secrets hidden.
  func summary(of message: HTTPMessage) -> String { event(message, asked.time).summary }

  /// What became of it in a line for people, with secrets hidden; nil where nobody knows.
  var answerSummary: String? {
    switch answer?.outcome {
    case .response(let message): summary(of: message)
    case .end(let end, .reset): "the \(end.rawValue) breaks the connection off"
    case .end(let end, _): "the \(end.rawValue) ends the connection without an answer"
    case nil: nil
    }
  }
}
