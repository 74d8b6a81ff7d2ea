/// What a recorder does when, as a value: it connects, subscribes, connects again, and knows the end.
struct RecorderMachine: Sendable {
  /// What happened.
  enum Input: Sendable {
    /// Recording starts.
    case started
    /// The client told something.
    case received(ClientEvent)
    /// The client refused an action; nothing was sent.
    case refused(DataClientError)
  }

  /// What to do.
  enum Output: Sendable, Hashable {
    case perform(ClientAction)
    case tell(RecorderNotice)
    case startNextFile
    case end(RecorderEnd)
    case fail(RecorderError)
  }

  private enum Phase: Hashable {
    case idle
    case connecting(until: Timestamp)
    case subscribing(ClientAction.ID, until: Timestamp)
    case recording
    /// The server kept silent; the end of the connection is awaited.
    case givingUp
    case waiting(until: Timestamp)
  }

  /// A connection that lives shorter is one more failure in a row: two clients of one name would
  /// throw each other out for ever.
  private static let shortLife: Duration = .seconds(10)
  private static let longestDelay: Duration = .seconds(60)

  private let plan: RecorderPlan
  private var phase = Phase.idle
  private var lastID: UInt32 = 0
  /// When recording is over.
  private var end: Timestamp?
  /// When the next file begins.
  private var nextFile: Timestamp?
  private var hasBeenConnected = false
  private var failures = 0
  /// When the connection will have lived long enough to count as a success.
  private var provenAt: Timestamp?

  /// How many messages came.
  private(set) var messages = 0

  init(_ plan: RecorderPlan) { self.plan = plan }

  /// Whether there is a connection that is to be closed in good order.
  var isOpen: Bool {
    switch phase {
    case .idle, .waiting: false
    case .connecting, .subscribing, .recording, .givingUp: true
    }
  }

  /// When the machine wants to be asked again.
  var deadline: Timestamp? {
    let own: Timestamp? =
      switch phase {
      case .idle, .recording, .givingUp: nil
      case .connecting(let time), .subscribing(_, let time), .waiting(let time): time
      }
    return [own, end, nextFile].compactMap { $0 }.min()
  }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When.
  /// - Returns: What to do, in this order.
  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    switch input {
    case .started:
      end = plan.duration.map(now.advanced(by:))
      return connect(now)
    case .refused(let error): return closed(.lost(error.message), now)
    case .received(let event): return received(event, now)
    }
  }

  private mutating func received(_ event: ClientEvent, _ now: Timestamp) -> [Output] {
    switch event {
    case .connected:
      if !hasBeenConnected { nextFile = plan.fileInterval.map(now.advanced(by:)) }
      hasBeenConnected = true
      guard !plan.subscriptions.isEmpty else {
        phase = .recording
        provenAt = now.advanced(by: Self.shortLife)
        return [.tell(.connected), .tell(.listening)]
      }
      let id = nextID()
      phase = .subscribing(id, until: now.advanced(by: plan.patience))
      return [.tell(.connected), .perform(ClientAction(id, .subscribe(plan.subscriptions)))]
    case .subscribed(let id, let granted): return subscribed(id, granted, now)
    case .message, .text, .binary:
      messages += 1
      return messages == plan.messageCount ? [.end(.count)] : []
    case .closed(let reason): return closed(reason, now)
    case .deadline, .woken: return pass(now)
    case .ended: return [.end(.world)]
    case .unsubscribed, .published, .failed, .response: return []
    }
  }

  private mutating func subscribed(
    _ id: ClientAction.ID, _ granted: [QoS?], _ now: Timestamp
  ) -> [Output] {
    guard case .subscribing(id, _) = phase else { return [] }
    var lowered: [Subscription] = []
    for (wanted, granted) in zip(plan.subscriptions, granted) {
      guard let granted else { return [.fail(.notSubscribed(filter: wanted.filter))] }
      if granted < wanted.qos { lowered.append(Subscription(wanted.filter, qos: granted)) }
    }
    phase = .recording
    provenAt = now.advanced(by: Self.shortLife)
    return [.tell(.subscribed(lowered: lowered))]
  }

  /// Does what is due by now.
  private mutating func pass(_ now: Timestamp) -> [Output] {
    if let end, end <= now {
      // Nothing was recorded of a server that has not answered by then.
      return hasBeenConnected
        ? [.end(.duration)] : [.fail(.notConnected(.lost("the server did not answer in time")))]
    }
    var outputs: [Output] = []
    if let time = nextFile, time <= now {
      nextFile = plan.fileInterval.map(now.advanced(by:))
      outputs.append(.startNextFile)
    }
    switch phase {
    case .idle, .recording, .givingUp: break
    case .connecting(let time), .subscribing(_, let time):
      guard time <= now else { break }
      phase = .givingUp
      outputs.append(.perform(ClientAction(nextID(), .disconnect)))
    case .waiting(let time):
      if time <= now { outputs += connect(now) }
    }
    return outputs
  }

  // MARK: The connection

  private mutating func connect(_ now: Timestamp) -> [Output] {
    phase = .connecting(until: now.advanced(by: plan.patience))
    return [.perform(ClientAction(nextID(), .connect(plan.options)))]
  }

  private mutating func closed(_ reason: ClientEvent.Closed, _ now: Timestamp) -> [Output] {
    var reason = reason
    if phase == .givingUp {
      reason = .lost("the server did not answer within \(plan.patience.components.seconds) s")
    }
    phase = .idle
    guard hasBeenConnected else { return [.fail(.notConnected(reason))] }
    guard plan.reconnects else { return [.fail(.lost(reason))] }
    if let provenAt, provenAt <= now { failures = 0 }
    provenAt = nil
    failures += 1
    let delay = min(.seconds(1 << min(failures - 1, 6)), Self.longestDelay)
    phase = .waiting(until: now.advanced(by: delay))
    return [.tell(.lost(reason, retryAfter: delay))]
  }

  private mutating func nextID() -> ClientAction.ID {
    lastID &+= 1
    return ClientAction.ID(rawValue: lastID)
  }
}
