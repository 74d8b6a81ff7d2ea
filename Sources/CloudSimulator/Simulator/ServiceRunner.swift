import RepriseCore
import Synchronization

/// Lets a service live in a client, in one at a time, and reaches it from outside meanwhile.
///
/// The service goes on where it was when it runs again, on a new client.
final class ServiceRunner<Service: BrokerService>: Sendable {
  private struct State {
    var connection: ServiceConnection<Service>
    var client: (any DataClient)?
  }

  private let state: Mutex<State>

  init(_ service: Service, options: ConnectOptions, backOff: BackOff, retryLimit: Int?) {
    let connection = ServiceConnection(
      service, options: options, backOff: backOff, retryLimit: retryLimit)
    state = Mutex(State(connection: connection))
  }

  /// Looks at the service, or changes it.
  func withService<Value: Sendable>(_ body: (inout Service) -> Value) -> Value {
    state.withLock { body(&$0.connection.service) }
  }

  /// Tells the service something now, or as soon as there is a connection.
  func command(_ command: Service.Input) {
    let client = state.withLock { state in
      state.connection.command(command)
      return state.client
    }
    client?.wake()
  }

  /// Connects, subscribes and does what the service says until the client's world ends.
  ///
  /// A lost connection is opened again. When the task is cancelled, the connection is closed.
  /// - Parameters:
  ///   - client: The world to live in.
  ///   - broker: The broker, if it can be told to drop connections.
  ///   - noteLack: Is told of filters that the broker refuses and the service can do without.
  /// - Throws: ``SimulatorError`` when the service can't do its work there, `DataClientError` when the
  ///   client is broken, and `CancellationError`.
  func run(
    on client: some DataClient, broker: InProcessBroker? = nil,
    noteLack: @Sendable ([String]) -> Void = { _ in }
  ) async throws {
    try enter(client)
    defer { state.withLock { $0.client = nil } }
    do {
      var outputs = handle(.started, client)
      while try await perform(outputs, on: client, broker, noteLack) {
        let deadline = state.withLock { $0.connection.deadline }
        outputs = handle(.received(try await client.next(before: deadline)), client)
      }
    } catch {
      // There may be no connection to close any more.
      try? await client.perform(ClientAction(.goodbye, .disconnect))
      throw error
    }
  }

  private func enter(_ client: some DataClient) throws(SimulatorError) {
    let isRunning = state.withLock { state in
      defer { state.client = state.client ?? client }
      return state.client != nil
    }
    guard !isRunning else {
      throw SimulatorError(.running, "the simulator runs already; make another one")
    }
  }

  private func handle(
    _ input: ServiceConnection<Service>.Input, _ client: some DataClient
  ) -> [ServiceConnection<Service>.Output] {
    state.withLock { $0.connection.handle(input, now: client.now) }
  }

  /// Does what the connection wants done.
  /// - Returns: Whether to go on.
  private func perform(
    _ outputs: [ServiceConnection<Service>.Output], on client: some DataClient,
    _ broker: InProcessBroker?, _ noteLack: @Sendable ([String]) -> Void
  ) async throws -> Bool {
    var outputs = outputs[...]
    while let output = outputs.popFirst() {
      switch output {
      case .perform(let action):
        do {
          try await client.perform(action)
        } catch let error as DataClientError
          where error.code == .notConnected || error.code == .transport
          || error.code == .invalidAction && action.kind.isPublish
        {
          // An answer that no packet can hold, as one whose topic is too long, ends nothing: a device asked for it.
          outputs += handle(.refused(action, error), client)
        }
      case .dropPublisher(let topic): broker?.dropPublisher(of: topic)
      case .lack(let filters): noteLack(filters)
      case .fail(let error): throw error
      case .finish: return false
      }
    }
    return true
  }
}

extension ClientAction.Kind {
  fileprivate var isPublish: Bool {
    if case .publish = self { true } else { false }
  }
}
