import Wire

/// What is kept of a connection that speaks HTTP.
final class HTTPConnection {
  /// A request that is not answered.
  struct Asked {
    let exchange: Int
    let method: String
  }

  /// More requests are not waited for: who sends so many does not read the answers.
  private static let mostAsked = 256

  /// About what it takes by itself, in bytes.
  static let inherent = 900

  let first = HTTPDirection()
  let second = HTTPDirection()
  /// The requests that are not answered, the oldest first.
  private(set) var asked: [Asked] = []
  private var exchanges = 0
  /// Whether the client has sent requests without waiting for the answers before.
  private var isPipelined = false
  /// Whether so much is missing that nobody can say which of the requests to come an answer is to.
  private var isUnmatched = false

  subscript(side: Side) -> HTTPDirection { side == .first ? first : second }

  /// The memory that everything unfinished takes, in bytes.
  var reserved: Int { first.reserved + second.reserved + 64 * asked.count }

  /// A number that is another one when a message was finished.
  var progress: Int { first.finished &+ second.finished }

  /// Numbers a request.
  /// - Parameters:
  ///   - method: Its method.
  ///   - isBehindLoss: Whether answers to earlier ones may have been lost.
  /// - Returns: The number of the exchange.
  func ask(_ method: String, isBehindLoss: Bool) -> Int {
    exchanges += 1
    guard !isUnmatched else { return exchanges }
    if !asked.isEmpty, !isBehindLoss { isPipelined = true }
    if asked.count == Self.mostAsked { asked.removeFirst() }
    asked.append(Asked(exchange: exchanges, method: method))
    return exchanges
  }

  /// Takes the request that an answer is to; what answers nothing that was seen is an exchange of its own.
  /// - Parameter isInterim: Whether another answer to the same request follows.
  /// - Returns: The request.
  func answer(isInterim: Bool) -> Asked {
    guard let oldest = asked.first else {
      exchanges += 1
      return Asked(exchange: exchanges, method: "")
    }
    if !isInterim { asked.removeFirst() }
    return oldest
  }

  /// The method of the request that the next answer is to; nil where it is not known.
  var method: String? { asked.first?.method }

  /// Takes the news that requests may have been lost: what answers those behind them is not told any more.
  func loseRequests() { isUnmatched = true }

  /// Takes the news that answers may have been lost.
  ///
  /// A client that waits for each answer has sent the last request behind the loss, and that is answered next.
  func loseAnswers() {
    if isPipelined { isUnmatched = true }
    asked = isUnmatched ? [] : Array(asked.suffix(1))
  }
}

/// One direction of a connection that speaks HTTP.
final class HTTPDirection {
  /// A message whose body is not complete.
  struct OpenMessage {
    let message: HTTPMessage
    let exchange: Int
    var body: HTTPBodyReader
    /// Where the message begins in the stream.
    let start: Int
    /// Whether it may be the answer to a HEAD, which has no body, whatever its head says.
    var mayBeEmpty = false
  }

  /// Where in a message the stream is.
  enum Phase {
    /// Between two messages.
    case between
    case head(HTTPHeadReader)
    case body(OpenMessage)
    /// It is not known where the next message begins.
    case outOfStep
    /// What follows is no HTTP any more.
    case other
  }

  var phase = Phase.between
  /// Bytes of the stream that came or are known to be lost.
  var offset = 0
  /// How many messages were finished.
  var finished = 0

  /// The memory that everything unfinished takes, in bytes.
  var reserved: Int {
    switch phase {
    case .between, .outOfStep, .other: 0
    case .head(let reader): reader.reserved
    // The fields of the head are there twice.
    case .body(let open): 3 * open.message.head.bytes.count + open.body.reserved
    }
  }
}
