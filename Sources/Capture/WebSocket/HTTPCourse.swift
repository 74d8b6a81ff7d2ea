import Wire

/// Where the two directions of a connection are in the HTTP that stands in front of WebSocket.
///
/// The body of a message may hold anything, also what looks like a request or an answer: its length says where it ends.
struct HTTPCourse {
  /// More requests are not waited for: who sends so many does not read the answers.
  private static let mostAsked = 64

  /// The body of a request that is not complete.
  var requestBody: HTTPBodyReader?
  /// The body of an answer that is not complete.
  var responseBody: HTTPBodyReader?
  /// Whether that may be the answer to a HEAD, which has no body, whatever its head says.
  private var mayBeEmpty = false
  /// Whether all that the server still sends is the body of an answer, whose end is that of the connection.
  private var isBodyToTheEnd = false
  /// Whether it is known where the next request begins; nil as long as only the start of the connection can say so.
  private var isRequestKnown: Bool?
  private var isResponseKnown: Bool?
  /// The methods of the requests for something else that are not answered, the oldest first.
  private var asked: [String] = []

  /// Whether the place of the next request is known, on a connection that is here from its start or not.
  func knowsRequest(isFromStart: Bool) -> Bool { isRequestKnown ?? isFromStart }

  /// Whether the place of the next answer is known, on a connection that is here from its start or not.
  func knowsResponse(isFromStart: Bool) -> Bool { isResponseKnown ?? isFromStart }

  /// Whether the next answer is to an earlier request than one for WebSocket.
  var answersEarlier: Bool { isResponseKnown != false && !asked.isEmpty }

  // MARK: Messages

  /// Takes the head of a request for something else.
  mutating func ask(_ head: HTTPHead) {
    guard let message = HTTPMessage(head), case .request(let method, _) = message.start else {
      return loseRequests()
    }
    isRequestKnown = true
    if asked.count == Self.mostAsked { loseResponses() }
    asked.append(method)
    let framing = HTTPFraming(message, answering: nil)
    guard framing != .contradictory else { return loseRequests() }
    requestBody = Self.body(framing)
  }

  /// Takes the head of a request for WebSocket, which has no body.
  mutating func askForWebSocket() {
    isRequestKnown = true
    requestBody = nil
  }

  /// Takes the head of an answer that does not switch.
  /// - Parameters:
  ///   - message: The answer.
  ///   - status: Its status.
  ///   - isToWebSocket: Whether it is known to be the one to the request for WebSocket.
  mutating func answer(_ message: HTTPMessage, _ status: Int, isToWebSocket: Bool) {
    guard !message.isInterim else { return }
    isResponseKnown = true
    // A client that is refused, or answered too early, need not send the rest.
    if requestBody != nil { loseRequests() }
    let method = isToWebSocket ? "GET" : asked.isEmpty ? nil : asked.removeFirst()
    // A tunnel has what comes next in it (RFC 9110 section 9.3.6).
    if method == "CONNECT", (200..<300).contains(status) { return }
    let framing = HTTPFraming(message, answering: method)
    switch framing {
    case .length, .chunked: (responseBody, mayBeEmpty) = (Self.body(framing), method == nil)
    // What answers a HEAD has no body.
    case .untilClose where method != nil: isBodyToTheEnd = true
    case .untilClose, .contradictory: isResponseKnown = false
    }
  }

  private static func body(_ framing: HTTPFraming) -> HTTPBodyReader? {
    let body = HTTPBodyReader(framing, limit: 0)
    return body.isComplete ? nil : body
  }

  // MARK: Bodies

  /// Takes what a piece of the client has of the body of a request.
  /// - Returns: How many bytes that is; nil where nobody knows what the rest of the piece is.
  mutating func skipRequestBody(_ piece: RawSpan) -> Int? {
    guard let used = Self.skip(piece, of: &requestBody) else {
      loseRequests()
      return nil
    }
    return used
  }

  /// Takes what a piece of the server has of the body of an answer.
  /// - Returns: How many bytes that is; nil where nobody knows what the rest of the piece is.
  mutating func skipResponseBody(_ piece: RawSpan) -> Int? {
    if isBodyToTheEnd { return piece.byteCount }
    if mayBeEmpty, responseBody != nil, HTTPStart(piece) == .response { responseBody = nil }
    mayBeEmpty = false
    guard let used = Self.skip(piece, of: &responseBody) else {
      loseResponses()
      return nil
    }
    return used
  }

  private static func skip(_ piece: RawSpan, of body: inout HTTPBodyReader?) -> Int? {
    guard var reader = body else { return 0 }
    body = nil
    switch reader.consume(piece) {
    case .needMore:
      body = reader
      return piece.byteCount
    case .complete(let used): return used
    case .malformed: return nil
    }
  }

  // MARK: Losses

  /// Takes the loss of bytes of the client between two heads.
  mutating func loseRequestBytes(_ count: Int) {
    if !Self.lose(count, of: &requestBody) { loseRequests() }
  }

  /// Takes the loss of bytes of the server.
  /// - Returns: Whether they were in the body of an answer, so that no answer is lost.
  mutating func loseResponseBytes(_ count: Int) -> Bool {
    if isBodyToTheEnd { return true }
    if Self.lose(count, of: &responseBody) { return true }
    loseResponses()
    return false
  }

  /// Whether lost bytes were all in a body.
  private static func lose(_ count: Int, of body: inout HTTPBodyReader?) -> Bool {
    guard var reader = body else { return false }
    let behind = reader.lose(count)
    body = reader.isComplete ? nil : reader
    return behind == 0
  }

  /// Takes the news that nobody knows where the next request begins.
  mutating func loseRequests() {
    isRequestKnown = false
    requestBody = nil
  }

  /// Takes the news that nobody knows where the next answer begins.
  mutating func loseResponses() {
    isResponseKnown = false
    responseBody = nil
    asked = []
  }
}
