public import RepriseCore

/// What the gateway sends and receives beside its operations.
extension Gateway {
  /// Sends a request and returns its reply.
  /// - Parameters:
  ///   - topic: The full topic; the reply comes on the same with `_reply`.
  ///   - method: The method; nil takes the one that belongs to the topic.
  ///   - params: The parameters.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError``: `business` with the cloud's code when that is another; and
  ///   `CancellationError`.
  public func invoke(
    _ topic: String, method: String? = nil, _ params: JSONValue = [:], timeout: Duration? = nil
  ) async throws -> GatewayReply {
    try await reply(
      to: .invoke(
        .init(try Self.full(topic), method: method, params: params, timeout: timeout)))
  }

  /// Sends parameters in an envelope, and returns when the receiver has them.
  /// - Parameters:
  ///   - topic: The full topic.
  ///   - method: The method; nil takes the one that belongs to the topic.
  ///   - params: The parameters.
  ///   - retain: Whether the cloud keeps the message for later subscribers (MQTT 3.1.1 section 3.3.1.3).
  /// - Throws: ``GatewayError``, `client` when the cloud retains nothing; and `CancellationError`.
  public func publish(
    _ topic: String, method: String? = nil, _ params: JSONValue = [:], retain: Bool = false
  ) async throws {
    _ = try await call(
      .publish(try Self.full(topic), method: method, params, isRetained: retain))
  }

  /// Sends a request whose parameters are values of Swift, and returns its reply.
  /// - Parameters:
  ///   - topic: The full topic; the reply comes on the same with `_reply`.
  ///   - method: The method; nil takes the one that belongs to the topic.
  ///   - params: The parameters, in their order.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  @_disfavoredOverload
  public func invoke(
    _ topic: String, method: String? = nil,
    _ params: KeyValuePairs<String, any JSONRepresentable>, timeout: Duration? = nil
  ) async throws -> GatewayReply {
    try await invoke(topic, method: method, JSONValue(params), timeout: timeout)
  }

  /// Sends parameters that are values of Swift in an envelope, and returns when the receiver has them.
  /// - Parameters:
  ///   - topic: The full topic.
  ///   - method: The method; nil takes the one that belongs to the topic.
  ///   - params: The parameters, in their order.
  ///   - retain: Whether the cloud keeps the message for later subscribers.
  /// - Throws: ``GatewayError``, `client` when the cloud retains nothing; and `CancellationError`.
  @_disfavoredOverload
  public func publish(
    _ topic: String, method: String? = nil,
    _ params: KeyValuePairs<String, any JSONRepresentable>, retain: Bool = false
  ) async throws {
    try await publish(topic, method: method, JSONValue(params), retain: retain)
  }

  /// Sends bytes as they are, and returns when the receiver has them; at QoS 0 when they are written.
  /// - Parameters:
  ///   - bytes: The payload.
  ///   - topic: The full topic.
  ///   - qos: How hard it is tried; 2 is not supported.
  ///   - retain: Whether the cloud keeps the message for later subscribers; an empty one clears what is kept.
  /// - Throws: ``GatewayError``, `client` when the cloud retains nothing; and `CancellationError`.
  public func upload(
    _ bytes: [UInt8], to topic: String, qos: QoS = .atLeastOnce, retain: Bool = false
  ) async throws {
    _ = try await call(.upload(try Self.full(topic), bytes, qos, isRetained: retain))
  }

  /// Clears what the cloud retains on a topic, and returns when it has; where it retains nothing, that is no error.
  /// - Parameter topic: The full topic, without wildcards.
  /// - Throws: ``GatewayError``, `client` when the cloud retains nothing at all; and `CancellationError`.
  public func clearRetained(_ topic: String) async throws {
    try await upload([], to: topic, retain: true)
  }

  /// Clears what the cloud retains on all topics that a filter matches, topic by topic.
  ///
  /// What is retained has to be read first, so it takes the right to subscribe to the filter.
  /// - Parameter filter: A filter for full topics.
  /// - Returns: The topics that were cleared, in order.
  /// - Throws: ``GatewayError``: `client` when it is no filter, `gateway` when the cloud refuses it or goes on keeping
  ///   what should be cleared; and `CancellationError`.
  @discardableResult
  public func clearRetained(matching filter: String) async throws -> [String] {
    let filter = try Self.full(filter)
    return try await RetainedSweep.run(kept: { GatewayError(.gateway, RetainedSweep.kept($0)) }) {
      guard case .topics(let topics) = try await call(.findRetained(filter)) else {
        throw Self.unexpected
      }
      return topics
    } clear: { topic in
      try await clearRetained(topic)
    }
  }

  /// Asks for messages, and returns when the cloud has granted them.
  /// - Parameter filter: The full topic, or a topic filter.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func subscribe(_ filter: String) async throws {
    _ = try await call(.subscribe(try Self.full(filter), for: nil))
  }

  /// Asks no longer for messages.
  /// - Parameter filter: The full topic, or the topic filter, that was subscribed to.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func unsubscribe(_ filter: String) async throws {
    _ = try await call(.unsubscribe(try Self.full(filter), for: nil))
  }

  /// The messages from now on whose topics match a filter, also those of lines.
  ///
  /// Replies to requests of this gateway are not among them.
  /// - Parameters:
  ///   - filter: A filter for full topics.
  ///   - limit: How many messages are kept for a slow reader; the oldest are dropped beyond it and
  ///     counted in ``droppedMessages``.
  /// - Returns: The messages; ``GatewayError`` of kind `client` instead of the first when it is no filter.
  public func messages(
    matching filter: String = "#", limit: Int = 1_024
  ) -> MessageSequence<GatewayMessage, GatewayError> {
    MessageSequence { () throws(GatewayError) in try listen(to: filter, limit: limit) }
  }

  private func listen(
    to filter: String, limit: Int
  ) throws(GatewayError) -> BroadcastSequence<GatewayMessage> {
    guard let filter = TopicFilter(filter) else {
      throw GatewayError(.client, "a wildcard must fill a level, and # the last: \(filter)")
    }
    return hub.messages.listen(limit: limit) { filter.matches($0.topic) }
  }

  static func full(_ topic: String) throws(GatewayError) -> FullTopic {
    do {
      return try FullTopic(topic)
    } catch {
      throw GatewayError(.client, error.message, underlying: error)
    }
  }

  // MARK: Packs

  /// Posts properties and events of the gateway and of several sub-devices in one request.
  /// - Parameter pack: What is posted.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError``: `client` when the pack is over the limits; and `CancellationError`.
  @discardableResult
  public func post(_ pack: GatewayPack) async throws -> GatewayReply {
    let (topics, limits) = driver.read { ($0.topics, $0.configuration.limits) }
    try pack.check(limits)
    return try await invoke(topics.packPost, method: nil, pack.json)
  }
}
