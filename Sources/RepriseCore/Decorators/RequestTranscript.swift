import Wire

/// Writes down the requests of a client and what they are answered by as the messages of HTTP that they stand for.
///
/// All are on one connection, which begins with the first request: the port tells of none. Of headers there are those
/// that the message needs, as the port tells no others; the exchange's number tells which answer belongs to which
/// request.
struct RequestTranscript: Transcript {
  var pen: TranscriptPen
  private let base: HTTPBase
  /// The exchanges that are not answered.
  private var open: [ClientAction.ID: Int] = [:]
  private var exchange = 0

  init(server: String) {
    pen = TranscriptPen(server: server, wire: .http)
    base = HTTPBase(ofURL: server)
  }

  mutating func tell(_ action: ClientAction, at time: Timestamp) -> [Event] {
    guard case .send(let request) = action.kind else { return [] }
    exchange += 1
    open[action.id] = exchange
    let beginning = pen.isOpen ? [] : [pen.open(at: time)]
    guard let message = message(of: request) else {
      let what = Malformation(
        code: "not-encodable", offset: 0, message: "a request that HTTP has no words for")
      return beginning + [pen.make(.malformed(what), from: .client, at: time)]
    }
    let part = HTTPPart.request(exchange: exchange, message)
    return beginning + [pen.make(.http(part), from: .client, at: time)]
  }

  private func message(of request: RequestMessage) -> HTTPMessage? {
    var fields = [HTTPHead.Field("Host", base.authority)]
    let body = request.body
    if let body {
      fields.append(.init("Content-Type", "application/json"))
      fields.append(.init("Content-Length", String(body.count)))
    }
    let line = "\(request.method.uppercased()) \(request.target(below: base.path)) HTTP/1.1"
    return HTTPMessage(HTTPHead(startLine: line, fields: fields), body: body ?? [])
  }

  mutating func tell(_ event: ClientEvent, at time: Timestamp) -> [Event] {
    switch event {
    case .response(let id, let response):
      guard let exchange = open.removeValue(forKey: id) else { return [] }
      return [answer(exchange, response, at: time)]
    case .failed(let id, let failure):
      guard let exchange = open.removeValue(forKey: id) else { return [] }
      let part: HTTPPart =
        switch failure {
        case .unanswered(let cause, let text): .unanswered(exchange: exchange, cause, reason: text)
        case .refused: .unanswered(exchange: exchange, .other, reason: "\(failure)")
        }
      return [pen.make(.http(part), from: .server, at: time)]
    case .connected, .subscribed, .unsubscribed, .published, .message, .text, .binary, .closed,
      .deadline, .woken, .ended:
      return []
    }
  }

  private mutating func answer(
    _ exchange: Int, _ response: ResponseMessage, at time: Timestamp
  ) -> Event {
    let head = HTTPHead(
      startLine: "HTTP/1.1 \(response.status) ",
      fields: [.init("Content-Length", String(response.body.count))])
    guard let message = HTTPMessage(head, body: response.body) else {
      let what = Malformation(
        code: "not-encodable", offset: 0,
        message: "an answer of the status \(response.status), which HTTP does not have")
      return pen.make(.malformed(what), from: .server, at: time)
    }
    return pen.make(.http(.response(exchange: exchange, message)), from: .server, at: time)
  }

  // MARK: What requests do not have

  /// Where requests are answered without a connection nothing is sent to open one.
  var wanted: WantedConnection? {
    get { nil }
    set {}
  }

  mutating func prepare(_ options: ConnectOptions) {}

  func connectPacket(_ options: ConnectOptions) -> PacketBytes? { nil }

  mutating func farewell(at time: Timestamp) -> [Event] { [] }

  mutating func greeting(_ options: ConnectOptions, at time: Timestamp) -> Event {
    pen.open(at: time)
  }

  mutating func tell(_ closed: ClientEvent.Closed, at time: Timestamp) -> [Event] {
    open = [:]
    return [pen.close(.fin, by: .client, at: time)]
  }
}
