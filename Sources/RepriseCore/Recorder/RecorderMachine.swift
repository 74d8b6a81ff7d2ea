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

  /// A connection that lives shorter is one more failure in a row: two clients of one name would
  /// throw each other out for ever.
  private static let shortLife: Duration = .seconds(10)

  private let plan: RecorderPlan
  private var keeper: ConnectionKeeper
  private var subscribing: ClientAction.ID?
  private var lastID: UInt32 = 0
  /// When recording is over.
  private var end: Timestamp?
  /// When the next file begins.
  private var nextFile: Timestamp?
  private var hasBeenConnected = false
  /// When the connection will have lived long enough to count as a success.
  private var provenAt: Timestamp?

  /// How many messages came.
  private(set) var messages = 0

  init(_ plan: RecorderPlan) {
    self.plan = plan
    // A recording goes on after a broker's maintenance; only the first try must not fail.
    let rules = ConnectionKeeper.Rules(
      connectTimeout: plan.patience, closeTimeout: plan.patience,
      backOff: BackOff(jitterPercent: 0), givesUpWhenRefused: false)
    keeper = ConnectionKeeper(rules, random: SeededGenerator(seed: 0))
  }

  /// Whether there is a connection that is to be closed in good order.
  var isOpen: Bool {
    switch keeper.link {
    case .idle, .identifying, .backingOff, .ended: false
    case .connecting, .restoring, .open, .closing: true
    }
  }

  /// When the machine wants to be asked again.
  var deadline: Timestamp? { [keeper.deadline, end, nextFile].compactMap { $0 }.min() }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When.
  /// - Returns: What to do, in this order.
  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    switch input {
    case .started:
      end = plan.duration.map(now.advanced(by:))
      return follow(keeper.start(now) ?? [], now)
    case .refused(let error): return follow(keeper.noteRefusal(error, now), now)
    case .received(let event): return received(event, now)
    }
  }

  private mutating func received(_ event: ClientEvent, _ now: Timestamp) -> [Output] {
    switch event {
    case .connected:
      if !hasBeenConnected { nextFile = plan.fileInterval.map(now.advanced(by:)) }
      hasBeenConnected = true
      return [.tell(.connected)] + follow(keeper.noteConnected(now), now)
    case .subscribed(let id, let granted): return subscribed(id, granted, now)
    case .message, .text, .binary:
      messages += 1
      return messages == plan.messageCount ? [.end(.count)] : []
    case .closed(let reason):
      if let provenAt, provenAt <= now { keeper.noteSignOfLife() }
      provenAt = nil
      return follow(keeper.noteClosed(reason, now), now)
    case .deadline, .woken: return pass(now)
    case .ended: return [.end(.world)]
    case .unsubscribed, .published, .failed, .response: return []
    }
  }

  private mutating func subscribed(
    _ id: ClientAction.ID, _ granted: [QoS?], _ now: Timestamp
  ) -> [Output] {
    guard id == subscribing, case .restoring = keeper.link else { return [] }
    var lowered: [Subscription] = []
    for (wanted, granted) in zip(plan.subscriptions, granted) {
      guard let granted else { return [.fail(.notSubscribed(filter: wanted.filter))] }
      if granted < wanted.qos { lowered.append(Subscription(wanted.filter, qos: granted)) }
    }
    return [.tell(.subscribed(lowered: lowered))] + follow(keeper.noteRestored(), now)
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
    return outputs + follow(keeper.expire(now), now)
  }

  // MARK: The connection

  /// Does what the keeper of the connection wants.
  private mutating func follow(_ steps: [ConnectionKeeper.Step], _ now: Timestamp) -> [Output] {
    var outputs: [Output] = []
    for step in steps {
      switch step {
      case .connect: outputs.append(perform(.connect(plan.options)))
      case .disconnect: outputs.append(perform(.disconnect))
      case .restore where plan.subscriptions.isEmpty:
        outputs += [.tell(.listening)] + follow(keeper.noteRestored(), now)
      case .restore:
        outputs.append(perform(.subscribe(plan.subscriptions)))
        subscribing = ClientAction.ID(rawValue: lastID)
      case .opened: provenAt = now.advanced(by: Self.shortLife)
      case .down(let reason, _): outputs.append(noteDown(closed(reason), now))
      case .stopped: break
      }
    }
    return outputs
  }

  private func noteDown(_ reason: ClientEvent.Closed, _ now: Timestamp) -> Output {
    guard hasBeenConnected else { return .fail(.notConnected(reason)) }
    guard plan.reconnects else { return .fail(.lost(reason)) }
    let until = keeper.deadline ?? now
    return .tell(.lost(reason, retryAfter: .nanoseconds(until.nanoseconds(since: now))))
  }

  /// Why there is no connection, in the words of a client.
  private func closed(_ reason: ConnectionKeeper.Reason) -> ClientEvent.Closed {
    switch reason {
    case .closed(let closed), .oscillation(let closed): closed
    case .refused(let error): .lost(error.message)
    case .timedOut: .lost("the server did not answer within \(plan.patience.components.seconds) s")
    case .failed(let failure): .lost("\(failure)")
    case .stopped, .ended: .byUser
    }
  }

  private mutating func perform(_ kind: ClientAction.Kind) -> Output {
    lastID &+= 1
    return .perform(ClientAction(ClientAction.ID(rawValue: lastID), kind))
  }
}
