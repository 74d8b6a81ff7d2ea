public import RepriseCore

/// A client of whatever kind, for what wants to know its type.
public struct AnyClient: DataClient {
  private let client: any DataClient

  /// Wraps a client.
  public init(_ client: any DataClient) { self.client = client }

  /// Those of the client.
  public var capabilities: Capabilities { client.capabilities }

  /// The client's time.
  public var now: Timestamp { client.now }

  /// Performs an action.
  public func perform(_ action: ClientAction) async throws { try await client.perform(action) }

  /// Returns the client's next event.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  /// Wakes the client.
  public func wake() { client.wake() }
}
