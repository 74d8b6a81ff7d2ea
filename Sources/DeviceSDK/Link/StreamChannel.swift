import RepriseCore

/// A stream channel, which has a link of its own while it is joined.
///
/// Joining needs the message service connected. A link that is lost is opened again for 20 minutes; a
/// logout of the message service leaves the channel. Messages are exchanged in topics: ``joinTopic(_:_:)``,
/// ``subscribeTopic(_:users:)``.
public struct StreamChannel: Sendable {
  /// The channel's name.
  public let name: String
  let link: Link

  /// The state of the channel's link; it is never disconnected or suspended.
  public var state: LinkState {
    link.streams.run(of: name)?.driver.read { $0.state } ?? .idle
  }

  /// Joins the channel, and returns when its link is connected.
  /// - Parameters:
  ///   - token: The token; empty takes the app's identifier.
  ///   - features: What the channel brings.
  /// - Throws: ``LinkError``: −10002 when nobody is logged in, −11027 while the message service is not
  ///   connected; what the factory of clients throws; and `CancellationError`, which leaves the link
  ///   connecting.
  public func join(token: String = "", features: LinkJoinFeatures = .presence) async throws {
    try await link.call(.admitStream(name))
    let run: LinkStreams.Run
    do {
      run = try link.streams.makeRun(of: name)
    } catch {
      try? await link.call(.releaseStream(name))
      throw error
    }
    try await call(.join(token: token, features), of: run)
  }

  /// Leaves the channel, and returns when its connection is closed.
  ///
  /// A cancelled task leaves it as well, but does not wait for it.
  /// - Throws: ``LinkError`` −11001 when it is not joined, and `CancellationError`.
  public func leave() async throws {
    let run = try joined()
    guard !Task.isCancelled else {
      // An app that joins again before the connection is closed gets another one.
      link.streams.forget(run)
      run.driver.submit(.leave) { _ in run.finish() }
      link.driver.submit(.releaseStream(name)) { _ in }
      throw CancellationError()
    }
    try await call(.leave, of: run)
    link.streams.end(run)
    try await link.call(.releaseStream(name))
  }

  /// Shows a new token in time.
  /// - Parameter token: The token.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func renewToken(_ token: String) async throws {
    try await call(.renewToken(token), of: try joined())
  }

  /// Sets temporary states of the user in the channel.
  /// - Parameter states: The new values; other states stay.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func setStates(_ states: [String: String]) async throws {
    try await call(.changeStates(states.mapValues { $0 }), of: try joined())
  }

  /// Takes temporary states of the user away.
  /// - Parameter keys: The names of the states.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func removeStates(_ keys: [String]) async throws {
    try await call(.changeStates(keys.noStates), of: try joined())
  }

  // MARK: Calls

  func joined() throws(LinkError) -> LinkStreams.Run {
    guard let run = link.streams.run(of: name) else {
      throw LinkError(.channelNotJoined, "\(name) is not joined")
    }
    return run
  }

  func call(_ call: StreamLinkMachine.Call, of run: LinkStreams.Run) async throws {
    do {
      try await run.driver.call(call)
    } catch let error as DataClientError {
      throw LinkError(error)
    }
  }
}
