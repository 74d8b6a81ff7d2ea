public import Wire

/// One step of an exchange over HTTP: a request, an answer to it, or the news that none came.
///
/// Steps of one exchange have one number, which tells on its connection which answer belongs to which request: on the
/// wire the order does (RFC 9112 section 9.3.2), and a recorded client, whose requests may be on several connections
/// that it does not tell of, has its answers in any order.
public indirect enum HTTPPart: Sendable, Hashable {
  /// The client asks.
  case request(exchange: Int, HTTPMessage)
  /// The server answers.
  case response(exchange: Int, HTTPMessage)
  /// There is no answer, as a recorded client said, or as the end of the connection shows.
  case unanswered(exchange: Int, ActionFailure.Cause, reason: String)

  /// The name of the event in capitals.
  public var name: StaticString {
    switch self {
    case .request: "REQUEST"
    case .response: "RESPONSE"
    case .unanswered: "UNANSWERED"
    }
  }

  /// The number of the exchange on its connection, from 1.
  public var exchange: Int {
    switch self {
    case .request(let exchange, _), .response(let exchange, _), .unanswered(let exchange, _, _):
      exchange
    }
  }

  /// The message, if it is one.
  public var message: HTTPMessage? {
    switch self {
    case .request(_, let message), .response(_, let message): message
    case .unanswered: nil
    }
  }

  /// About what a copy of it takes in memory, in bytes.
  package var size: Int {
    guard let message else { return 256 }
    // The fields of the head are there twice.
    return 256 + 3 * message.head.bytes.count + message.body.count
  }

  /// The step with no more than the start of its body.
  package func start(of count: Int) -> HTTPPart {
    switch self {
    case .request(let exchange, let message):
      .request(exchange: exchange, message.start(of: count))
    case .response(let exchange, let message):
      .response(exchange: exchange, message.start(of: count))
    case .unanswered: self
    }
  }
}
