public import RepriseCore

/// Runs the links of a user for as long as a body runs.
///
/// The user is not logged in at first; ``Link/login(token:)`` does that. When the body ends, stream
/// channels are left and the user is logged out, calls that still wait fail, and all sequences end. When
/// the task is cancelled, the same is said but not waited for.
/// - Parameters:
///   - client: The world of the message service: a broker, a recording.
///   - configuration: How the links behave, and who they are.
///   - streamClient: Makes a world for a stream channel, which has a connection of its own, by the
///     channel's name; nil has no stream channels.
///   - body: What the application does with the links, which are of no use afterwards.
/// - Returns: What the body returns.
/// - Throws: ``LinkError`` when an identifier is wrong; what the body throws; and `DataClientError` when the
///   client's world is broken, as a replay is that diverged. The body's own error is kept then: only a
///   `DataClientError`, or one of the SDK's that says the same, gives way to that of the world.
public func withLink<Result: Sendable>(
  on client: any DataClient, configuration: LinkConfiguration,
  streamClient: (@Sendable (String) throws -> any DataClient)? = nil,
  _ body: (Link) async throws -> Result
) async throws -> Result {
  let log = SystemLog(configuration.log, .link, in: client)
  let hub = LinkHub(log: log)
  let streams = LinkStreams(configuration, hub, streamClient)
  let machine = try MessageLinkMachine(configuration.fitting(client))
  let driver = Driver(machine, client: client, log: log) { effect in
    hub.take(effect)
    streams.follow(effect)
  }
  let link = Link(driver: driver, hub: hub, streams: streams)
  let result = try await driver.run(
    goodbye: .logout, loop: { try await driver.loop(.logout) },
    helper: {
      async let main: Void = hub.calls.runMainWork()
      await streams.live()
      await main
    },
    finish: {
      streams.finish()
      hub.finish()
    },
    body: { try await link.leavingStreams(body) })
  if let failure = streams.failure { throw failure }
  return result
}

/// The links of a user with a server: one for the message service, one for each joined stream channel.
///
/// Each link has a state that is watched with ``stateEvents``. A link that is lost is opened again, with
/// all that the session had: subscriptions, joined channels, and the user's own temporary states. How
/// all that lies on MQTT is told by `LinkTopics`; which changes there are, by `LinkTable`.
///
/// Locks, storage and history are no part of this.
public struct Link: Sendable {
  let driver: Driver<MessageLinkMachine>
  let hub: LinkHub
  let streams: LinkStreams

  // MARK: States

  /// The state of the message service's link.
  public var state: LinkState { driver.read { $0.state } }

  /// The message channels that are subscribed to, or will be again, in order.
  public var subscribedChannels: [String] { driver.read { $0.subscribedChannels } }

  /// The changes of all links' states from now on; the newest 256 are kept.
  public var stateEvents: BroadcastSequence<LinkStateEvent> { hub.states.listen(limit: 256) }

  /// The users who come and go in channels from now on; the newest 1024 events are kept.
  public var presenceEvents: BroadcastSequence<LinkPresenceEvent> {
    hub.presence.listen(limit: 1_024)
  }

  /// The users who join and leave topics of stream channels from now on; the newest 1024 events are kept.
  public var topicEvents: BroadcastSequence<LinkTopicEvent> { hub.topics.listen(limit: 1_024) }

  /// The warnings from now on of tokens that are valid for 30 seconds more; the newest 64 are kept.
  public var tokenEvents: BroadcastSequence<LinkTokenEvent> { hub.tokens.listen(limit: 64) }

  /// How many messages were dropped, as readers of ``messages(in:limit:)``, here or of stream channels, were slow, or the main actor
  /// was too busy for its delegates.
  public var droppedMessages: UInt64 { hub.messages.dropped + hub.calls.dropped }

  /// The messages of subscribed message channels from now on; those of topics are ``StreamChannel/messages(in:limit:)``.
  /// - Parameters:
  ///   - channel: The channel; nil takes those of all.
  ///   - limit: How many messages are kept for a slow reader; the oldest are dropped beyond it, and counted in
  ///     ``droppedMessages``.
  /// - Returns: The messages.
  public func messages(
    in channel: String? = nil, limit: Int = 1_024
  ) -> BroadcastSequence<LinkMessage> {
    hub.messages.listen(limit: limit) { message in
      message.topic == nil && (channel == nil || message.channel == channel)
    }
  }

  // MARK: Session

  /// Logs in, and returns when the link is connected.
  ///
  /// A link that does not open is tried again, without end if the configuration sets no reconnect
  /// time-out.
  /// - Parameter token: The token; empty takes the app's identifier.
  /// - Throws: ``LinkError``, and `CancellationError`, which leaves the link connecting.
  public func login(token: String = "") async throws { try await call(.login(token: token)) }

