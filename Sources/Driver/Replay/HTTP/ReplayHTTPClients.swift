package import Glibc
import LiveClient
package import RepriseCore
package import SessionReplay
import Wire

/// The recorded clients of a session over HTTP, for the server that they connect to.
///
/// A request goes out on the connection that the recorded one was on, as long as the server keeps it, and on a new one
/// otherwise.
package final class ReplayHTTPClients: ReplayParty {
  /// A connection, with what was asked on it.
  private final class Connection {
    let link: HTTPLink
    /// The number of the recorded one.
    let number: Int
    /// What has no answer, the oldest first.
    var asked: [Asked] = []
    /// Whether the server has answered anything on it.
    var isKept = false
    /// Whether the server has said that it ends it.
    var isLast = false

    init(_ link: HTTPLink, _ number: Int) { (self.link, self.number) = (link, number) }
  }

  private struct Asked {
    let exchange: Int
    let request: HTTPMessage
    /// Whether it was asked before, on a connection that ended.
    let isAgain: Bool
  }

  private let exchanges: [ScriptExchange]
  private let settings: ReplaySettings
  private let place: BrokerPlace
  private let target: HTTPServerPlace
  private var machine: ReplayedExchanges?
  private var connections: [Connection] = []
  /// The last exchange of each recorded connection.
  private let last: [Int: Int]
  package var news = ReplayNews()

  /// Prepares clients.
  /// - Parameters:
  ///   - script: The session.
  ///   - settings: How it is replayed.
  ///   - place: Where the server is.
  ///   - target: What is asked for there.
  package init(
    _ script: SessionScript, _ settings: ReplaySettings, at place: BrokerPlace,
    _ target: HTTPServerPlace
  ) {
    (exchanges, self.settings) = (script.exchanges, settings)
    (self.place, self.target) = (place, target)
    last = exchanges.enumerated().reduce(into: [:]) { $0[$1.element.connection] = $1.offset }
  }

  // MARK: Sockets

  package var interests: [pollfd] { connections.map(\.link.interest) }

  package func service(
    _ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp
  ) {
    for (connection, file) in zip(connections, events) where file.revents != 0 {
      for message in connection.link.receive(file.revents, &buffer, now) where ending == nil {
        take(message, on: connection, now)
      }
      if let fault = connection.link.fault, ending == nil { refuse(connection, fault.text) }
      if connection.link.hasEnded, ending == nil { takeEnd(of: connection, now) }
    }
  }

  private func take(_ answer: HTTPMessage, on connection: Connection, _ now: Timestamp) {
    guard let asked = connection.asked.first else {
      // By that a server may end a connection on which nothing is asked any more (RFC 9110 section 15.5.9).
      guard answer.status == 408 else {
        return refuse(connection, "sends an answer that nothing was asked for")
      }
      connection.isLast = true
      return connection.link.finish(now)
    }
    connection.asked.removeFirst()
    connection.isKept = true
    connection.isLast = connection.isLast || answer.isLast
    switch machine?.take(answer: answer, to: asked.exchange, at: now) {
    case .matched(let index): news.append(exchanges[index].event(answer, now))
    case .diverged(let divergence): news.diverge(divergence)
    case .passed, nil: break
    }
    let isOver = last[connection.number].map { machine?.isAsked($0) == true } ?? true
    if connection.asked.isEmpty, isOver || connection.isLast { connection.link.finish(now) }
  }

  private func refuse(_ connection: Connection, _ why: String) {
    let divergence =
      connection.asked.first.map { machine?.missingAnswer(to: $0.exchange, why) }
      ?? machine?.givingUp(why)
    guard let divergence else { return connection.link.reset(connection.link.begin) }
    news.diverge(divergence)
  }

  /// Takes the end of a connection; what has no answer is asked again where the server had said nothing of it.
  private func takeEnd(of connection: Connection, _ now: Timestamp) {
    // One that never was there is told by its state.
    if case .over(_?) = connection.link.phase { return }
    let unanswered = connection.asked
    connection.asked = []
    for asked in unanswered where ending == nil {
      let isExpected = machine?.endsWithoutAnswer(asked.exchange) ?? false
      if connection.isKept, !asked.isAgain, !isExpected {
        // A server may end a connection that it has kept at any time (RFC 9112 section 9.5).
        send(asked.request, of: asked.exchange, isAgain: true, now)
      } else {
        news.diverge(machine?.takeEnd(of: asked.exchange, at: now))
      }
    }
  }

  // MARK: What is due

  package func goOn(_ now: Timestamp) -> Timestamp? {
    machine = machine ?? ReplayedExchanges(exchanges, as: .client, settings, at: now)
    var wake = ask(now)
    for connection in connections where ending == nil {
      wake = earlier(wake, watch(connection, now))
    }
    connections.removeAll { $0.link.isOver && $0.asked.isEmpty }
    guard ending == nil, let machine else { return nil }
    if machine.isDone { news.ending = .done }
    if let deadline = machine.answerDeadline {
      wake = earlier(wake, deadline)
      if deadline <= now { news.diverge(machine.givingUp("sends nothing more")) }
    }
    return wake
  }

  /// Asks what is to be asked.
  private func ask(_ now: Timestamp) -> Timestamp? {
    while ending == nil {
      switch machine?.ask(at: now) {
      case .ask(let index, let recorded):
        let request = recorded.asked(at: target)
        news.append(exchanges[index].event(request, now))
        send(request, of: index, isAgain: false, now)
      case .leave(let index, let how):
        let connection = connections.first { $0.asked.contains { $0.exchange == index } }
        connection?.asked.removeAll { $0.exchange == index }
        connection?.link.close(how, now)
      case .wait(let time): return time
      case .nothing, nil: return nil
      }
    }
    return nil
  }

  private func send(_ request: HTTPMessage, of index: Int, isAgain: Bool, _ now: Timestamp) {
    do throws(DataClientError) {
      let connection = try connection(for: exchanges[index], now)
      connection.asked.append(Asked(exchange: index, request: request, isAgain: isAgain))
      connection.link.ask(request, now)
    } catch { news.ending = .unreachable(error.message) }
  }

  /// The connection that a request goes out on.
  private func connection(
    for exchange: ScriptExchange, _ now: Timestamp
  ) throws(DataClientError) -> Connection {
    let kept = connections.first { connection in
      connection.number == exchange.connection && !connection.isLast && !connection.link.hasEnded
        && (exchange.isOnOneConnection || connection.asked.isEmpty)
    }
    if let kept { return kept }
    let stream = try CaseStream(connections.count + 1, to: place, nil, nil)
    let connection = Connection(HTTPLink(stream, at: now), exchange.connection)
    connections.append(connection)
    return connection
  }

  /// Sees whether a connection comes to be.
  private func watch(_ connection: Connection, _ now: Timestamp) -> Timestamp? {
    let link = connection.link
    if let problem = link.phase.problem(since: link.begin, now) {
      news.ending = .unreachable(problem)
    }
    return link.phase == .opening ? link.begin.advanced(by: CaseStream.Phase.patience) : nil
  }

  package func breakOff(_ now: Timestamp) {
    for connection in connections where !connection.link.isOver { connection.link.finish(now) }
  }
}
