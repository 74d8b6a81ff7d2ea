import RepriseCore

/// The clients of a broker with their time: who waits, what is on its way, and what happens next.
struct BrokerWorld: TurnWorld {
  typealias Seat = BrokerMachine.Seat
  typealias Reader = TurnTable<ClientEvent>.Reader
  typealias Resumption = TurnTable<ClientEvent>.Resumption

  /// The connection as the client knows it, which is later than the broker does.
  private enum Link {
    case closed, connecting, open, leaving
  }

  private struct Place {
    let name: String
    /// Whether the client speaks MQTT 5.0, as far as refusals go.
    let hearsRefusals: Bool
    let isAwaited: Bool
    var link = Link.closed
    var actions: [ClientAction] = []
  }

  var table = TurnTable<ClientEvent>()

  private let eventLimit: Int
  private var broker = BrokerMachine()
  /// By the number of the client, which is that of its creation; nil for one that has left.
  private var places: [Place?] = []
  private var holds = 0
  private var isEnded = false
  private(set) var now: Timestamp

  init(start: Timestamp, eventLimit: Int) {
    now = start
    self.eventLimit = max(1, eventLimit)
  }

  // MARK: Clients

  mutating func addPlace(named name: String, hearsRefusals: Bool, isAwaited: Bool) -> Seat {
    places.append(Place(name: name, hearsRefusals: hearsRefusals, isAwaited: isAwaited))
    table.add(places.count - 1, isAwaited: isAwaited)
    return places.count - 1
  }

  /// Takes a client out of the world; its connection is lost.
  mutating func removePlace(_ seat: Seat) -> [Resumption] {
    let own = table.remove(seat).map { Resumption($0, .ended) }
    places[seat] = nil
    deliver(broker.lose(seat, "the client has left"))
    return (own.map { [$0] } ?? []) + settle()
  }

  mutating func perform(
    _ seat: Seat, _ action: ClientAction
  ) throws(DataClientError) -> [Resumption] {
    guard let link = places[seat]?.link, !isEnded else {
      throw DataClientError(.notConnected, "the broker is gone")
    }
    switch (action.kind, link) {
    case (.connect, .closed): places[seat]?.link = .connecting
    case (.connect, _): throw DataClientError(.invalidAction, "there is a connection already")
    case (.disconnect, .open), (.disconnect, .connecting): places[seat]?.link = .leaving
    case (_, .open): break
    case (_, _): throw DataClientError(.notConnected, "there is no connection")
    }
    places[seat]?.actions.append(action)
    return settle()
  }

  // MARK: Reading

  mutating func wait(_ seat: Seat, _ reader: Reader, now: Timestamp) -> [Resumption] {
    guard let place = places[seat] else { return [Resumption(reader, .ended)] }
    guard !table.hasReader(seat) else {
      let error = DataClientError(.invalidAction, "only one task can wait for events")
      return [Resumption(reader, error)]
    }
    table.seat(reader, at: seat, isAwaited: place.isAwaited)
    if let woken = table.takeWoken(seat) { return [Resumption(woken, .woken)] }
    return settle()
  }

  mutating func wake(_ seat: Seat) -> [Resumption] {
    table.wake(seat)
    return table.takeWoken(seat).map { [Resumption($0, .woken)] } ?? []
  }

  // MARK: What others do to the broker

  mutating func hangUp(named name: String) -> [Resumption] {
    for seat in places.indices where places[seat]?.name == name {
      deliver(broker.hangUp(seat, "the broker has closed the connection"))
    }
    return settle()
  }

  mutating func drop(named name: String) -> [Resumption] {
    for seat in places.indices where places[seat]?.name == name {
      deliver(broker.lose(seat, "the broker has dropped the connection"))
    }
    return settle()
  }

  mutating func dropPublisher(of topic: String) -> [Resumption] {
    guard let seat = broker.publisher(of: topic) else { return [] }
    deliver(broker.lose(seat, "the broker has dropped the connection"))
    return settle()
  }

