import RepriseCore
import Synchronization

/// A client that is broken when its first connection fails.
///
/// Then the command was mistyped, or there is no broker. A connection that is lost later is its user's
/// business.
final class FirstConnectionClient<Client: DataClient>: DataClient {
  private let client: Client
  private let hasBeenConnected = Atomic(false)

  init(_ client: Client) { self.client = client }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }

  func perform(_ action: ClientAction) async throws { try await client.perform(action) }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let event = try await client.next(before: deadline)
    switch event {
    case .connected: hasBeenConnected.store(true, ordering: .relaxed)
    case .closed(let reason) where !hasBeenConnected.load(ordering: .relaxed):
      throw NoFirstConnection(reason: reason)
    default: break
    }
    return event
  }

  func wake() { client.wake() }
}

/// There was no connection in the first place.
struct NoFirstConnection: Error, Sendable {
  /// What the client says.
  let reason: ClientEvent.Closed
}
