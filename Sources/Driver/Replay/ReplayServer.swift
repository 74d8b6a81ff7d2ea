package import Glibc
import LiveClient
package import RepriseCore
package import SessionReplay
import Wire

/// The recorded server, for whatever clients connect to it.
package final class ReplayServer: ReplayParty {
  private let script: SessionScript
  private let settings: ReplaySettings
  private var entrance: ReplayEntrance
  /// Whether it begins anew when all connections were served.
  private let repeats: Bool
  private var choice: ConnectionChoice
  private var links: [ReplayLink] = []
  /// The links of connections that were taken, by their places in the script.
  private var taken: [Int: ReplayLink] = [:]
  private var tempos: [Int: ReplayTempo] = [:]
  /// The connections that get what others publish, by what is published.
  private let receivers: [SessionScript.StepPath: [Int]]
  /// What identifiers are in this run, by the client.
  private var identifiers: [String: [UInt16: UInt16]] = [:]
  package var news = ReplayNews()

  /// Prepares a server.
  /// - Parameters:
  ///   - script: The session.
  ///   - settings: How it is replayed.
  ///   - entrance: Where clients come in.
  ///   - repeats: Whether it begins anew when all connections were served.
  package init(
    _ script: SessionScript, _ settings: ReplaySettings, by entrance: ReplayEntrance, repeats: Bool
  ) {
    (self.script, self.settings) = (script, settings)
    (self.entrance, self.repeats) = (entrance, repeats)
    choice = ConnectionChoice(script)
    receivers = script.deliveries.reduce(into: [:]) { receivers, delivery in
      receivers[delivery.value, default: []].append(delivery.key.connection)
    }
  }

  // MARK: Sockets

  package var interests: [pollfd] { [entrance.interest] + links.map(\.connection.interest) }

  package func service(
    _ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp
  ) {
    for (link, file) in zip(links, events.dropFirst()) where file.revents != 0 {
      for unit in link.connection.receive(file.revents, &buffer, now) where ending == nil {
        take(unit, on: link, now)
      }
      if link.connection.isStrange, ending == nil { refuse(link) }
    }
    entrance.accept(events) { socket in
      // Behind the end there is nothing for a client that comes again.
      if ending == nil { links.append(ReplayLink(connection(on: socket), at: now)) }
    }
  }

  /// A connection that a client has made, in the language of the session.
  private func connection(on socket: TCPSocket) -> any ReplayConnection {
    let number = links.count + 1
    guard script.isWebSocket else {
      return ReplayedMQTT(
        CaseConnection(number, from: socket, security: entrance.security, .v3_1_1, nil, nil))
    }
    return ReplayedSocket(
      CaseStream(number, from: socket, security: entrance.security, shownPort: nil, nil, nil), nil)
  }

  private func take(_ unit: ReplayUnit, on link: ReplayLink, _ now: Timestamp) {
    if link.end == nil { guard begin(unit, on: link, now) else { return } }
    guard let index = link.index,
      let step = link.take(
        unit, now, by: &tempos[index, default: ReplayTempo(settings.speed)], &news),
      let end = link.end
    else { return }
    identifiers[end.script.clientID] = end.identifiers
    for other in receivers[.init(connection: index, step: step)] ?? [] {
      tempos[other]?.note(now, end.script.steps[step].time)
    }
  }

  /// Gives a client the connection that it gets by what it says first.
  private func begin(_ unit: ReplayUnit, on link: ReplayLink, _ now: Timestamp) -> Bool {
    guard let index = choice.take(for: unit) else {
      news.diverge(choice.refusal(of: unit, settings))
      return false
    }
    let connection = script.connections[index]
    link.end = ReplayedEnd(
      connection, as: .server, settings, identifiers: identifiers[connection.clientID] ?? [:],
      at: now)
    link.index = index
    taken[index] = link
    tempos[index] = ReplayTempo(settings.speed)
    return true
  }

  private func refuse(_ link: ReplayLink) {
    guard let end = link.end else { return link.connection.reset(link.begin) }
    news.diverge(end.givingUp(link.strangeness))
  }

  // MARK: What is due

  package func goOn(_ now: Timestamp) -> Timestamp? {
    var wake: Timestamp?
    for link in links where ending == nil {
      link.connection.goOn(now)
      wake = earlier(wake, goOn(link, now))
      wake = earlier(wake, link.connection.wakeTime)
      // A connection on which nothing is said is none of the session.
      if link.end == nil, link.begin.advanced(by: settings.patience) <= now {
        link.connection.reset(now)
      }
    }
    links.removeAll { $0.connection.isOver }
    settle(now)
    return wake
  }

  private func goOn(_ link: ReplayLink, _ now: Timestamp) -> Timestamp? {
    guard let index = link.index, var end = link.end, var tempo = tempos[index] else { return nil }
    link.end = nil
    defer { (link.end, tempos[index]) = (end, tempo) }
    if link.hasNewEnd {
      link.isSettled = true
      news.diverge(end.takeEnd(at: now, by: &tempo))
    }
    guard !link.isSettled else { return nil }
    while true {
      switch end.next(at: now, by: &tempo, isFree: { self.isFree($0, index) }) {
      case .send(let unit, let place):
        let said = link.connection.send(unit, now)
        news.append(said.event(at: place, from: .server, now))
      case .end(let how): link.close(how, now)
      case .wait(let time): return time
      case .nothing: return end.isDone ? leave(link, end, now) : news.awaiting(end, by: tempo, now)
      }
    }
  }

  /// Whether what a delivery comes of was published.
  private func isFree(_ step: Int, _ connection: Int) -> Bool {
    guard let source = script.deliveries[.init(connection: connection, step: step)] else {
      return true
    }
    return taken[source.connection]?.end?.isDone(source.step) ?? false
  }

  /// Ends a connection on which all has happened; one whose end is not recorded is the client's to end first.
  private func leave(_ link: ReplayLink, _ end: ReplayedEnd, _ now: Timestamp) -> Timestamp? {
    if link.leaving == nil {
      link.leaving = now.advanced(by: ReplayLink.grace)
      if end.script.hasEnd { link.connection.finish(now) }
    }
    guard let leaving = link.leaving, leaving <= now else { return link.leaving }
    link.connection.finish(now)
    if leaving.advanced(by: ReplayLink.grace) <= now { link.connection.reset(now) }
    return leaving.advanced(by: ReplayLink.grace)
  }

  /// Sees whether all is over.
  private func settle(_ now: Timestamp) {
    guard ending == nil, links.allSatisfy({ $0.end == nil }) else { return }
    guard choice.next != nil else {
      if !repeats { return news.ending = .done }
      choice = ConnectionChoice(script)
      (taken, tempos, identifiers) = ([:], [:], [:])
      return
    }
    guard let last = entrance.lastArrival(now), last <= now else { return }
    let missing = script.isWebSocket ? "asked for WebSocket" : "sent a CONNECT"
    news.diverge(choice.absence("\(entrance.commandEnd) before it had \(missing)", settings))
  }

  package func breakOff(_ now: Timestamp) {
    for link in links { link.connection.finish(now) }
  }

  package var isAwaited: Bool { entrance.isAwaited }

  package func stop() { entrance.stop() }
}
