import RepriseCore

/// What a ``SteppedClient`` decides, as a value: what is permitted, what is held, and the time.
struct SteppedState: Sendable {
  /// What the reader does next.
  enum Move {
    /// Return this.
    case tell(ClientEvent)
    /// Ask the world.
    case read(before: Timestamp?)
    /// Wait until somebody permits something.
    case park
  }

  private enum Phase {
    case resting
    case events(Int, limit: Timestamp?)
    /// Until a moment of the subject; the two others are the same moment for the subject and the world.
    case time(until: Timestamp, from: Timestamp, world: Timestamp)
    case closing(limit: Timestamp?)
  }

  private struct Copies {
    var sent = 0
    var told = 0
  }

  /// The subject's time.
  private(set) var now: Timestamp
  private let patience: Duration?
  private var phase = Phase.resting
  private var held: [ClientEvent] = []
  /// Messages of QoS 0 that the world has not written yet; no cloud answers them, so no step does.
  private var unwritten: Set<ClientAction.ID> = []
  private var written: [ClientEvent] = []
  private var copies: [Message: Copies] = [:]
  private var isOpen = false
  private(set) var isLeaving = false
  /// The world has no more events: time passes all the same.
  private var isWorldOver = false
  /// Whether what the reader asked for last was that a moment comes.
  private var hasReachedLimit = false
  var isWoken = false
  var isEnded = false
  private(set) var failure: SteppedClient.Failure?

  init(now: Timestamp, patience: Duration?) {
    self.now = now
    self.patience = patience
  }

  /// How many actions were performed and events told.
  private(set) var happened = 0
  /// How many connections were asked for.
  private(set) var connections = 0

  /// The number of what happened last, its connection and the subject's time; 1 before anything has.
  var place: ReplayPlace {
    ReplayPlace(frame: max(1, happened), connection: max(1, connections), time: now)
  }

  /// Whether there is nothing for the reader.
  var isIdle: Bool {
    guard case .resting = phase else { return false }
    return !isWoken && !isEnded && unwritten.isEmpty && written.isEmpty
  }

  /// The nanoseconds since the `wait` began; nil when there is none.
  var elapsed: Int64? {
    guard case .time(_, let start, _) = phase else { return nil }
    return now.nanoseconds(since: start)
  }

  mutating func fail(_ failure: SteppedClient.Failure) {
    self.failure = self.failure ?? failure
    phase = .resting
  }

  mutating func begin(_ permit: SteppedClient.Permit, at moment: Timestamp) {
    guard failure == nil else { return }
    let limit = patience.map { moment.advanced(by: $0) }
    switch permit {
    case .events(let count): phase = count > 0 ? .events(count, limit: limit) : .resting
    case .time(let duration):
      phase = .time(until: now.advanced(by: duration), from: now, world: moment)
    case .jump(let duration):
      let start = now
      now = now.advanced(by: duration)
      phase = .time(until: now, from: start, world: moment)
    case .closing: phase = .closing(limit: limit)
    }
  }

  // MARK: Actions

  /// Notes an action.
  /// - Returns: Whether it may be performed.
  mutating func take(_ action: ClientAction) -> Bool {
    guard !isEnded else { return false }
    happened += 1
    switch action.kind {
    case .connect:
      isOpen = true
      connections += 1
    case .disconnect: isLeaving = isOpen
    case .publish(let message) where message.qos == .atMostOnce: unwritten.insert(action.id)
    case .subscribe, .unsubscribe, .publish, .send, .sendText, .sendBinary: break
    }
    return true
  }

  /// Notes that an action was not performed.
  mutating func takeBack(_ action: ClientAction) { unwritten.remove(action.id) }

  /// Counts a message that the cloud sends.
  mutating func expect(_ message: Message) {
    copies[Self.key(message), default: Copies()].sent += 1
  }

  // MARK: Events

  /// Takes what the world told.
  mutating func take(_ event: ClientEvent) {
    switch event {
    case .woken: break
    case .deadline: hasReachedLimit = true
    case .ended:
      isWorldOver = true
      unwritten = []
    case .published(let id) where unwritten.remove(id) != nil: written.append(event)
    case .closed:
      unwritten = []
      held.append(event)
    case .connected, .subscribed, .unsubscribed, .published, .message, .text, .binary, .response,
      .failed:
      held.append(event)
    }
  }

  /// Decides what the reader does next.
  mutating func move(_ deadline: Timestamp?, at moment: Timestamp) -> Move {
    let hasReachedLimit = hasReachedLimit
    self.hasReachedLimit = false
    if isWoken {
      isWoken = false
      return .tell(.woken)
    }
    if isEnded { return .tell(.ended) }
    if !written.isEmpty {
      happened += 1
      return .tell(written.removeFirst())
    }
    if !unwritten.isEmpty { return .read(before: nil) }
    switch phase {
    case .resting: return .park
    case .events(let count, let limit):
      if let event = takeHeld() {
        phase = count > 1 ? .events(count - 1, limit: limit) : .resting
        return .tell(event)
      }
      return wait(until: limit, hasReachedLimit)
    case .closing(let limit):
      while let event = takeHeld() {
        guard case .closed = event else { continue }
        phase = .resting
        return .tell(event)
      }
      return wait(until: limit, hasReachedLimit)
    case .time(let end, let start, let world):
      let target = min(deadline ?? end, end)
      let worldTarget = world.advanced(by: .nanoseconds(target.nanoseconds(since: start)))
      guard target <= now || isWorldOver || (hasReachedLimit && worldTarget <= moment) else {
        return .read(before: worldTarget)
      }
      now = max(now, target)
      if let deadline, deadline <= end { return .tell(.deadline) }
      phase = .resting
      return .park
    }
  }

  private mutating func wait(until limit: Timestamp?, _ hasReachedLimit: Bool) -> Move {
    if isWorldOver {
      fail(.ended)
    } else if hasReachedLimit, let patience {
      fail(.silent(patience))
    } else {
      return .read(before: limit)
    }
    return .park
  }

  /// The oldest event that the world told and that is no copy of a message more than was sent.
  private mutating func takeHeld() -> ClientEvent? {
    while !held.isEmpty {
      let event = held.removeFirst()
      switch event {
      case .message(let message):
        let key = Self.key(message)
        guard let count = copies[key] else { return event }
        if count.told >= count.sent { continue }
        copies[key]?.told += 1
      case .closed: (isOpen, isLeaving) = (false, false)
      case .connected, .subscribed, .unsubscribed, .published, .text, .binary, .response, .failed,
        .deadline, .woken, .ended:
        break
      }
      happened += 1
      return event
    }
    return nil
  }

  /// A broker whose client has several subscriptions for a message may send it as often (MQTT 3.1.1
  /// section 3.3.5), each time with the QoS that was granted.
  private static func key(_ message: Message) -> Message {
    Message(topic: message.topic, payload: message.payload)
  }
}