  mutating func refuse(_ refusal: BrokerMachine.ConnectRefusal) { broker.refuse(refusal) }

  mutating func refuse(filter: String) { broker.refuse(filter: Subscription(filter)) }

  mutating func refuseMessages(to filter: String, code: UInt8) {
    broker.refuseMessages(to: Subscription(filter), code: code)
  }

  mutating func hold() { holds += 1 }

  mutating func release() -> [Resumption] {
    holds -= 1
    return settle()
  }

  mutating func end() -> [Resumption] {
    for seat in places.indices { deliver(broker.lose(seat, "the broker has ended")) }
    for seat in places.indices {
      // What has not reached the broker is answered all the same.
      let isConnecting = places[seat]?.actions.contains { $0.kind.isConnect } ?? false
      guard isConnecting else { continue }
      deliver([.init(seat: seat, event: .closed(.lost("the broker has ended")))])
    }
    isEnded = true
    return settle()
  }

  // MARK: The order of things

  /// Lets happen what can happen without anybody else.
  mutating func settle(_: Timestamp) -> [Resumption] { settle() }

  private mutating func settle() -> [Resumption] {
    var resumptions: [Resumption] = []
    // At the end nobody waits for anybody.
    while isEnded || table.isQuiet {
      performActions()
      guard let resumption = handOutEvent() ?? handOutEnd() ?? handOutDeadline() else { break }
      resumptions.append(resumption)
    }
    return resumptions
  }

  private mutating func performActions() {
    for seat in places.indices {
      guard let actions = places[seat]?.actions, !actions.isEmpty else { continue }
      places[seat]?.actions = []
      for action in actions where !isEnded { deliver(outputs(of: action, seat)) }
    }
  }

  private mutating func outputs(of action: ClientAction, _ seat: Seat) -> [BrokerMachine.Output] {
    switch action.kind {
    case .connect(let options): broker.connect(seat, options)
    case .subscribe(let subscriptions): broker.subscribe(seat, action.id, subscriptions)
    case .unsubscribe(let filters): broker.unsubscribe(seat, action.id, filters)
    case .publish(let message):
      broker.publish(seat, action.id, message, hearsRefusals: places[seat]?.hearsRefusals ?? false)
    case .disconnect: broker.disconnect(seat)
    case .send, .sendText, .sendBinary: []
    }
  }

  private mutating func deliver(_ outputs: [BrokerMachine.Output]) {
    var outputs = outputs[...]
    while let output = outputs.popFirst() {
      guard let count = table.eventCount(of: output.seat) else { continue }
      if case .message = output.event, count >= eventLimit {
        outputs += broker.lose(output.seat, "\(count) events are unread")
        continue
      }
      table.append(output.event, for: output.seat)
    }
  }

  /// Hands out the oldest event that somebody waits for.
  private mutating func handOutEvent() -> Resumption? {
    guard let (seat, reader, event) = table.takeOldestEvent() else { return nil }
    switch event {
    case .connected: if places[seat]?.link == .connecting { places[seat]?.link = .open }
    case .closed: places[seat]?.link = .closed
    case .subscribed, .unsubscribed, .published, .message, .text, .binary, .response, .failed,
      .deadline, .woken, .ended:
      break
    }
    return Resumption(reader, event)
  }

  private mutating func handOutEnd() -> Resumption? {
    guard isEnded else { return nil }
    guard let seat = table.seats.first(where: { table.hasReader($0) }) else { return nil }
    return table.takeReader(seat).map { Resumption($0, .ended) }
  }

  /// Lets time jump to the earliest deadline, of one time to that of the client made first.
  private mutating func handOutDeadline() -> Resumption? {
    guard let (reader, deadline) = table.takeEarliestDeadline(until: holds == 0 ? nil : now) else {
      return nil
    }
    now = max(now, deadline)
    return Resumption(reader, .deadline)
  }
}

extension ClientAction.Kind {
  fileprivate var isConnect: Bool {
    if case .connect = self { true } else { false }
  }
}