  /// Logs out and leaves all stream channels, and returns when all connections are closed.
  ///
  /// A cancelled task does so as well, but does not wait for it.
  /// - Throws: ``LinkError`` −10002 when nobody is logged in, and `CancellationError`.
  public func logout() async throws {
    let runs = streams.runs
    // Stream channels follow the message service; who is not cancelled waits for them too.
    try await call(.logout, isCleanup: true)
    for run in runs { _ = try? await run.driver.call(.leave) }
  }

  /// Shows a new token in time.
  /// - Parameter token: The token.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func renewToken(_ token: String) async throws { try await call(.renewToken(token)) }

  /// Says what became of the device's network, of which the system tells sooner than heartbeats do.
  /// - Parameter change: What became of it.
  /// - Throws: `CancellationError`.
  public func noteNetwork(_ change: LinkNetworkChange) async throws {
    try await call(.noteNetwork(change))
    for run in streams.runs { _ = try? await run.driver.call(.noteNetwork(change)) }
  }

  // MARK: Message channels

  /// Subscribes to a message channel, or subscribes anew with other features.
  ///
  /// One that fails, or is cancelled, leaves the channel as it was before.
  /// - Parameters:
  ///   - channel: The channel's name.
  ///   - features: What the subscription brings, in place of what an earlier one brought.
  /// - Throws: ``LinkError``, −11040 when the channel is unsubscribed from meanwhile; and `CancellationError`.
  public func subscribe(
    _ channel: String, _ features: LinkSubscribeFeatures = [.message, .presence]
  ) async throws {
    try await call(.subscribe(channel, features))
  }

  /// Unsubscribes from a message channel; at once while the link is not connected.
  /// - Parameter channel: The channel's name.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func unsubscribe(_ channel: String) async throws { try await call(.unsubscribe(channel)) }

  /// Publishes in a message channel, and returns when the broker has the message.
  /// - Parameters:
  ///   - payload: The message, 32 KB at most.
  ///   - channel: The channel's name.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func publish(_ payload: [UInt8], in channel: String) async throws {
    try await call(.publish(channel, payload))
  }

  /// Publishes a text in a message channel, and returns when the broker has the message.
  /// - Parameters:
  ///   - text: The message, 32 KB of UTF-8 at most.
  ///   - channel: The channel's name.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func publish(_ text: String, in channel: String) async throws {
    try await publish(Array(text.utf8), in: channel)
  }

  /// Sets temporary states of the user; those of a channel that is not subscribed to are kept for it.
  ///
  /// While the channel is being subscribed to they may wait for that, and are then sent on their own.
  /// - Parameters:
  ///   - states: The new values; other states stay.
  ///   - channel: The message channel's name.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func setStates(_ states: [String: String], in channel: String) async throws {
    try await call(.changeStates(channel, states.mapValues { $0 }))
  }

  /// Takes temporary states of the user away.
  /// - Parameters:
  ///   - keys: The names of the states.
  ///   - channel: The message channel's name.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func removeStates(_ keys: [String], in channel: String) async throws {
    try await call(.changeStates(channel, keys.noStates))
  }

  // MARK: Stream channels

  /// Returns a stream channel, which is not joined by that.
  /// - Parameter name: The channel's name.
  /// - Returns: The channel.
  /// - Throws: ``LinkError`` −10008 when that is no name.
  public func streamChannel(_ name: String) throws(LinkError) -> StreamChannel {
    try LinkName.checkChannel(name)
    return StreamChannel(name: name, link: self)
  }

  // MARK: Calls

  func call(_ call: MessageLinkMachine.Call, isCleanup: Bool = false) async throws {
    do {
      try await driver.call(call, isCleanup: isCleanup)
    } catch let error as DataClientError {
      throw LinkError(error)
    }
  }

  /// Runs a body, and leaves what stream channels it has joined.
  fileprivate func leavingStreams<Result: Sendable>(
    _ body: (Link) async throws -> Result
  ) async throws -> Result {
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await body(self))
    } catch {
      result = .failure(error)
    }
    await streams.leaveAll()
    return try result.get()
  }
}

extension [String] {
  /// The names of states as a change that takes them away.
  var noStates: [String: String?] { reduce(into: [:]) { $0.updateValue(nil, forKey: $1) } }
}

extension LinkError {
  /// What ended a call, as an error of a link.
  init(_ error: any Error) {
    switch error {
    case let error as LinkError: self = error
    case let error as DataClientError where error.code == .notConnected:
      self.init(.notConnected, error.message)
    case let error as DataClientError: self.init(.initServiceFailed, error.message)
    default: self.init(.loginAborted, "the link was closed")
    }
  }
}
