package import Glibc
import LiveClient
package import RepriseCore
package import SessionReplay
import Wire

/// The recorded clients, for the server that they connect to.
///
/// All of them keep to one order, that of the session: what a client says comes behind all that was said before it on any
/// connection. Only answers wait for nothing but what they answer.
package final class ReplayClients: ReplayParty {
  private let script: SessionScript
  private let settings: ReplaySettings
  private let place: BrokerPlace
  private var tempo: ReplayTempo
  /// The ends of connections that were not begun, in the order in which they do.
  private var waiting: ArraySlice<Int>
  private var links: [ReplayLink] = []
  /// What identifiers are in this run, by the client.
  private var identifiers: [String: [UInt16: UInt16]] = [:]
  package var news = ReplayNews()

  /// Prepares clients.
  /// - Parameters:
  ///   - script: The session.
  ///   - settings: How it is replayed.
  ///   - place: Where the server is.
  package init(_ script: SessionScript, _ settings: ReplaySettings, at place: BrokerPlace) {
    (self.script, self.settings, self.place) = (script, settings, place)
    tempo = ReplayTempo(settings.speed)
    waiting =
      script.connections.indices.sorted {
        script.connections[$0].steps[0].order < script.connections[$1].steps[0].order
      }[...]
  }

  // MARK: Sockets

  package var interests: [pollfd] { links.map(\.connection.interest) }

  package func service(
    _ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp
  ) {
    for (link, file) in zip(links, events) where file.revents != 0 {
      for unit in link.connection.receive(file.revents, &buffer, now) where ending == nil {
        take(unit, on: link, now)
      }
      guard link.connection.isStrange, ending == nil else { continue }
      news.diverge(link.end?.givingUp(link.strangeness))
    }
  }

  private func take(_ unit: ReplayUnit, on link: ReplayLink, _ now: Timestamp) {
    guard link.take(unit, now, by: &tempo, &news) != nil, let end = link.end else { return }
    identifiers[end.script.clientID] = end.identifiers
  }

  // MARK: What is due

  package func goOn(_ now: Timestamp) -> Timestamp? {
    var wake: Timestamp?
    var isMoving = true
    while isMoving, ending == nil {
      isMoving = false
      wake = nil
      for link in links where ending == nil {
        let next = goOn(link, now)
        wake = earlier(wake, next.wake)
        isMoving = isMoving || next.hasMoved
      }
      let next = begin(now)
      wake = earlier(wake, next.wake)
      isMoving = isMoving || next.hasMoved
    }
    links.removeAll { $0.isSettled && $0.end?.isDone != false }
    settle()
    return wake
  }

  /// The first step of the session that did not happen, by its number; nil where all have.
  private func firstOpen(_ now: Timestamp) -> Int? {
    let begun = links.compactMap { $0.end?.firstOpen ?? $0.awaitedEnd(now) }.min()
    let next = waiting.first.map { script.connections[$0].steps[0].order }
    return [begun, next].compactMap(\.self).min()
  }

  /// Begins the next connection where it is its turn.
  private func begin(_ now: Timestamp) -> (wake: Timestamp?, hasMoved: Bool) {
    guard let index = waiting.first else { return (nil, false) }
    let connection = script.connections[index]
    guard connection.steps[0].order == firstOpen(now) else { return (nil, false) }
    let due = tempo.due(connection.steps[0].time)
    guard due <= now else { return (due, false) }
    waiting = waiting.dropFirst()
    do throws(DataClientError) {
      let link = ReplayLink(try open(connection, index + 1, now), at: now)
      link.index = index
      link.end = ReplayedEnd(
        connection, as: .client, settings, identifiers: identifiers[connection.clientID] ?? [:],
        at: now)
      links.append(link)
    } catch { news.ending = .unreachable(error.message) }
    return (nil, true)
  }

  /// Begins to connect, in the language of the session.
  private func open(
    _ connection: ConnectionScript, _ number: Int, _ now: Timestamp
  ) throws(DataClientError) -> any ReplayConnection {
    switch connection.language {
    case .mqtt(let version):
      ReplayedMQTT(try CaseConnection(number, to: place, version, nil, nil, now))
    case .webSocket(let path):
      ReplayedSocket(
        try CaseStream(number, to: place, nil, nil),
        place.webSocket ?? WebSocketTarget(path: path, host: place.name, headers: [:]))
    }
  }

  private func goOn(
    _ link: ReplayLink, _ now: Timestamp
  ) -> (wake: Timestamp?, hasMoved: Bool) {
    link.connection.goOn(now)
    if let problem = link.connection.phase.problem(since: link.begin, now) {
      news.ending = .unreachable(problem)
      return (nil, false)
    }
    guard link.connection.phase != .opening else {
      return (link.begin.advanced(by: CaseStream.Phase.patience), false)
    }
    if link.hasNewEnd { return (nil, settle(link, now)) }
    guard !link.isSettled else { return (nil, false) }
    guard var end = link.end else { return (nil, false) }
    let isFirst = end.firstOpen == firstOpen(now)
    link.end = nil
    defer { link.end = end }
    // Others may come before what is next on this one.
    switch end.next(at: now, by: &tempo, isFree: { _ in isFirst }) {
    case .send(let unit, let place):
      let said = link.connection.send(unit, now)
      news.append(said.event(at: place, from: .client, now))
      return (nil, true)
    case .end(let how):
      link.close(how, now)
      return (nil, true)
    case .wait(let time): return (earlier(time, ping(link, end, now)), false)
    case .nothing:
      if end.isDone, end.script.hasEnd {
        link.connection.finish(now)
        link.left = link.left ?? now
      }
      let grace = link.left?.advanced(by: ReplayLink.grace)
      let wake =
        end.isDone ? grace.flatMap { $0 > now ? $0 : nil } : news.awaiting(end, by: tempo, now)
      return (earlier(wake, ping(link, end, now)), false)
    }
  }

  private func settle(_ link: ReplayLink, _ now: Timestamp) -> Bool {
    link.isSettled = true
    news.diverge(link.end?.takeEnd(at: now, by: &tempo))
    return true
  }

  /// Says that the client lives, where the recorded one has kept to its Keep Alive and the replay is slower.
  /// - Returns: When to say it next; nil where it need not be said.
  private func ping(_ link: ReplayLink, _ end: ReplayedEnd, _ now: Timestamp) -> Timestamp? {
    guard end.keepsAlive, let sent = end.sent?.time, !link.connection.isOver else { return nil }
    let last = max(sent, link.lastPing ?? sent)
    let due = last.advanced(by: .seconds(Int64(end.script.keepAlive)))
    guard due <= now else { return due }
    link.lastPing = now
    link.connection.ping(now)
    return now.advanced(by: .seconds(Int64(end.script.keepAlive)))
  }

  /// Sees whether all is over; clients whose end is not recorded leave then in good order.
  private func settle() {
    guard ending == nil, waiting.isEmpty,
      links.allSatisfy({ $0.end?.isDone ?? true })
    else { return }
    news.ending = .done
  }

  package func breakOff(_ now: Timestamp) {
    for link in links where !link.connection.isOver { link.connection.leave(now) }
  }
}
