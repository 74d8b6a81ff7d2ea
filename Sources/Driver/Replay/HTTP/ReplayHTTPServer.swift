package import Glibc
package import RepriseCore
package import SessionReplay
import Wire

/// The recorded server of a session over HTTP, for whatever clients connect to it.
package final class ReplayHTTPServer: ReplayParty {
  /// A client's connection, with what was asked on it.
  private final class Client {
    let link: HTTPLink
    var asked: [Asked] = []

    init(_ link: HTTPLink) { self.link = link }
  }

  /// A request that is under way on a connection, on which answers have the order of requests.
  private struct Asked {
    let exchange: Int
    /// The request without its body.
    let request: HTTPMessage
    /// The answer, where it waits for those before it.
    var answer: [UInt8]?
  }

  private let exchanges: [ScriptExchange]
  private let settings: ReplaySettings
  private var entrance: ReplayEntrance
  /// Whether it begins anew when all was answered.
  private let repeats: Bool
  /// What is played; nil as long as nothing was asked.
  private var machine: ReplayedExchanges?
  private var clients: [Client] = []
  /// When all had happened and nothing was left to be sent.
  private var end: Timestamp?
  package var news = ReplayNews()

  /// Prepares a server.
  /// - Parameters:
  ///   - script: The session.
  ///   - settings: How it is replayed.
  ///   - entrance: Where clients come in.
  ///   - repeats: Whether it begins anew when all was answered.
  package init(
    _ script: SessionScript, _ settings: ReplaySettings, by entrance: ReplayEntrance, repeats: Bool
  ) {
    (exchanges, self.settings) = (script.exchanges, settings)
    (self.entrance, self.repeats) = (entrance, repeats)
  }

  // MARK: Sockets

  package var interests: [pollfd] { [entrance.interest] + clients.map(\.link.interest) }

  package func service(
    _ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp
  ) {
    for (client, file) in zip(clients, events.dropFirst()) where file.revents != 0 {
      for message in client.link.receive(file.revents, &buffer, now) where ending == nil {
        take(message, from: client, now)
      }
      if let fault = client.link.fault, ending == nil { refuse(client, fault, now) }
    }
    entrance.accept(events) { socket in
      // Behind the end there is nothing for a client that comes again.
      guard ending == nil else { return }
      let stream = CaseStream(
        clients.count + 1, from: socket, security: entrance.security, shownPort: nil, nil, nil)
      clients.append(Client(HTTPLink(stream, at: now)))
    }
  }

  private func take(_ request: HTTPMessage, from client: Client, _ now: Timestamp) {
    machine = machine ?? ReplayedExchanges(exchanges, as: .server, settings, at: now)
    switch machine?.take(request: request, at: now) {
    case .matched(let index):
      client.asked.append(Asked(exchange: index, request: request.start(of: 0)))
      news.append(exchanges[index].event(request, now))
    case .diverged(let divergence):
      diverge(divergence, status: 500, tell: client, now)
    case .passed, nil: return
    }
  }

  /// Ends the replay, and tells the client why in the place of an answer, where that is the next one.
  private func diverge(
    _ divergence: ReplayDivergence, status: Int, tell client: Client, _ now: Timestamp
  ) {
    news.diverge(divergence)
    guard client.asked.isEmpty else { return }
    client.link.send(HTTPMessage.refusal(status, "\(divergence)"), now)
  }

  private func refuse(
    _ client: Client, _ fault: HTTPMessageReader.Fault, _ now: Timestamp
  ) {
    // A connection on which nobody spoke HTTP is none of the session.
    guard client.link.hasBegun else { return client.link.reset(now) }
    let played = machine ?? ReplayedExchanges(exchanges, as: .server, settings, at: now)
    guard let divergence = played.absence("the client \(fault.text)") else {
      return client.link.reset(now)
    }
    diverge(divergence, status: fault.status, tell: client, now)
  }

  // MARK: What is due

  package func goOn(_ now: Timestamp) -> Timestamp? {
    for client in clients where client.link.isOver {
      for asked in client.asked { machine?.leave(asked.exchange, at: now) }
    }
    clients.removeAll { $0.link.isOver }
    let wake = ending == nil ? answer(now) : nil
    for client in clients where client.link.hasEnded && !isOwed(client) { client.link.finish(now) }
    clients.removeAll { $0.link.isOver }
    for client in clients where !client.link.hasBegun {
      // A connection on which nothing is said is none of the session.
      if client.link.begin.advanced(by: settings.patience) <= now { client.link.reset(now) }
    }
    guard ending == nil else { return nil }
    if machine?.isDone == true { return settle(now) }
    return earlier(wake, awaitRequests(now))
  }

  /// Answers what is to be answered.
  private func answer(_ now: Timestamp) -> Timestamp? {
    while true {
      switch machine?.answer(at: now) {
      case .answer(let index, let recorded): say(recorded, to: index, now)
      case .end(let index, let how): client(of: index)?.link.close(how, now)
      case .wait(let time): return time
      case .nothing, nil: return nil
      }
    }
  }

  /// Whether an answer to a client is still to come.
  private func isOwed(_ client: Client) -> Bool {
    ending == nil && client.asked.contains { machine?.owes($0.exchange) == true }
  }

  private func client(of exchange: Int) -> Client? {
    clients.first { $0.asked.contains { $0.exchange == exchange } }
  }

  private func say(_ recorded: HTTPMessage, to index: Int, _ now: Timestamp) {
    guard let client = client(of: index),
      let place = client.asked.firstIndex(where: { $0.exchange == index })
    else { return }
    let answer = recorded.answering(client.asked[place].request)
    client.asked[place].answer = answer.head.bytes + answer.body
    news.append(exchanges[index].event(answer, now))
    while let first = client.asked.first, let bytes = first.answer {
      client.link.send(bytes, now)
      client.asked.removeFirst()
      if first.request.isLast { client.link.finish(now) }
    }
  }

  // MARK: The end

  /// Lets go of the clients when all has happened, each when it has what was sent to it.
  private func settle(_ now: Timestamp) -> Timestamp? {
    guard !repeats else {
      machine = nil
      return nil
    }
    for client in clients { client.link.finish(now) }
    guard !clients.isEmpty else {
      news.ending = .done
      return nil
    }
    if clients.contains(where: \.link.hasUnsent) { end = now }
    let last = (end ?? now).advanced(by: ReplayLink.grace)
    end = end ?? now
    if last <= now { news.ending = .done }
    return last
  }

  /// Sees whether the client that was started still sends what is next; others have all the time they want.
  private func awaitRequests(_ now: Timestamp) -> Timestamp? {
    guard entrance.hasCommand else { return nil }
    if let last = entrance.lastArrival(now) {
      guard last <= now, clients.isEmpty else { return last }
      miss("\(entrance.commandEnd) before it had asked for it", now)
      return nil
    }
    guard let deadline = machine?.requestDeadline, deadline <= now else {
      return machine?.requestDeadline
    }
    miss("the client sends nothing more", now)
    return nil
  }

  private func miss(_ why: String, _ now: Timestamp) {
    let played = machine ?? ReplayedExchanges(exchanges, as: .server, settings, at: now)
    news.diverge(played.absence(why))
  }

  package func breakOff(_ now: Timestamp) {
    for client in clients { client.link.finish(now) }
  }

  package var isAwaited: Bool { entrance.isAwaited }

  package func stop() { entrance.stop() }
}
