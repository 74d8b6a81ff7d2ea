/// What becomes of the events of a client when some of them go wrong; a value without clock and tasks.
struct FaultMachine: Sendable {
  /// What becomes of an action.
  enum ActionFate {
    case perform, drop, performAndLose
  }

  private struct Held {
    let event: ClientEvent
    let release: Timestamp
  }

  private let faults: [Fault]
  private var random: SeededGenerator
  private var counts: [Fault.Kind: Int] = [:]
  /// What is to be handed out, in this order; what is delayed holds up all behind it.
  private var queue: [Held] = []
  /// A message that lets the next one go first, and when it goes if none comes.
  private var swapped: Held?
  /// Whether there is a connection; what needs one is nothing that happens without it.
  private var isOpen = false
  /// Whether the connection was cut and its closing did not come yet.
  private(set) var isLosing = false
  /// Whether the user woke the reader.
  private var isWokenByUser = false
  /// Whether the injector did, which no user sees; a client joins the two to one.
  private var isNudged = false

  init(_ faults: [Fault], seed: UInt64) {
    self.faults = faults
    random = SeededGenerator(seed: seed)
  }

  /// How long a message lets another one go first that does not come.
  private static let courtesy: Duration = .seconds(10)

  /// When the first event that is held may go.
  var release: Timestamp? { queue.first?.release ?? swapped?.release }

  /// Returns the first event whose time has come.
  mutating func pop(at now: Timestamp) -> ClientEvent? {
    if let first = queue.first, first.release <= now { return queue.removeFirst().event }
    guard queue.isEmpty, let message = swapped, message.release <= now else { return nil }
    return popSwapped()
  }

  /// Returns what is held although its time has not come, because nothing else ever will.
  mutating func popLast() -> ClientEvent? {
    queue.isEmpty ? popSwapped() : queue.removeFirst().event
  }

  /// Returns the message that let another one go first when none came until the deadline.
  mutating func popSwapped() -> ClientEvent? {
    defer { swapped = nil }
    return swapped?.event
  }

  // MARK: Actions

  mutating func take(_ action: ClientAction, at now: Timestamp) -> ActionFate {
    let kind: Fault.Kind
    var isQoS0 = false
    var isAnswered = true
    switch action.kind {
    case .publish(let message): (kind, isQoS0) = (.publish, message.qos == .atMostOnce)
    case .subscribe: kind = .subscribe
    case .send: kind = .request
    case .sendText, .sendBinary: (kind, isAnswered) = (.send, false)
    case .connect, .unsubscribe, .disconnect: return .perform
    }
    guard isOpen || kind == .request else { return .perform }
    for effect in effects(at: kind) {
      switch effect {
      case .disconnect:
        isLosing = true
        return .performAndLose
      case .drop where !isAnswered:
        isNudged = true
        return .drop
      case .drop where isQoS0:
        // A sender at QoS 0 is told that it is written, whatever becomes of it.
        hold(.published(action.id), at: now)
        isNudged = true
        return .drop
      case .fail(let failure) where !isQoS0:
        hold(.failed(action.id, failure), at: now)
        isNudged = true
        return .drop
      case .fail, .drop, .delay, .duplicate, .reorder: continue
      }
    }
    return .perform
  }

  // MARK: Events

  /// Notes that the user wakes the reader.
  mutating func wake() { isWokenByUser = true }

  /// Tells, once, whether the user woke the reader, before the client does.
  mutating func takeWakeEarly() -> Bool {
    guard isWokenByUser else { return false }
    // The client's own telling of the same is still to come.
    (isWokenByUser, isNudged) = (false, true)
    return true
  }

  /// Takes a wake that the client tells of.
  /// - Returns: Whether it is for the user.
  mutating func takeWake() -> Bool {
    if isWokenByUser {
      isWokenByUser = false
      return true
    }
    defer { isNudged = false }
    return !isNudged
  }

  /// Takes an event of the client.
  /// - Returns: Whether the connection is to be cut now.
  mutating func take(_ event: ClientEvent, at now: Timestamp) -> Bool {
    switch event {
    case .connected: isOpen = true
    case .closed: isOpen = false
    default: break
    }
    if isLosing {
      guard case .closed = event else { return false }
      isLosing = false
      // What let another one go first came before the cut, and nothing may come behind the end.
      flushSwapped(now)
      hold(.closed(.lost("a fault was injected: the connection was cut")), at: now)
      return false
    }
    guard let kind = event.faultKind else {
      flushSwapped(now)
      hold(event, at: now)
      return false
    }
    var (delay, copies, isSwapped, isCut) = (Duration.zero, 1, false, false)
    for effect in effects(at: kind) {
      switch effect {
      case .delay(let duration): delay = max(delay, duration)
      case .drop: copies = 0
      case .duplicate: if event.mayBeDoubled, copies > 0 { copies = 2 }
      case .reorder: isSwapped = event.isQoS0
      case .disconnect: isCut = true
      // Only actions fail.
      case .fail: continue
      }
    }
    if isSwapped, swapped == nil, copies > 0, !isCut {
      swapped = Held(event: event, release: now.advanced(by: Self.courtesy))
    } else {
      if !event.isQoS0 { flushSwapped(now) }
      for _ in 0..<copies { hold(event, at: now.advanced(by: delay)) }
      flushSwapped(now)
    }
    guard isCut else { return false }
    isLosing = true
    return true
  }

  /// Notes that the connection could not be cut.
  mutating func keepConnection() { isLosing = false }

  private mutating func flushSwapped(_ now: Timestamp) {
    if let message = popSwapped() { hold(message, at: now) }
  }

  /// Puts an event behind those that are held: a connection keeps the order of its bytes.
  private mutating func hold(_ event: ClientEvent, at time: Timestamp) {
    let release = max(time, queue.last?.release ?? time)
    queue.append(Held(event: event, release: release))
  }

  private mutating func effects(at kind: Fault.Kind) -> [Fault.Effect] {
    let count = (counts[kind] ?? 0) + 1
    counts[kind] = count
    var effects: [Fault.Effect] = []
    for fault in faults where fault.trigger.kind == kind {
      let occurs =
        switch fault.trigger {
        case .at(let number, _): count == number
        case .every(let number, _): count.isMultiple(of: number)
        case .chance(let probability, _): Double.random(in: 0..<1, using: &random) < probability
        }
      if occurs { effects.append(fault.effect) }
    }
    return effects
  }
}

extension ClientEvent {
  fileprivate var faultKind: Fault.Kind? {
    switch self {
    case .connected: .connected
    case .subscribed: .subscribed
    case .published: .published
    case .message: .message
    case .text, .binary: .frame
    case .response: .response
    case .failed: .failed
    case .unsubscribed, .closed, .deadline, .woken, .ended: nil
    }
  }

  /// Whether it may change places with the next one: no receiver may rely on the order of such messages.
  fileprivate var isQoS0: Bool {
    switch self {
    case .message(let message): message.qos == .atMostOnce
    case .text, .binary: true
    default: false
    }
  }

  fileprivate var mayBeDoubled: Bool {
    switch self {
    case .message(let message): message.qos < .exactlyOnce
    case .text, .binary: true
    default: false
    }
  }
}
