public import RepriseCore

/// A client of whatever kind, for what wants to know its type, and for tests that change what an action does.
public struct AnyClient: DataClient {
  /// Performs an action on the client, as far as a test lets it.
  public typealias Performer = @Sendable (ClientAction, any DataClient) async throws -> Void

  private let client: any DataClient
  private let performer: Performer

  /// Wraps a client.
  /// - Parameters:
  ///   - client: The client.
  ///   - performer: What is done for each action.
  public init(
    _ client: any DataClient,
    performer: @escaping Performer = { action, client in try await client.perform(action) }
  ) {
    self.client = client
    self.performer = performer
  }

  /// Those of the client.
  public var capabilities: Capabilities { client.capabilities }

  /// The client's time.
  public var now: Timestamp { client.now }

  /// Performs an action.
  public func perform(_ action: ClientAction) async throws { try await performer(action, client) }

  /// Returns the client's next event.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  /// Wakes the client.
  public func wake() { client.wake() }
}
