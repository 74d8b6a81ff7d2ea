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

  private enum Phase {
    case idle
    case connecting
    case subscribing(ClientAction.ID)
    case online
    case backingOff(until: Timestamp)
  }

  private let options: ConnectOptions
  private let backOff: CloudBackOff
  var service: Service
  private var phase = Phase.idle
  private var lastID: UInt32 = 0
  private var failures = 0
  /// What the service is to be told as soon as there is a connection.
  private var commands: [Service.Input] = []

  init(_ service: Service, options: ConnectOptions, backOff: CloudBackOff) {
    self.service = service
    self.options = options
    self.backOff = backOff
  }

  /// When the connection wants to be asked again; what the service has to say waits for it.
  var deadline: Timestamp? {
    switch phase {
    case .idle, .connecting, .subscribing: nil
    case .online: service.deadline
    case .backingOff(let time): time
    }
  }

  mutating func command(_ command: Service.Input) { commands.append(command) }

  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    switch input {
    case .started:
      failures = 0
      return connect()
    case .received(let event): return receive(event, now)
    case .refused(let action, let error):
      // What can't be sent is lost, as it is on its way through a network.
      guard case .connect = action.kind else { return [] }
      return wait(error.message, now)
    }
  }

  private mutating func receive(_ event: ClientEvent, _ now: Timestamp) -> [Output] {
    switch event {
    case .connected:
      let id = nextID()
      phase = .subscribing(id)
      return [.perform(ClientAction(id, .subscribe(service.filters.map { Subscription($0) })))]
    case .subscribed(let id, let granted): return noteGranted(id, granted, now)
    case .message(let message):
      guard case .online = phase else { return [] }
      return tell([.received(message)], now)
    case .closed(let reason): return noteClosed(reason, now)
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
    guard case .subscribing(id) = phase else { return [] }
    // A client may have asked for less in several filters; none of them is refused.
    let refused = zip(service.filters, granted).filter { $0.1 == nil }.map(\.0)
    let optional = Set(service.optionalFilters)
    guard !granted.isEmpty, optional.isSuperset(of: refused) else {
      let filters = service.filters.filter { !optional.contains($0) }.joined(separator: " or ")
      return [.fail(SimulatorError(.notSubscribed, "the broker refuses \(filters)"))]
    }
    phase = .online
    failures = 0
    return (refused.isEmpty ? [] : [.lack(refused)]) + tell(Service.greetings, now) + pass(now)
  }

  /// Does what is due by now.
  private mutating func pass(_ now: Timestamp) -> [Output] {
    switch phase {
    case .idle, .connecting, .subscribing: return []
    case .backingOff(let time): return time <= now ? connect() : []
    case .online:
      defer { commands = [] }
      return tell([.timePassed] + commands, now)
    }
  }

  // MARK: The connection

  private mutating func connect() -> [Output] {
    phase = .connecting
    return [.perform(ClientAction(nextID(), .connect(options)))]
  }

  private mutating func noteClosed(_ reason: ClientEvent.Closed, _ now: Timestamp) -> [Output] {
    if case .refused = reason, !reason.mayPass {
      phase = .idle
      return [.fail(SimulatorError(.refused, "\(reason)"))]
    }
    return wait("\(reason)", now)
  }

  private mutating func wait(_ reason: String, _ now: Timestamp) -> [Output] {
    failures += 1
    guard let delay = backOff.delay(after: failures) else {
      phase = .idle
      let message = "the broker was not reached in \(failures) attempts: \(reason)"
      return [.fail(SimulatorError(.unreachable, message))]
    }
    phase = .backingOff(until: now.advanced(by: delay))
    return []
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
