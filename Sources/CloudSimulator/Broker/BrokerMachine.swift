import RepriseCore

/// A broker as a value: what connected clients do goes in, what each is told comes out.
///
/// It keeps MQTT 3.1.1 as far as a client can see it: sessions, retained messages, wills, and one
/// connection for each client identifier. A message that fits several subscriptions of a client comes
/// once, by the highest of their QoS.
struct BrokerMachine: Sendable {
  /// A client as the broker tells it from others; those that were made first are served first.
  typealias Seat = Int

  /// What one client is told.
  struct Output: Sendable, Hashable {
    let seat: Seat
    let event: ClientEvent
  }

  /// Why and how often a CONNECT is refused.
  struct ConnectRefusal: Sendable, Hashable {
    /// The client identifier; nil is every client's.
    let clientID: String?
    let code: UInt8
    var count: Int
  }

  private struct Session {
    var seat: Seat?
    var isKept: Bool
    var will: Message?
    var subscriptions: [Subscription] = []
    /// What came while nobody was connected.
    var waiting: [Message] = []
  }

  /// How many messages are kept for a session without a connection; later ones are lost.
  static let waitingLimit = 10_000

  private var sessions: [String: Session] = [:]
  private var clientIDs: [Seat: String] = [:]
  private var retained: [String: Message] = [:]
  /// The client that sent to a topic last, of those that are connected.
  private var publishers: [String: Seat] = [:]
  private var connectRefusals: [ConnectRefusal] = []
  private var refusedFilters: [Subscription] = []
  private var refusedTopics: [(filter: Subscription, code: UInt8)] = []

  // MARK: Rules

  mutating func refuse(_ refusal: ConnectRefusal) {
    if refusal.count > 0 { connectRefusals.append(refusal) }
  }

  mutating func refuse(filter: Subscription) { refusedFilters.append(filter) }

  mutating func refuseMessages(to filter: Subscription, code: UInt8) {
    refusedTopics.append((filter, max(code, 0x80)))
  }

  /// The connected client that sent to a topic last.
  func publisher(of topic: String) -> Seat? { publishers[topic] }

  // MARK: Connections

  mutating func connect(_ seat: Seat, _ options: ConnectOptions) -> [Output] {
    if let code = refusalCode(options) {
      return [Output(seat: seat, event: .closed(.refused(code: code)))]
    }
    let clientID = options.clientID.isEmpty ? "auto-\(seat)" : options.clientID
    var outputs: [Output] = []
    if let other = sessions[clientID]?.seat {
      // Session taken over (MQTT 5.0 section 3.1.4).
      let text = "another client has connected as \"\(clientID)\""
      outputs += end(other, .byServer(code: 0x8E, text))
    }
    if options.cleanStart { sessions[clientID] = nil }
    let isPresent = sessions[clientID] != nil
    var session = sessions[clientID] ?? Session(isKept: true)
    session.seat = seat
    session.isKept = !options.cleanStart
    session.will = options.will
    let waiting = session.waiting
    session.waiting = []
    sessions[clientID] = session
    clientIDs[seat] = clientID
    let connected = ClientEvent.Connected(isSessionPresent: isPresent)
    outputs.append(Output(seat: seat, event: .connected(connected)))
    return outputs + waiting.map { Output(seat: seat, event: .message($0)) }
  }

  private mutating func refusalCode(_ options: ConnectOptions) -> UInt8? {
    // A session that is to be kept needs a name to be found by (MQTT-3.1.3-8).
    if options.clientID.isEmpty, !options.cleanStart { return 2 }
    let index = connectRefusals.firstIndex {
      $0.clientID == nil || $0.clientID == options.clientID
    }
    guard let index else { return nil }
    let code = connectRefusals[index].code
    connectRefusals[index].count -= 1
    if connectRefusals[index].count == 0 { connectRefusals.remove(at: index) }
    return code
  }

  /// Closes a connection in good order; its will is forgotten.
  mutating func disconnect(_ seat: Seat) -> [Output] {
    guard close(seat) != nil else { return [] }
    return [Output(seat: seat, event: .closed(.byUser))]
  }

