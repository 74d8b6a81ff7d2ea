/// Runs a channel that owns a shared session for as long as a body runs.
/// - Parameters:
///   - session: The session; the channel opens and closes its connection.
///   - configuration: How the channel behaves.
///   - body: What the application does with the channel.
/// - Returns: What the body returns.
/// - Throws: ``ChannelError`` when the configuration is wrong; what the body throws; and `DataClientError` when the
///   session's world is broken, as a replay is that diverged. The body's own error is kept then: only a
///   `DataClientError`, or one of the SDK's that says the same, gives way to that of the world.
public func withChannel<Result: Sendable>(
  on session: SharedSession, configuration: ChannelConfiguration,
  _ body: (Channel) async throws -> Result
) async throws -> Result {
  let client = session.awaitedClient(.owner)
  defer { client.leave() }
  return try await withChannel(on: client, configuration: configuration, body)
}
