public import RepriseCore

/// Runs a channel for as long as a body runs.
///
/// The channel is disconnected at first, and ``Channel/start()`` connects it; where the configuration says
/// ``ChannelConfiguration/startsAtOnce``, it is connected when the body begins. When the body ends, the connection
/// is closed in good order, calls that still wait fail, and all sequences end. When the task is cancelled,
/// DISCONNECT is sent but not waited for.
/// - Parameters:
///   - client: The world: a broker, a folder of files, a recording.
///   - configuration: How the channel behaves.
///   - body: What the application does with the channel, which is of no use afterwards.
/// - Returns: What the body returns.
/// - Throws: ``ChannelError`` when the configuration is wrong or a start at once failed; what the body throws; and
///   `DataClientError` when the client's world is broken, as a replay is that diverged. The body's own error is
///   kept then: only a `DataClientError`, or one of the SDK's that says the same, gives way to that of the world.
public func withChannel<Result: Sendable>(
  on client: any DataClient, configuration: ChannelConfiguration,
  _ body: (Channel) async throws -> Result
) async throws -> Result {
  let log = SystemLog(configuration.log, .channel, in: client)
  let hub = ChannelHub(log: log)
  let driver = Driver(
    try ChannelStateMachine(configuration), client: client, log: log, tell: hub.take)
  let channel = Channel(driver: driver, hub: hub)
  let starts = configuration.identitySource.map { ($0, hub.states.listen(limit: 64)) }
  return try await driver.run(
    goodbye: .stop, loop: { try await driver.loop(.stop) },
    helper: {
      async let mainWork: Void = hub.calls.runMainWork()
      if let (source, states) = starts {
        await channel.identify(at: states) { try await source(configuration) }
      }
      await mainWork
    },
    finish: hub.finish,
    body: {
      if configuration.startsAtOnce { try await channel.start() }
      return try await body(channel)
    })
}

/// The long connection of an app to its cloud.
///
/// Topics are short: what stands below `/sys/{productKey}/{deviceName}/app/up` or `…/down`. What
/// starts with `/sys/` is used as it is. All calls fail at once while the channel is not connected.
public struct Channel: Sendable {
  let driver: Driver<ChannelStateMachine>
  let hub: ChannelHub

  // MARK: Connection

  /// The connection's state.
  public var state: ChannelState { driver.read { $0.state } }

  /// The account's state.
  public var account: AccountState { driver.read { $0.account } }

  /// The channel's client identifier, `deviceName&productKey`; nil until the identity is known.
  public var clientID: String? { driver.read { $0.clientID } }

  /// What was counted.
  public var statistics: ChannelStatistics { driver.read { $0.statistics } }

  /// How many messages were dropped because sequences were read too slowly, or the main actor was too
  /// busy for its listeners.
  public var droppedMessages: UInt64 {
    hub.messages.dropped + hub.foreignMessages.dropped + hub.calls.dropped
  }

  /// How many downstream listeners are alive.
  public var listenerCount: Int { hub.downstreamListeners.count }

  /// The time in the client's world, to compare with the times of messages.
  public var now: Timestamp { driver.heard }

  /// Connects, and returns when the channel is connected, and bound where ``ChannelConfiguration/bindingToken`` wants
  /// that; a second connection is never made.
  ///
  /// A connection that is lost is opened again until ``stop()``, or an error that is final.
  /// - Throws: ``ChannelError`` when the channel gave up, or was not connected within
  ///   ``ChannelConfiguration/startTimeout`` and goes on trying, or can't be bound and is connected all the same; what
  ///   ``ChannelConfiguration/bindingToken`` throws; and `CancellationError`, which leaves the channel connecting.
  public func start() async throws {
    _ = try await call(.start)
    guard account != .bound, let token = driver.read({ $0.configuration.bindingToken }) else {
      return
    }
    try await bind(refreshing: token)
  }

  /// Closes the connection, and returns when it is closed; ``start()`` is possible after that.
  ///
  /// A cancelled task closes it as well, as one that cleans up behind itself, but does not wait for it.
  /// - Throws: `CancellationError`, which does not take the closing back.
  public func stop() async throws { _ = try await call(.stop, isCleanup: true) }

  /// Says whether the network is there, as the system tells the application: a connection that is waited with is tried
  /// at once when it is, and not at all while it is not.
  /// - Parameter isReachable: Whether the network is there.
  /// - Throws: `CancellationError`.
  public func setReachable(_ isReachable: Bool) async throws {
    _ = try await call(.setReachable(isReachable))
  }

  /// Says who the channel is, when the configuration did not.
  /// - Parameter identity: The identity.
  /// - Throws: ``ChannelError`` when the channel is connected as another, and `CancellationError`.
  public func identify(as identity: ChannelIdentity) async throws {
    _ = try await call(.identify(identity))
  }

  /// The changes of the connection's state from now on; the newest 64 are kept.
  public var stateChanges: BroadcastSequence<ChannelStateChange> { hub.states.listen(limit: 64) }

  // MARK: Requests

