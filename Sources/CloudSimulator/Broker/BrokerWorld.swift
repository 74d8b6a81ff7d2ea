import RepriseCore

/// The clients of a broker with their time: who waits, what is on its way, and what happens next.
///
/// It resumes nobody: what it returns is resumed by the owner of the lock.
struct BrokerWorld: Sendable {
  typealias Seat = BrokerMachine.Seat
  typealias Continuation = CheckedContinuation<ClientEvent, any Error>

  /// A reader with what it gets.
  struct Resumption: Sendable {
    let continuation: Continuation
    let result: Result<ClientEvent, any Error>
  }

  struct Reader: Sendable {
    let ticket: UInt64
    let deadline: Timestamp?
    let continuation: Continuation
  }

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
    var events: [(order: UInt64, event: ClientEvent)] = []
    var reader: Reader?
    var isWoken = false
    /// Its reader was cancelled, and nobody reads on.
    var isResting = false
  }

  private let eventLimit: Int
  private var broker = BrokerMachine()
  /// By the number of the client, which is that of its creation; nil for one that has left.
  private var places: [Place?] = []
  private var lastOrder: UInt64 = 0
  private var lastTicket: UInt64 = 0
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
    return places.count - 1
  }

  /// Takes a client out of the world; its connection is lost.
  mutating func removePlace(_ seat: Seat) -> [Resumption] {
    let reader = takeReader(seat)
    places[seat] = nil
    deliver(broker.lose(seat, "the client has left"))
    let own = reader.map { Resumption(continuation: $0.continuation, result: .success(.ended)) }
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

  mutating func makeTicket() -> UInt64 {
    lastTicket += 1
    return lastTicket
  }

  mutating func read(_ seat: Seat, _ reader: Reader) -> [Resumption] {
    guard let place = places[seat] else { return [Self.resume(reader, .ended)] }
    guard place.reader == nil else {
      let error = DataClientError(.invalidAction, "only one task can wait for events")
      return [Resumption(continuation: reader.continuation, result: .failure(error))]
    }
    places[seat]?.isResting = false
    if place.isWoken {
      places[seat]?.isWoken = false
      return [Self.resume(reader, .woken)]
    }
    places[seat]?.reader = reader
    return settle()
  }

  mutating func cancel(_ seat: Seat, _ ticket: UInt64) -> [Resumption] {
    guard places[seat]?.reader?.ticket == ticket, let reader = takeReader(seat) else { return [] }
    return rest(seat, reader)
  }

  /// Turns a cancelled reader away; the world does not wait for its client until it reads again.
  mutating func rest(_ seat: Seat, _ reader: Reader) -> [Resumption] {
    places[seat]?.isResting = true
    let error = CancellationError()
    return [Resumption(continuation: reader.continuation, result: .failure(error))] + settle()
  }

  mutating func wake(_ seat: Seat) -> [Resumption] {
    if let reader = takeReader(seat) { return [Self.resume(reader, .woken)] }
    places[seat]?.isWoken = true
    return []
  }

  private mutating func takeReader(_ seat: Seat) -> Reader? {
    defer { places[seat]?.reader = nil }
    return places[seat]?.reader
  }

  private static func resume(_ reader: Reader, _ event: ClientEvent) -> Resumption {
    Resumption(continuation: reader.continuation, result: .success(event))
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
  private mutating func settle() -> [Resumption] {
    var resumptions: [Resumption] = []
    while isQuiet {
      performActions()
      guard let resumption = handOutEvent() ?? handOutEnd() ?? handOutDeadline() else { break }
      resumptions.append(resumption)
    }
    return resumptions
  }

  /// Whether every client that the world waits for waits itself; at the end nobody waits for anybody.
  private var isQuiet: Bool {
    isEnded
      || places.allSatisfy { place in
        guard let place, place.isAwaited, !place.isResting else { return true }
        return place.reader != nil
      }
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
      guard let count = places[output.seat]?.events.count else { continue }
      if case .message = output.event, count >= eventLimit {
        outputs += broker.lose(output.seat, "\(count) events are unread")
        continue
      }
      lastOrder += 1
      places[output.seat]?.events.append((lastOrder, output.event))
    }
  }

  /// Hands out the oldest event that somebody waits for.
  private mutating func handOutEvent() -> Resumption? {
    var oldest: (seat: Seat, order: UInt64)?
    for seat in places.indices {
      guard let place = places[seat], place.reader != nil, let first = place.events.first
      else { continue }
      if first.order < oldest?.order ?? .max { oldest = (seat, first.order) }
    }
    guard let seat = oldest?.seat, let event = places[seat]?.events.removeFirst().event,
      let reader = takeReader(seat)
    else { return nil }
    switch event {
    case .connected: if places[seat]?.link == .connecting { places[seat]?.link = .open }
    case .closed: places[seat]?.link = .closed
    case .subscribed, .unsubscribed, .published, .message, .text, .binary, .response, .failed,
      .deadline, .woken, .ended:
      break
    }
    return Self.resume(reader, event)
  }

  private mutating func handOutEnd() -> Resumption? {
    guard isEnded else { return nil }
    for seat in places.indices {
      if let reader = takeReader(seat) { return Self.resume(reader, .ended) }
    }
    return nil
  }

  /// Lets time jump to the earliest deadline, of one time to that of the client made first.
  private mutating func handOutDeadline() -> Resumption? {
    var earliest: (seat: Seat, time: Timestamp)?
    for seat in places.indices {
      guard let deadline = places[seat]?.reader?.deadline else { continue }
      if let other = earliest, other.time <= deadline { continue }
      earliest = (seat, deadline)
    }
    guard let earliest, holds == 0 || earliest.time <= now, let reader = takeReader(earliest.seat)
    else { return nil }
    now = max(now, earliest.time)
    return Self.resume(reader, .deadline)
  }
}

extension ClientAction.Kind {
  fileprivate var isConnect: Bool {
    if case .connect = self { true } else { false }
  }
}
