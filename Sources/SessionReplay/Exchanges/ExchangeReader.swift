import RepriseCore
import Wire

/// Gathers the requests of a session over HTTP, with what they were answered by.
struct ExchangeReader: Sendable {
  /// What is known of a connection.
  private struct Connection {
    /// The places of the exchanges without an answer, by their numbers.
    var open: [Int: Int] = [:]
    /// Answers that were complete before their requests, by the numbers of the exchanges.
    var early: [Int: (outcome: ScriptExchange.Outcome, moment: ScriptExchange.Moment)] = [:]
    /// Whether a client told of it, who does not know its own connections.
    var isTold = false
  }

  /// So many answers of a connection wait for their requests.
  private static let mostEarly = 64

  private let limit: Int
  private var size = 0
  private var order = 0
  private var connections: [Int: Connection] = [:]
  /// The requests, in order.
  private(set) var exchanges: [ScriptExchange] = []
  /// The first place where something is missing, and what.
  private(set) var damage: (place: ReplayPlace, what: String)?

  /// Creates a reader that has seen nothing.
  /// - Parameter limit: How many bytes the messages may take.
  init(limit: Int) { self.limit = limit }

  /// Whether there is more than is kept.
  var isFull: Bool { size > limit }

  /// The connections that something was asked on, in order.
  var numbers: [Int] { Set(exchanges.map(\.connection)).sorted() }

  // MARK: Events

  mutating func take(_ part: HTTPPart, _ context: EventContext) {
    guard !isFull else { return }
    size += part.size
    if let message = part.message, message.missing > 0 {
      note("\(message.missing) bytes of a body are missing", context)
    }
    switch part {
    case .request(let number, let message): ask(message, number, context)
    // Behind it comes the one that counts.
    case .response(_, let message) where message.isInterim: return
    case .response(let number, let message): answer(.response(message), number, context)
    case .unanswered(let number, let cause, _):
      answer(.end(by: cause == .timedOut ? .client : .server, .fin), number, context)
    }
  }

  mutating func take(_ opening: ConnectionOpening, _ context: EventContext) {
    connections[context.connection, default: Connection()].isTold = opening.server.contains("://")
  }

  /// Takes the end of a connection, by which whoever has no answer gets none.
  mutating func take(_ closing: ConnectionClosing, _ context: EventContext) {
    guard let connection = connections.removeValue(forKey: context.connection),
      closing.how != .endOfCapture
    else { return }
    let time = min(context.time, closing.firstTime)
    for place in connection.open.values.sorted() {
      exchanges[place].answer = (.end(by: context.sender, closing.how), moment(context, time))
    }
  }

  /// Takes note of something that is missing.
  mutating func note(_ what: String, _ context: EventContext) {
    damage = damage ?? (ReplayPlace(context), what)
  }

  // MARK: Exchanges

  private mutating func ask(_ message: HTTPMessage, _ number: Int, _ context: EventContext) {
    var connection = connections.removeValue(forKey: context.connection) ?? Connection()
    var exchange = ScriptExchange(
      number: number, message, moment(context, context.time), isOnOneConnection: !connection.isTold
    )
    if let early = connection.early.removeValue(forKey: number) {
      exchange.answer = (early.outcome, moment(context, context.time, at: early.moment.place))
    } else {
      connection.open[number] = exchanges.count
    }
    exchanges.append(exchange)
    connections[context.connection] = connection
  }

  private mutating func answer(
    _ outcome: ScriptExchange.Outcome, _ number: Int, _ context: EventContext
  ) {
    guard let place = connections[context.connection]?.open.removeValue(forKey: number) else {
      // A server may answer before it has all of a request; what answers nothing at all is nobody's.
      guard let count = connections[context.connection]?.early.count, count < Self.mostEarly else {
        return
      }
      let moment = moment(context, context.time)
      connections[context.connection]?.early[number] = (outcome, moment)
      return
    }
    exchanges[place].answer = (outcome, moment(context, context.time))
  }

  private mutating func moment(
    _ context: EventContext, _ time: Timestamp, at place: ReplayPlace? = nil
  ) -> ScriptExchange.Moment {
    defer { order += 1 }
    return ScriptExchange.Moment(place: place ?? ReplayPlace(context), order: order, time: time)
  }
}
