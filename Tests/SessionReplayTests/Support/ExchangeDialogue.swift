import RepriseCore
import SessionReplay
import Testing
import Wire

/// A session over HTTP as a test writes it, a message a millisecond.
struct ExchangeDialogue {
  private(set) var events: [Event] = []

  /// Something that happens on a connection.
  struct Line: Sendable {
    let sender: Peer
    let body: Event.Body
    let connection: Int

    /// A client asks.
    static func ask(_ number: Int, _ request: HTTPMessage, on connection: Int = 1) -> Line {
      Line(
        sender: .client, body: .http(.request(exchange: number, request)), connection: connection)
    }

    /// The server answers.
    static func answer(_ number: Int, _ response: HTTPMessage, on connection: Int = 1) -> Line {
      Line(
        sender: .server, body: .http(.response(exchange: number, response)),
        connection: connection)
    }

    /// An end ends the connection.
    static func end(_ sender: Peer, _ how: ConnectionClosing.How, on connection: Int = 1) -> Line {
      Line(
        sender: sender,
        body: .closed(ConnectionClosing(how: how, firstFrame: 1, firstTime: Dialogue.time(1_000))),
        connection: connection)
    }

    /// Something else that is seen of it.
    static func client(_ body: Event.Body, on connection: Int = 1) -> Line {
      Line(sender: .client, body: body, connection: connection)
    }
  }

  init(_ lines: [Line]) {
    for line in lines {
      let number = events.count + 1
      events.append(
        Event(
          EventContext(
            time: Dialogue.time(number), frame: number, connection: line.connection,
            sender: line.sender, wire: Self.wire(of: line.body)), line.body))
    }
  }

  private static func wire(of body: Event.Body) -> WireProtocol {
    switch body {
    case .mqtt: .mqtt(.v3_1_1)
    case .handshake, .webSocket: .webSocket
    default: .http
    }
  }

  /// What both ends do.
  func script(
    _ selection: ScriptReader.Selection = .init(), limit: Int = 1 << 20
  ) throws -> SessionScript {
    try events.script(selection, limit: limit)
  }
}

extension Event.Body {
  /// The beginning of a connection to a server.
  static func opening(of server: String) -> Self {
    .opened(
      ConnectionOpening(
        client: "c", server: server, isFromStart: true, firstFrame: 1,
        firstTime: Dialogue.time(1)))
  }
}

extension HTTPMessage {
  /// A request.
  static func request(
    _ line: String, _ body: String = "", type: String? = "application/json",
    _ fields: [HTTPHead.Field] = []
  ) -> HTTPMessage {
    message("\(line) HTTP/1.1", body, type, [.init("Host", "h")] + fields)
  }

  /// A response.
  static func response(
    _ line: String, _ body: String = "", type: String? = "application/json",
    _ fields: [HTTPHead.Field] = []
  ) -> HTTPMessage {
    message("HTTP/1.1 \(line)", body, type, fields)
  }

  private static func message(
    _ line: String, _ body: String, _ type: String?, _ fields: [HTTPHead.Field]
  ) -> HTTPMessage {
    let own = body.isEmpty ? [] : type.map { [HTTPHead.Field("Content-Type", $0)] } ?? []
    let head = HTTPHead(startLine: line, fields: fields + own)
    guard let message = HTTPMessage(head, body: Array(body.utf8)) else {
      preconditionFailure("\(line) begins no message")
    }
    return message
  }

  /// What it says, in a word or two.
  var words: String {
    let text = String(decoding: body, as: UTF8.self)
    let start =
      switch start {
      case .request(let method, let target): "\(method) \(target)"
      case .response(let status, _): "\(status)"
      }
    return text.isEmpty ? start : "\(start) \(text)"
  }
}

/// One end of a session over HTTP, with a test at the other one.
struct ExchangePlay {
  private(set) var end: ReplayedExchanges
  /// Where the other end left the session.
  private(set) var divergence: ReplayDivergence?
  /// What the end has said, with the number of its exchange.
  private(set) var said: [String] = []
  private(set) var now = Dialogue.time(1_000_000)

  init(
    _ script: SessionScript, as own: Peer, match: ReplayMatch = .json, speed: Double? = nil
  ) {
    end = ReplayedExchanges(
      script.exchanges, as: own, .matching(match, speed: speed), at: now)
    advance()
  }

  /// Asks the server; returns what it says then.
  @discardableResult
  mutating func ask(_ request: HTTPMessage) -> [String] {
    take(end.take(request: request, at: now))
  }

  /// Answers the client; returns what it says then.
  @discardableResult
  mutating func answer(_ index: Int, _ response: HTTPMessage) -> [String] {
    take(end.take(answer: response, to: index, at: now))
  }

  /// Ends the connection of a request.
  mutating func hangUp(_ index: Int) -> [String] {
    if let divergence = end.takeEnd(of: index, at: now) { self.divergence = divergence }
    return advance()
  }

  /// Lets time go by; returns what is said then.
  mutating func wait(_ duration: Duration) -> [String] {
    now = now.advanced(by: duration)
    return advance()
  }

  private mutating func take(_ taken: ReplayedExchanges.Taken) -> [String] {
    if case .diverged(let divergence) = taken { self.divergence = divergence }
    return advance()
  }

  @discardableResult
  private mutating func advance() -> [String] {
    let before = said.count
    while let words = end.own == .server ? answered() : asked() { said.append(words) }
    return Array(said[before...])
  }

  private mutating func answered() -> String? {
    switch end.answer(at: now) {
    case .answer(let index, let message): "\(index): \(message.words)"
    case .end(let index, let how): "\(index): \(how.rawValue)"
    case .wait, .nothing: nil
    }
  }

  private mutating func asked() -> String? {
    switch end.ask(at: now) {
    case .ask(let index, let message): "\(index): \(message.words)"
    case .leave(let index, let how): "\(index): \(how.rawValue)"
    case .wait, .nothing: nil
    }
  }
}
