import Wire

/// Takes the events of a session as they are read, and hands on the requests of a client over HTTP, with what they
/// were answered by.
///
/// A client may have several connections to its server, and which of them carries a request it does not tell: all that
/// go from one host to one server are one life. A request whose connection ends without an answer is told as one that
/// got none.
struct RequestExtraction: Sendable {
  private struct Connection {
    var ends: Ends?
    /// The exchanges that are not answered.
    var open: Set<Int> = []
    /// Answers that were complete before their requests, by the exchange.
    var early: [Int: Event] = [:]
  }

  /// The client and the server that talk to each other.
  private struct Ends: Hashable {
    let client: String
    let server: String
  }

  /// An answer that sends its client somewhere else.
  private struct Redirect {
    /// Where to.
    let target: String
    let exchange: ReplayExchange
    let answer: Event
  }

  /// So many answers wait for their requests, or for the client to go where they send it.
  private static let waitingLimit = 64
  /// How many connections an error names.
  private static let shownLimit = 20

  private let selection: ReplaySelection
  private var window: ReplayWindow
  private var connections: [Int: Connection] = [:]
  private(set) var totals = ReplayLife.Totals()
  /// The highest frame that an event had.
  private(set) var lastFrame = 0
  /// The answers whose clients may still go where they send them.
  private var redirects: [Redirect] = []
  /// The first exchanges of those that went on elsewhere, by the last ones.
  private var followed: [ReplayExchange: (connection: Int, exchange: Int)] = [:]
  /// Between whom requests went, each with the first connection, as many as an error names.
  private var seen: [(ends: Ends?, connection: Int)] = []
  /// The first connections that could have been chosen and were not.
  private var others: [Int] = []

  init(_ selection: ReplaySelection, within window: ReplayWindow) {
    self.selection = selection
    self.window = window
    totals.content = .requests
  }

  /// Whether there is anything to replay.
  var hasContent: Bool { totals.actions > 0 }

  /// Takes the next event of the session, and adds what follows from it.
  mutating func take(_ event: borrowing EventView, into entries: inout [ReplayEntry]) {
    let context = event.context
    guard context.wire == .http else { return }
    let isInside = window.contains(context.time)
    guard selection.takesUnnamed(context.connection) else { return noteOther(event) }
    lastFrame = max(lastFrame, context.frame)
    switch event.body {
    case .opened(let opening): open(opening, context.connection)
    case .closed(let closing):
      if isInside { close(closing, context, into: &entries) }
      connections[context.connection] = nil
    case .http(let part):
      if isInside { take(part, context, into: &entries) }
    case .gap, .malformed:
      if isInside { add(Event(copying: event), .hole, into: &entries) }
    case .attempted, .mqtt, .handshake, .webSocket, .tls: return
    }
  }

  /// Notes a connection that was not chosen, as long as there are few.
  private mutating func noteOther(_ event: borrowing EventView) {
    let number = event.context.connection
    guard case .http = event.body, others.count <= Self.shownLimit, !others.contains(number) else {
      return
    }
    others.append(number)
  }

  // MARK: Connections

  private mutating func open(_ opening: ConnectionOpening, _ number: Int) {
    let host = FilterAddress(opening.client).host
    let client = String(decoding: host, as: UTF8.self)
    connections[number] = Connection(ends: Ends(client: client, server: opening.server))
  }

  /// Tells of the requests that the end of a connection leaves without an answer.
  private mutating func close(
    _ closing: ConnectionClosing, _ context: EventContext, into entries: inout [ReplayEntry]
  ) {
    guard let connection = connections[context.connection],
      closing.how != .endOfCapture
    else { return }
    var context = context
    context.sender = .server
    context.time = min(context.time, closing.firstTime)
    let reason = closing.reason ?? "the connection was closed before the answer was complete"
    for exchange in connection.open.sorted() {
      let part = HTTPPart.unanswered(exchange: exchange, .lost, reason: reason)
      take(answer: Event(context, .http(part)), to: exchange, nil, into: &entries)
    }
  }

  // MARK: Exchanges

  private mutating func take(
    _ part: HTTPPart, _ context: EventContext, into entries: inout [ReplayEntry]
  ) {
    switch part {
    case .request(let exchange, let message):
      note(context.connection)
      take(request: message, exchange, Event(context, .http(part)), into: &entries)
    case .response(let exchange, let message):
      // Behind an interim answer comes the one that counts.
      if message.isInterim { return }
      take(answer: Event(context, .http(part)), to: exchange, message, into: &entries)
    case .unanswered(let exchange, _, _):
      take(answer: Event(context, .http(part)), to: exchange, nil, into: &entries)
    }
  }

