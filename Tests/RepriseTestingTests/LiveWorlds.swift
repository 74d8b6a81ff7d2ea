import CloudSimulator
import RepriseCore
import TestSupport

/// A client of a broker in process, beside a server that runs as long as the client is held.
final class ServedClient: DataClient {
  private let client: InProcessClient
  private let server: Task<Void, any Error>

  private init(
    _ broker: InProcessBroker,
    _ run: @escaping @Sendable (InProcessClient) async throws -> Void
  ) {
    let seat = broker.client(named: "server")
    client = broker.client(named: "app")
    server = Task { try await run(seat) }
  }

  deinit { server.cancel() }

  /// An app's place beside the cloud of channels and gateways.
  static func cloud() throws -> ServedClient {
    let broker = InProcessBroker()
    let script = try CloudScript(parsing: Array(#"{"gateway":{}}"#.utf8))
    let cloud = SimulatedCloud(script, broker: broker)
    return ServedClient(broker) { try await cloud.run(on: $0) }
  }

  /// An app's place beside the server of links.
  static func links() -> ServedClient {
    let server = LinkServer()
    return ServedClient(InProcessBroker()) { try await server.run(on: $0) }
  }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }

  func perform(_ action: ClientAction) async throws { try await client.perform(action) }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  func wake() { client.wake() }
}

extension ScriptedClient {
  /// A server of requests alone, as over HTTP, that answers each with its parameters.
  static func echo() -> ScriptedClient {
    ScriptedClient(capabilities: .requests, time: .byItself) { action, _ in
      guard case .send(let request) = action.kind else {
        throw DataClientError(.unsupported, "this server takes requests alone")
      }
      return [.response(action.id, ResponseMessage(body: request.parameters.json.utf8))]
    }
  }
}