  /// Sends a request and returns its reply.
  /// - Parameters:
  ///   - topic: The topic of the request, such as `/account/bind`.
  ///   - params: The parameters.
  ///   - opts: Its object `extraParam` has members that stand beside the parameters.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``ChannelError``: `business` with the cloud's code when that is another; and
  ///   `CancellationError`.
  public func invoke(
    _ topic: String, _ params: JSONValue = [:], opts: JSONValue? = nil, timeout: Duration? = nil
  ) async throws -> ChannelReply {
    let request = ChannelStateMachine.Invocation(
      try ChannelTopic(topic), params: params, options: opts, timeout: timeout)
    return try await reply(to: .invoke(request))
  }

  /// Sends a request and returns its reply; the parameters are values of Swift: `["iotToken": token]`.
  /// - Parameters:
  ///   - topic: The topic of the request, such as `/account/bind`.
  ///   - params: The parameters, in their order.
  ///   - opts: Its object `extraParam` has members that stand beside the parameters.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``ChannelError``: `business` with the cloud's code when that is another; and
  ///   `CancellationError`.
  @_disfavoredOverload
  public func invoke(
    _ topic: String, _ params: KeyValuePairs<String, any JSONRepresentable>, opts: JSONValue? = nil,
    timeout: Duration? = nil
  ) async throws -> ChannelReply {
    try await invoke(topic, JSONValue(params), opts: opts, timeout: timeout)
  }

  /// Sends parameters, and returns when the receiver has them; at QoS 0 when they are written.
  /// - Parameters:
  ///   - topic: The topic, without wildcards.
  ///   - params: The parameters.
  ///   - retain: Whether the cloud keeps the message for later subscribers (MQTT 3.1.1 section 3.3.1.3).
  /// - Throws: ``ChannelError``, `client` when the cloud retains nothing; and `CancellationError`.
  public func publish(
    _ topic: String, _ params: JSONValue = [:], retain: Bool = false
  ) async throws {
    _ = try await call(.publish(try ChannelTopic(topic), params, isRetained: retain))
  }

  /// Sends parameters that are values of Swift, `["level": level]`, and returns when the receiver has them.
  /// - Parameters:
  ///   - topic: The topic, without wildcards.
  ///   - params: The parameters, in their order.
  ///   - retain: Whether the cloud keeps the message for later subscribers.
  /// - Throws: ``ChannelError``, `client` when the cloud retains nothing; and `CancellationError`.
  @_disfavoredOverload
  public func publish(
    _ topic: String, _ params: KeyValuePairs<String, any JSONRepresentable>, retain: Bool = false
  ) async throws {
    try await publish(topic, JSONValue(params), retain: retain)
  }

  /// Sends bytes as they are, without an envelope; returns when the receiver has them.
  /// - Parameters:
  ///   - topic: The topic, without wildcards.
  ///   - bytes: The payload.
  ///   - retain: Whether the cloud keeps the message for later subscribers; an empty one clears what is kept.
  /// - Throws: ``ChannelError``, `client` when the cloud retains nothing; and `CancellationError`.
  public func publish(_ topic: String, bytes: [UInt8], retain: Bool = false) async throws {
    _ = try await call(.publishBytes(try ChannelTopic(topic), bytes, isRetained: retain))
  }

  /// Clears what the cloud retains on a topic, and returns when it has; where it retains nothing, that is no error.
  /// - Parameter topic: The topic that was published to, without wildcards.
  /// - Throws: ``ChannelError``, `client` when the cloud retains nothing at all; and `CancellationError`.
  public func clearRetained(_ topic: String) async throws {
    try await publish(topic, bytes: [], retain: true)
  }

  /// Clears what the cloud retains on all topics that a filter matches, topic by topic.
  ///
  /// What is retained has to be read first, so it takes the right to subscribe to the filter.
  /// - Parameter filter: A filter for topics that were published to; `/status/#` is for what `publish(_:_:retain:)`
  ///   sends to `/status/…`, and one that starts with `/sys/` is for full topics.
  /// - Returns: The full topics that were cleared, in order.
  /// - Throws: ``ChannelError``: `client` when it is no filter, `gateway` when the cloud refuses it or goes on keeping
  ///   what should be cleared; and `CancellationError`.
  @discardableResult
  public func clearRetained(matching filter: String) async throws -> [String] {
    let filter = try ChannelTopic(filter)
    return try await RetainedSweep.run(kept: { ChannelError(.gateway, RetainedSweep.kept($0)) }) {
      guard case .topics(let topics) = try await call(.findRetained(filter)) else {
        throw Self.unexpected
      }
      return topics
    } clear: { topic in
      _ = try await call(.publishBytes(.full(try FullTopic(topic)), [], isRetained: true))
    }
  }

  /// Asks for messages, and returns when the cloud has granted them.
  /// - Parameter topic: The topic, or a topic filter.
  /// - Throws: ``ChannelError`` and `CancellationError`.
  public func subscribe(_ topic: String) async throws {
    _ = try await call(.subscribe(try ChannelTopic(topic)))
  }