  private mutating func take(
    request message: HTTPMessage, _ exchange: Int, _ event: Event,
    into entries: inout [ReplayEntry]
  ) {
    let number = event.context.connection
    let early = connections[number]?.early.removeValue(forKey: exchange)
    connections[number, default: Connection()].open.insert(exchange)
    if case .request(_, let target) = message.start,
      let index = redirects.firstIndex(where: { $0.target == target })
    {
      // The client's library asks at the other place; its user waits for the answer to what it asked.
      let redirect = redirects.remove(at: index)
      followed[ReplayExchange(number, exchange)] = redirect.exchange.place
    } else {
      totals.actions += message.missing > 0 ? 0 : 1
      add(event, message.missing > 0 ? .hole : .action, into: &entries)
    }
    guard let early, case .http(let part) = early.body else { return }
    take(answer: early, to: exchange, part.message, into: &entries)
  }

  private mutating func take(
    answer event: Event, to exchange: Int, _ message: HTTPMessage?,
    into entries: inout [ReplayEntry]
  ) {
    let number = event.context.connection
    guard connections[number]?.open.remove(exchange) != nil else {
      // A server may answer before it has the whole request; what answers nothing at all is nobody's.
      if let count = connections[number]?.early.count, count < Self.waitingLimit {
        connections[number]?.early[exchange] = event
      }
      return
    }
    var event = event
    if let first = followed.removeValue(forKey: ReplayExchange(number, exchange)) {
      event = event.renamed(first)
    }
    guard let message else { return add(event, .fromServer, into: &entries) }
    if message.missing == 0, let target = message.redirection, case .http(let part) = event.body {
      let place = ReplayExchange(event.context.connection, part.exchange)
      redirects.append(Redirect(target: target, exchange: place, answer: event))
      if redirects.count > Self.waitingLimit { giveUpRedirect(into: &entries) }
      return
    }
    add(event, message.missing > 0 ? .hole : .fromServer, into: &entries)
  }

  /// Tells of the oldest answer that sent its client elsewhere as what it is: the client did not go.
  private mutating func giveUpRedirect(into entries: inout [ReplayEntry]) {
    guard !redirects.isEmpty else { return }
    add(redirects.removeFirst().answer, .fromServer, into: &entries)
  }

  /// Takes the end of the session.
  mutating func finish(into entries: inout [ReplayEntry]) {
    while !redirects.isEmpty { giveUpRedirect(into: &entries) }
  }

  /// Notes between whom a request goes.
  private mutating func note(_ number: Int) {
    let ends = connections[number]?.ends
    if totals.requestBase == nil, let server = ends?.server, server.contains("://") {
      totals.requestBase = HTTPBase(ofURL: server).path
    }
    guard seen.count <= Self.shownLimit, !seen.contains(where: { $0.ends == ends }) else { return }
    seen.append((ends, number))
  }

  private mutating func add(
    _ event: Event, _ role: ReplayEventRole, into entries: inout [ReplayEntry]
  ) {
    if totals.firstTime == nil { totals.firstTime = event.context.time }
    totals.lastPlace = ReplayPlace(event.context)
    entries.append(ReplayEntry(event, role))
  }

  // MARK: Errors

  /// Why there is nothing to replay; nil when there are no requests either.
  var notFound: DataClientError? {
    guard !others.isEmpty else { return nil }
    let more = others.count > Self.shownLimit ? ", …" : ""
    let known = others.prefix(Self.shownLimit).map(String.init).joined(separator: ", ") + more
    return DataClientError(
      .unreadable,
      "the session has nothing of that name to replay, as HTTP gives no names; choose a connection of "
        + "HTTP by its number: \(known)")
  }

  /// Checks that all requests are of one client to one server.
  /// - Throws: ``DataClientError`` when there are several.
  func check() throws(DataClientError) {
    guard selection == .only, seen.count > 1 else { return }
    let known = seen.prefix(Self.shownLimit).map { entry in
      "connection \(entry.connection)"
        + (entry.ends.map { " (\($0.client) to \($0.server))" } ?? "")
    }
    throw DataClientError(
      .unreadable,
      "the session has requests of several clients or to several servers; choose a connection, or "
        + "convert those of one with --filter 'address == …' first: "
        + known.joined(separator: ", ") + (seen.count > Self.shownLimit ? ", …" : ""))
  }
}

extension HTTPMessage {
  /// The request target that a client is sent to whose library goes there by itself (RFC 9110 section 15.4).
  fileprivate var redirection: String? {
    guard let status, [301, 302, 303, 307, 308].contains(status),
      let location = head.fields(named: "Location").first?.value, !location.isEmpty
    else { return nil }
    let target = location.contains("://") ? HTTPBase(ofURL: location).rest : location
    return target.hasPrefix("/") ? String(target.prefix { $0 != "#" }) : nil
  }
}

extension Event {
  /// The answer to an exchange as that to another one.
  fileprivate func renamed(_ place: (connection: Int, exchange: Int)) -> Event {
    guard case .http(let part) = body else { return self }
    var event = self
    event.context.connection = place.connection
    switch part {
    case .request: break
    case .response(_, let message):
      event.body = .http(.response(exchange: place.exchange, message))
    case .unanswered(_, let cause, let reason):
      event.body = .http(.unanswered(exchange: place.exchange, cause, reason: reason))
    }
    return event
  }
}
