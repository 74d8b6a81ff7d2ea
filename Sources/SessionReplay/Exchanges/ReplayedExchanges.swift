package import RepriseCore
package import Wire

/// One end of a session over HTTP, replayed to whoever is at the other one.
///
/// Requests and answers belong to the session, and not to a connection: a client may open one for each request, or keep
/// one for all, whatever the recorded one did. Which connection something came on, or goes out on, is its driver's to
/// know, as are sockets and clocks.
///
/// A **server** finds a request among all that the session still has to answer, in any order, and of equal ones the first;
/// its answer comes as much later as it did. A **client** sends each request when all that stands before it in the session
/// has happened.
package struct ReplayedExchanges: Sendable {
  /// The session.
  package let exchanges: [ScriptExchange]
  /// The end that this is.
  package let own: Peer
  let settings: ReplaySettings
  var tempo: ReplayTempo
  /// What became of each exchange.
  private(set) var states: [State]
  /// How many are not done.
  private var open: Int
  /// Both halves of all exchanges, in order.
  let steps: [Step]
  /// The first step that did not happen.
  private(set) var first = 0
  /// The first request that did not come.
  private(set) var firstAwaited = 0
  /// The requests that did not come, by what they name.
  var awaited: [Name: [Int]] = [:]
  /// The requests that this end has to answer.
  var unanswered: [Int] = []
  /// Which values were made anew.
  var bindings = ReplayBindings()
  /// What happened last: when, and when in the session.
  private(set) var progress: (time: Timestamp, recorded: Timestamp)

  /// How many requests are looked at to find the one that came.
  static let reach = 256

  /// How far an exchange is.
  enum State: Sendable, Hashable {
    case awaited
    /// It was asked at this time.
    case asked(Timestamp)
    case done
  }

  /// A half of an exchange.
  struct Step: Sendable {
    let exchange: Int
    let isAnswer: Bool
  }

  /// What a request names, by which it is found.
  struct Name: Sendable, Hashable {
    let method: String
    let path: String

    init(_ request: HTTPMessage) {
      guard case .request(let method, let target) = request.start else {
        (method, path) = ("", "")
        return
      }
      (self.method, path) = (method, HTTPTarget(target).path)
    }
  }

  /// What came of what the other end said.
  package enum Taken: Sendable {
    /// It is that of an exchange.
    case matched(Int)
    /// The session need not have it.
    case passed
    /// The session has something else.
    case diverged(ReplayDivergence)
  }

  /// Creates an end of which nothing has happened.
  /// - Parameters:
  ///   - exchanges: The session.
  ///   - own: The end that this is.
  ///   - settings: How it is replayed.
  ///   - now: The time.
  package init(
    _ exchanges: [ScriptExchange], as own: Peer, _ settings: ReplaySettings, at now: Timestamp
  ) {
    (self.exchanges, self.own, self.settings) = (exchanges, own, settings)
    tempo = ReplayTempo(settings.speed)
    states = exchanges.map { _ in .awaited }
    open = exchanges.count
    steps = Self.steps(of: exchanges)
    progress = (now, exchanges.first?.asked.time ?? now)
    guard own == .server else { return }
    for (index, exchange) in exchanges.enumerated() {
      awaited[Name(exchange.request), default: []].append(index)
    }
  }

  private static func steps(of exchanges: [ScriptExchange]) -> [Step] {
    var steps: [(order: Int, step: Step)] = []
    for (index, exchange) in exchanges.enumerated() {
      steps.append((exchange.asked.order, Step(exchange: index, isAnswer: false)))
      if let answer = exchange.answer {
        steps.append((answer.moment.order, Step(exchange: index, isAnswer: true)))
      }
    }
    return steps.sorted { $0.order < $1.order }.map(\.step)
  }

  // MARK: Where it is

  /// Whether all of it has happened.
  package var isDone: Bool { open == 0 }

  /// Whether a request was asked.
  package func isAsked(_ index: Int) -> Bool { states[index] != .awaited }

  /// The requests that did not come and are near enough to be next, in order.
  var near: some Sequence<Int> {
    (firstAwaited..<exchanges.count).lazy.filter { states[$0] == .awaited }.prefix(Self.reach)
  }

  /// Takes note that something was asked.
  mutating func begin(_ index: Int, at now: Timestamp) {
    states[index] = .asked(now)
    note(exchanges[index].asked.time, at: now)
    // What becomes of it is not recorded.
    if exchanges[index].answer == nil { finish(index, at: now) }
  }

  /// Takes note that nothing more becomes of a request.
  mutating func finish(_ index: Int, at now: Timestamp) {
    guard states[index] != .done else { return }
    states[index] = .done
    open -= 1
    note(exchanges[index].answer?.moment.time ?? exchanges[index].asked.time, at: now)
  }

  private mutating func note(_ recorded: Timestamp, at now: Timestamp) {
    tempo.note(now, recorded)
    progress = (now, max(progress.recorded, recorded))
    while firstAwaited < states.count, states[firstAwaited] != .awaited { firstAwaited += 1 }
    while first < steps.count, hasHappened(steps[first]) { first += 1 }
  }

  private func hasHappened(_ step: Step) -> Bool {
    states[step.exchange] == .done || !step.isAnswer && states[step.exchange] != .awaited
  }

  // MARK: Values that were made anew

  /// Where the halves of an exchange stand, to those who ask which values they know.
  static func positions(of index: Int) -> (request: Int, answer: Int) {
    (2 * index, 2 * index + 1)
  }

  /// Takes note of the values by which a message of the other end differs.
  mutating func bind(_ comparison: ReplayComparison, at position: Int) {
    let oldest = min(unanswered.min() ?? firstAwaited, firstAwaited)
    bindings.bind(comparison, at: position, handingOut: 2 * oldest)
  }

  /// A recorded message of this end with the values that the other end has made anew.
  func made(_ message: HTTPMessage, at position: Int) -> HTTPMessage {
    guard !bindings.isEmpty else { return message }
    var made = message
    if case .request(_, let target) = message.start,
      let own = bindings.rewritten(target: target, at: position)
    {
      made = message.asking(own)
    } else if let place = message.head.fields(named: "Location").first?.value,
      let own = bindings.rewritten(target: place, at: position)
    {
      made = message.sending(to: own)
    }
    if let body = bindings.rewritten(message.body, by: settings.options.roles, at: position) {
      made.body = body
    }
    return made
  }
}

extension HTTPMessage {
  /// It with another head.
  /// - Parameter head: The head.
  /// - Returns: The message; the same where the head is none.
  package func replacing(_ head: HTTPHead) -> HTTPMessage {
    HTTPMessage(head, body: body, missing: missing, isDecoded: isDecoded) ?? self
  }

  /// A request for something else.
  fileprivate func asking(_ target: String) -> HTTPMessage {
    guard case .request(let method, _) = start else { return self }
    return replacing(
      HTTPHead(startLine: "\(method) \(target) \(httpVersion)", fields: head.fields))
  }

  /// A response that names another place.
  fileprivate func sending(to place: String) -> HTTPMessage {
    let fields = head.fields.map { field in
      field.name.lowercased() == "location" ? HTTPHead.Field(field.name, place) : field
    }
    return replacing(HTTPHead(startLine: head.startLine, fields: fields))
  }
}
