import RepriseCore

/// A service's connection to its broker, as a value, with the service behind it.
struct ServiceConnection<Service: BrokerService>: Sendable {
  /// What happened.
  enum Input {
    /// The service runs.
    case started
    /// The client told something.
    case received(ClientEvent)
    /// The client refused an action; nothing was sent.
    case refused(ClientAction, DataClientError)
  }

  /// What to do.
  enum Output: Hashable {
    case perform(ClientAction)
    case dropPublisher(of: String)
    case fail(SimulatorError)
    /// The broker refuses these filters, without which the service goes on.
    case lack([String])
    case finish
  }

  private let options: ConnectOptions
  private let rules: ConnectionKeeper.Rules
  var service: Service
  private var keeper: ConnectionKeeper
  private var subscribing: ClientAction.ID?
  private var lastID: UInt32 = 0
  /// What the service is to be told as soon as there is a connection.
  private var commands: [Service.Input] = []

  init(_ service: Service, options: ConnectOptions, backOff: BackOff, retryLimit: Int?) {
    self.service = service
    self.options = options
    // A broker answers when it can: what waits for it is the command, which ends when the user says so.
    rules = ConnectionKeeper.Rules(
      connectTimeout: nil, closeTimeout: .zero, backOff: backOff, retryLimit: retryLimit)
    keeper = Self.keeper(rules)
  }

  private static func keeper(_ rules: ConnectionKeeper.Rules) -> ConnectionKeeper {
    ConnectionKeeper(rules, random: SeededGenerator(seed: 0))
  }

  /// When the connection wants to be asked again; what the service has to say waits for it.
  var deadline: Timestamp? { keeper.link == .open ? service.deadline : keeper.deadline }

  mutating func command(_ command: Service.Input) { commands.append(command) }

  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    switch input {
    case .started:
      // The connection of a run before was closed with it.
      keeper = Self.keeper(rules)
      return follow(keeper.start(now) ?? [], now)
    case .received(let event): return receive(event, now)
    case .refused(let action, let error):
      // What can't be sent is lost, as it is on its way through a network.
      guard case .connect = action.kind else { return [] }
      return follow(keeper.noteRefusal(error, now), now)
    }
  }

  private mutating func receive(_ event: ClientEvent, _ now: Timestamp) -> [Output] {
    switch event {
    case .connected: return follow(keeper.noteConnected(now), now)
    case .subscribed(let id, let granted): return noteGranted(id, granted, now)
    case .message(let message):
      guard keeper.link == .open else { return [] }
      return tell([.received(message)], now)
    case .closed(let reason): return follow(keeper.noteClosed(reason, now), now)
    case .deadline, .woken: return pass(now)
    case .ended: return [.finish]
    case .failed(_, let failure):
      // Going on, an SDK would wait for answers that never come, and nobody would know why.
      return [
        .fail(SimulatorError(.notPublished, "what the simulator sends does not arrive: \(failure)"))
      ]
    case .unsubscribed, .published, .text, .binary, .response: return []
    }
  }

  private mutating func noteGranted(
    _ id: ClientAction.ID, _ granted: [QoS?], _ now: Timestamp
  ) -> [Output] {
    guard id == subscribing, case .restoring = keeper.link else { return [] }
    // A client may have asked for less in several filters; none of them is refused.
    let refused = zip(service.filters, granted).filter { $0.1 == nil }.map(\.0)
    let optional = Set(service.optionalFilters)
    guard !granted.isEmpty, optional.isSuperset(of: refused) else {
      let filters = service.filters.filter { !optional.contains($0) }.joined(separator: " or ")
      return [.fail(SimulatorError(.notSubscribed, "the broker refuses \(filters)"))]
    }
    return (refused.isEmpty ? [] : [.lack(refused)]) + follow(keeper.noteRestored(), now)
  }

  /// Does what is due by now.
  private mutating func pass(_ now: Timestamp) -> [Output] {
    guard keeper.link == .open else { return follow(keeper.expire(now), now) }
    defer { commands = [] }
    return tell([.timePassed] + commands, now)
  }

  // MARK: The connection

  /// Does what the keeper of the connection wants.
  private mutating func follow(_ steps: [ConnectionKeeper.Step], _ now: Timestamp) -> [Output] {
    var outputs: [Output] = []
    for step in steps {
      switch step {
      case .connect: outputs.append(.perform(ClientAction(nextID(), .connect(options))))
      case .restore:
        let id = nextID()
        subscribing = id
        let filters = service.filters.map { Subscription($0) }
        outputs.append(.perform(ClientAction(id, .subscribe(filters))))
      case .opened:
        keeper.noteSignOfLife()
        outputs += tell(Service.greetings, now) + pass(now)
      case .down(let reason, isFinal: true): outputs.append(.fail(error(reason)))
      case .down, .disconnect, .stopped: break
      }
    }
    return outputs
  }

  /// Why there will be no connection.
  private func error(_ reason: ConnectionKeeper.Reason) -> SimulatorError {
    if case .closed(let closed) = reason, case .refused = closed, !closed.mayPass {
      return SimulatorError(.refused, "\(closed)")
    }
    let attempts = keeper.failedAttempts + 1
    return SimulatorError(
      .unreachable, "the broker was not reached in \(attempts) attempts: \(reason)")
  }

  // MARK: The service

  private mutating func tell(_ inputs: [Service.Input], _ now: Timestamp) -> [Output] {
    var outputs: [Output] = []
    for input in inputs {
      for output in service.answer(input, now: now) {
        switch output {
        case .publish(let message):
          outputs.append(.perform(ClientAction(nextID(), .publish(message))))
        case .dropPublisher(let topic): outputs.append(.dropPublisher(of: topic))
        }
      }
    }
    return outputs
  }

  private mutating func nextID() -> ClientAction.ID {
    lastID &+= 1
    return ClientAction.ID(rawValue: lastID)
  }
}
