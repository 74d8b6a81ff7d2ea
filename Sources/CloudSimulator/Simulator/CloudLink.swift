import DataClient

/// The cloud's own connection to the broker, as a value, with the cloud behind it.
struct CloudLink: Sendable {
  /// What happened.
  enum Input {
    /// The simulator runs.
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
    case fail(CloudError)
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
  private var cloud: CloudMachine
  private var phase = Phase.idle
  private var lastID: UInt32 = 0
  private var failures = 0
  /// What is to be pushed as soon as there is a connection.
  private var commands: [CloudMachine.Input] = []

  init(_ cloud: CloudMachine, options: ConnectOptions, backOff: CloudBackOff) {
    self.cloud = cloud
    self.options = options
    self.backOff = backOff
  }

  /// When the link wants to be asked again; what the cloud has to say waits for a connection.
  var deadline: Timestamp? {
    switch phase {
    case .idle, .connecting, .subscribing: nil
    case .online: cloud.deadline
    case .backingOff(let time): time
    }
  }

  var boundDevices: Set<CloudDevice> { cloud.boundDevices }

  /// What is known of gateways; nil when the script has none.
  var gateways: GatewayCloud? { cloud.gateways }

  mutating func command(_ command: CloudMachine.Input) { commands.append(command) }

  mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    switch input {
    case .started:
      failures = 0
      return connect()
    case .refused(let action, let error): return refused(action, error, now)
    case .received(let event): return received(event, now)
    }
  }

  private mutating func received(_ event: ClientEvent, _ now: Timestamp) -> [Output] {
    switch event {
    case .connected:
      let id = nextID()
      phase = .subscribing(id)
      let all = cloud.filters.map { Subscription($0) }
      return [.perform(ClientAction(id, .subscribe(all)))]
    case .subscribed(let id, let granted):
      guard case .subscribing(let expected) = phase, id == expected else { return [] }
      guard granted.count == cloud.filters.count, !granted.contains(nil) else {
        let filters = cloud.filters.joined(separator: " or ")
        return [.fail(CloudError(.notSubscribed, "the broker refuses \(filters)"))]
      }
      phase = .online
      failures = 0
      return perform(cloud.handle(.started, now: now)) + pass(now)
    case .message(let message):
      guard case .online = phase else { return [] }
      return perform(cloud.handle(.received(message), now: now))
    case .closed(let reason): return closed(reason, now)
    case .deadline, .woken: return pass(now)
    case .ended: return [.finish]
    case .failed(_, let failure):
      // Going on, a device would wait for answers that never come, and nobody would know why.
      return [.fail(CloudError(.notPublished, "what the cloud sends does not arrive: \(failure)"))]
    case .unsubscribed, .published, .text, .binary, .response: return []
    }
  }

  /// Does what is due by now.
  private mutating func pass(_ now: Timestamp) -> [Output] {
    switch phase {
    case .idle, .connecting, .subscribing: return []
    case .backingOff(let time): return time <= now ? connect() : []
    case .online:
      var outputs = perform(cloud.handle(.timePassed, now: now))
      for command in commands { outputs += perform(cloud.handle(command, now: now)) }
      commands = []
      return outputs
    }
  }

  // MARK: The connection

  private mutating func connect() -> [Output] {
    phase = .connecting
    return [.perform(ClientAction(nextID(), .connect(options)))]
  }

  private mutating func closed(_ reason: ClientEvent.Closed, _ now: Timestamp) -> [Output] {
    if case .refused = reason, !reason.mayPass {
      phase = .idle
      return [.fail(CloudError(.refused, "\(reason)"))]
    }
    return wait("\(reason)", now)
  }

  private mutating func wait(_ reason: String, _ now: Timestamp) -> [Output] {
    failures += 1
    guard let delay = backOff.delay(after: failures) else {
      phase = .idle
      let message = "the broker was not reached in \(failures) attempts: \(reason)"
      return [.fail(CloudError(.unreachable, message))]
    }
    phase = .backingOff(until: now.advanced(by: delay))
    return []
  }

  private mutating func refused(
    _ action: ClientAction, _ error: DataClientError, _ now: Timestamp
  ) -> [Output] {
    // What can't be sent without a connection is lost, as it is on its way through a network.
    guard case .connect = action.kind else { return [] }
    return wait(error.message, now)
  }

  private mutating func perform(_ outputs: [CloudMachine.Output]) -> [Output] {
    outputs.map { output in
      switch output {
      case .publish(let message): .perform(ClientAction(nextID(), .publish(message)))
      case .dropPublisher(let topic): .dropPublisher(of: topic)
      }
    }
  }

  private mutating func nextID() -> ClientAction.ID {
    lastID &+= 1
    return ClientAction.ID(rawValue: lastID)
  }
}