  /// Asks no longer for messages; waits while a request depends on them.
  /// - Parameter topic: The topic, or the topic filter, that was subscribed to.
  /// - Throws: ``ChannelError`` and `CancellationError`.
  public func unsubscribe(_ topic: String) async throws {
    _ = try await call(.unsubscribe(try ChannelTopic(topic)))
  }

  // MARK: Messages

  /// The messages from now on whose topics match a filter.
  ///
  /// Messages come only from what is subscribed to, as `/#` is by default. Replies to requests of
  /// this channel are not among them. The first sequence of a channel without downstream listeners also has what
  /// came before it, the newest up to 1 MiB: a message may be right behind the reply that an app waited for.
  /// - Parameters:
  ///   - filter: A filter for short topics; one that starts with `/sys/` is for full topics.
  ///   - limit: How many messages are kept for a slow reader; the oldest are dropped beyond it and
  ///     counted in ``droppedMessages``.
  /// - Returns: The messages; ``ChannelError`` of kind `client` instead of the first when it is no filter.
  public func messages(
    matching filter: String = "/#", limit: Int = 1_024
  ) -> MessageSequence<ChannelMessage, ChannelError> {
    MessageSequence { () throws(ChannelError) in try listen(to: filter, limit: limit) }
  }

  private func listen(
    to filter: String, limit: Int
  ) throws(ChannelError) -> BroadcastSequence<ChannelMessage> {
    let wrong = ChannelError(.client, "a wildcard must fill a level, and # the last: \(filter)")
    switch try ChannelTopic(filter) {
    case .full(let full):
      guard let filter = TopicFilter(full.text) else { throw wrong }
      return hub.messages.listen(limit: limit) { filter.matches($0.fullTopic.utf8Span.span) }
    case .short(let short):
      guard short.text != "/#" else { return hub.messages.listen(limit: limit) }
      guard let filter = TopicFilter(short.text) else { throw wrong }
      return hub.messages.listen(limit: limit) { filter.matches($0.topicBytes()) }
    }
  }

  /// The messages from now on that are not below the channel's prefix, such as a gateway's.
  /// - Parameter limit: How many messages are kept for a slow reader.
  /// - Returns: The messages.
  public func foreignMessages(limit: Int = 1_024) -> BroadcastSequence<ChannelMessage> {
    hub.foreignMessages.listen(limit: limit)
  }

  // MARK: Account

  /// Binds the channel to the account that a token is for.
  ///
  /// When another device is binding the account, or there were too many requests, a new try is made
  /// after a while, up to the number of the configuration.
  /// - Parameter token: The login token of the account.
  /// - Throws: ``ChannelError``: `login` when the token is not accepted; and `CancellationError`.
  public func bind(token: String) async throws { _ = try await call(.bind(token: token)) }

  /// Binds the channel, with a new token each time the cloud says that the last one is stale.
  ///
  /// After as many refused tokens as the configuration allows the account needs a login.
  /// - Parameter token: Returns a token; it is given the number of tokens that were refused.
  /// - Throws: ``ChannelError``, what `token` throws, and `CancellationError`.
  public func bind(refreshing token: (_ refused: Int) async throws -> String) async throws {
    var refused = 0
    while true {
      do {
        return try await bind(token: try await token(refused))
      } catch let error as ChannelError
        where error.kind == .login && error.cloudCode != nil && account != .needsLogin
      {
        refused += 1
      }
    }
  }

  /// Takes the binding back; to be called before the user is logged out, after which it fails.
  /// - Throws: ``ChannelError`` and `CancellationError`.
  public func unbind() async throws { _ = try await call(.unbind) }

  /// Leaves ``AccountState/needsLogin``, as the user has logged in again.
  /// - Throws: `CancellationError`.
  public func noteLogin() async throws { _ = try await call(.noteLogin) }

  /// The changes of the account's state from now on; the newest 64 are kept.
  public var accountChanges: BroadcastSequence<AccountState> { hub.accounts.listen(limit: 64) }

  // MARK: Calls

  /// Finds out who the channel is whenever it starts without knowing, until the end.
  fileprivate func identify(
    at states: BroadcastSequence<ChannelStateChange>,
    by source: @Sendable () async throws -> ChannelIdentity
  ) async {
    for await change in states where change.state == .connecting && clientID == nil {
      do {
        _ = try await call(.identify(try await source()))
      } catch {
        let failure =
          error as? ChannelError
          ?? ChannelError(.client, "the identity could not be found: \(error)", underlying: error)
        _ = try? await call(.failToIdentify(failure))
      }
    }
  }

  func reply(to call: ChannelStateMachine.Call) async throws -> ChannelReply {
    switch try await self.call(call) {
    case .reply(let reply): reply
    case .done, .topics: throw Self.unexpected
    }
  }

  private static let unexpected = ChannelError(.client, "the call has no such result")

  func call(
    _ call: ChannelStateMachine.Call, isCleanup: Bool = false
  ) async throws -> ChannelStateMachine.Value {
    do {
      return try await driver.call(call, isCleanup: isCleanup)
    } catch let error as DataClientError {
      throw ChannelStateMachine.error(for: error)
    }
  }
}