  /// Loses a connection; its will is sent.
  mutating func lose(_ seat: Seat, _ reason: String) -> [Output] { end(seat, .lost(reason)) }

  /// Closes a connection in good order without being asked for it; its will is sent.
  mutating func hangUp(_ seat: Seat, _ reason: String) -> [Output] {
    end(seat, .byServer(code: nil, reason))
  }

  private mutating func end(_ seat: Seat, _ reason: ClientEvent.Closed) -> [Output] {
    guard let session = close(seat) else { return [] }
    let closed = Output(seat: seat, event: .closed(reason))
    return [closed] + (session.will.map { route($0) } ?? [])
  }

  private mutating func close(_ seat: Seat) -> Session? {
    guard let clientID = clientIDs.removeValue(forKey: seat), var session = sessions[clientID]
    else { return nil }
    publishers = publishers.filter { $0.value != seat }
    let closed = session
    session.seat = nil
    session.will = nil
    sessions[clientID] = session.isKept ? session : nil
    return closed
  }

  // MARK: Subscriptions

  mutating func subscribe(
    _ seat: Seat, _ id: ClientAction.ID, _ subscriptions: [Subscription]
  ) -> [Output] {
    guard let clientID = clientIDs[seat], var session = sessions[clientID] else { return [] }
    var granted: [QoS?] = []
    var stored: [Output] = []
    for subscription in subscriptions {
      guard !refusedFilters.contains(where: { $0.matches(subscription.filter) }) else {
        granted.append(nil)
        continue
      }
      granted.append(subscription.qos)
      session.subscriptions.removeAll { $0.filter == subscription.filter }
      session.subscriptions.append(subscription)
      stored += retainedMessages(for: subscription).map {
        Output(seat: seat, event: .message($0))
      }
    }
    sessions[clientID] = session
    return [Output(seat: seat, event: .subscribed(id, granted))] + stored
  }

  private func retainedMessages(for subscription: Subscription) -> [Message] {
    let topics = retained.keys.filter { subscription.matches($0) }.sorted()
    return topics.compactMap { topic in
      guard var message = retained[topic] else { return nil }
      message.qos = min(message.qos, subscription.qos)
      return message
    }
  }

  mutating func unsubscribe(
    _ seat: Seat, _ id: ClientAction.ID, _ filters: [String]
  ) -> [Output] {
    guard let clientID = clientIDs[seat] else { return [] }
    sessions[clientID]?.subscriptions.removeAll { filters.contains($0.filter) }
    return [Output(seat: seat, event: .unsubscribed(id))]
  }

  // MARK: Messages

  mutating func publish(
    _ seat: Seat, _ id: ClientAction.ID, _ message: Message, hearsRefusals: Bool
  ) -> [Output] {
    guard clientIDs[seat] != nil else { return [] }
    if let refusal = refusedTopics.first(where: { $0.filter.matches(message.topic) }) {
      guard hearsRefusals, message.qos > .atMostOnce else {
        return [Output(seat: seat, event: .published(id))]
      }
      let failure = ActionFailure.refused(code: refusal.code, reason: nil)
      return [Output(seat: seat, event: .failed(id, failure))]
    }
    publishers[message.topic] = seat
    return [Output(seat: seat, event: .published(id))] + route(message)
  }

  /// Stores a message if it asks for it, and gives it to whoever is subscribed.
  private mutating func route(_ message: Message) -> [Output] {
    if message.isRetained {
      // No bytes take the stored message away, and are themselves not stored.
      retained[message.topic] = message.payload.isEmpty ? nil : message
    }
    var outputs: [Output] = []
    for (clientID, session) in sessions {
      let wanted = session.subscriptions.filter { $0.matches(message.topic) }.map(\.qos).max()
      guard let wanted else { continue }
      var copy = message
      copy.qos = min(message.qos, wanted)
      copy.isRetained = false
      if let seat = session.seat {
        outputs.append(Output(seat: seat, event: .message(copy)))
      } else if copy.qos > .atMostOnce, session.waiting.count < Self.waitingLimit {
        sessions[clientID]?.waiting.append(copy)
      }
    }
    return outputs.sorted { $0.seat < $1.seat }
  }
}
