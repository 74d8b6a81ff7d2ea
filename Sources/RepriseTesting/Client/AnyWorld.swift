import RepriseCore

/// A client of whatever kind, for what wants to know its type.
struct AnyWorld: DataClient {
  private let client: any DataClient

  /// Wraps a client.
  init(_ client: any DataClient) { self.client = client }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }

  func perform(_ action: ClientAction) async throws { try await client.perform(action) }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  func wake() { client.wake() }
}

extension AnyWorld: HeardTime {
  var heard: Timestamp { client.lastHeard }
}
