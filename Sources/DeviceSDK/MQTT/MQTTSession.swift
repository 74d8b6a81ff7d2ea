public import RepriseCore

/// Runs an ordinary MQTT session, of topics of the application's own, for as long as a body runs.
///
/// ```swift
/// let kitchen = MQTTConfiguration(clientID: "kitchen")
/// try await withSession(on: client, configuration: kitchen) { mqtt in
///   try await mqtt.publish("home/kitchen/door", "open", qos: .atLeastOnce, retain: true)
///   for try await message in mqtt.messages(matching: "home/+/lamp") {
///     print(message.topic, message.text ?? "")
///   }
/// }
/// ```
///
/// It is connected when the body begins. A connection that is lost is opened again, and what was subscribed to is
/// asked for again. When the body ends the connection is closed in good order, calls that still wait fail, and all
/// sequences end. When the task is cancelled, DISCONNECT is sent but not waited for.
/// - Parameters:
///   - client: The world: a broker, a folder of files, a recording.
///   - configuration: How the session behaves.
///   - body: What the application does with the session, which is of no use afterwards.
/// - Returns: What the body returns.
/// - Throws: ``MQTTError`` when the configuration is wrong, or there was no connection within
///   ``MQTTConfiguration/startTimeout``; what the body throws; and `DataClientError` when the client's world is
///   broken, as a replay is that diverged.
public func withSession<Result: Sendable>(
  on client: any DataClient, configuration: MQTTConfiguration = MQTTConfiguration(),
  _ body: (MQTTSession) async throws -> Result
) async throws -> Result {
  let heldUp = HeldUpClient(client)
  let log = SystemLog(configuration.log, .mqtt, in: client)
  let hub = MQTTHub(client: heldUp, log: log)
  let driver = Driver(
    try MQTTStateMachine(configuration), client: heldUp, log: log, tell: hub.take)
  heldUp.waits { hub.isFull && driver.read(\.waitsForNothing) }
  // The condition holds the driver, which holds the client.
  defer { heldUp.waits { false } }
  let session = MQTTSession(driver: driver, hub: hub)
  return try await driver.run(
    goodbye: .stop, loop: { try await driver.loop(.stop) }, helper: {}, finish: hub.finish,
    body: {
      _ = try await session.call(.start)
      return try await body(session)
    })
}

/// An ordinary MQTT session: topics, payloads and properties as the application has them.
///
/// What is asked for while a lost connection is being opened again waits for it, up to
/// ``MQTTConfiguration/callTimeout``.
public struct MQTTSession: Sendable {
  let driver: Driver<MQTTStateMachine>
  let hub: MQTTHub

  // MARK: Connection

  /// The connection's state.
  public var state: MQTTStateChange.State { driver.read(\.state) }

  /// What the server said of itself when it accepted the last connection, such as the client identifier that it gave:
  /// MQTT 5.0 alone.
  public var server: ServerProperties { driver.read(\.server) }

  /// The changes of the connection's state from now on; the newest 64 are kept.
  public var stateChanges: BroadcastSequence<MQTTStateChange> { hub.states.listen(limit: 64) }

  /// The time in the client's world.
  public var now: Timestamp { driver.heard }

  /// How many messages were dropped: only while the session waits for an answer behind a flood that nobody reads.
  public var droppedMessages: UInt64 { hub.dropped }

  /// Says whether the network is there, as the system tells the application: a connection that is waited with is tried
  /// at once when it is, and not at all while it is not.
  /// - Parameter isReachable: Whether the network is there.
  /// - Throws: `CancellationError`.
  public func setReachable(_ isReachable: Bool) async throws {
    _ = try await call(.setReachable(isReachable))
  }

  // MARK: Sending

  /// Sends a message, and returns when the server has it; at QoS 0 when it is written.
  ///
  /// At QoS 1 it is sent again when the connection is lost before that, so it may come twice. At QoS 0 and 2 that is
  /// an error, unless the server has kept the session and goes on with it.
  /// - Parameters:
  ///   - topic: The topic, without wildcards.
  ///   - payload: The payload, up to 268,435,455 bytes with its topic.
  ///   - qos: How hard to try (MQTT 3.1.1 section 4.3).
  ///   - retain: Whether the server keeps it for later subscribers; an empty one clears what is kept.
  ///   - properties: What it says besides, which takes MQTT 5.0.
  ///   - timeout: How long to wait; nil takes ``MQTTConfiguration/callTimeout``.
  /// - Throws: ``MQTTError`` and `CancellationError`.
  public func publish(
    _ topic: String, _ payload: [UInt8], qos: QoS = .atLeastOnce, retain: Bool = false,
    properties: MessageProperties = MessageProperties(), timeout: Duration? = nil
  ) async throws {
    try MQTTTopic.checkName(topic)
    let message = Message(
      topic: topic, payload: payload, qos: qos, isRetained: retain, properties: properties)
    _ = try await call(.publish(message, timeout: timeout))
  }

  /// Sends text; see ``publish(_:_:qos:retain:properties:timeout:)``.
  public func publish(
    _ topic: String, _ text: String, qos: QoS = .atLeastOnce, retain: Bool = false,
    properties: MessageProperties = MessageProperties(), timeout: Duration? = nil
  ) async throws {
    try await publish(
      topic, Array(text.utf8), qos: qos, retain: retain, properties: properties, timeout: timeout)
  }

  /// Sends JSON, such as `["level": 0.5]`; see ``publish(_:_:qos:retain:properties:timeout:)-(_,[UInt8],_,_,_,_)``.
  public func publish(
    _ topic: String, json: JSONValue, qos: QoS = .atLeastOnce, retain: Bool = false,
    properties: MessageProperties = MessageProperties(), timeout: Duration? = nil
  ) async throws {
    try await publish(
      topic, "\(json)", qos: qos, retain: retain, properties: properties, timeout: timeout)
  }

  // MARK: Receiving

  /// The messages on the topics that match a filter, which is subscribed to when the first is waited for.
  ///
  /// Filters may overlap: each sequence has what matches its own, and a server may send a message once for each
  /// subscription (MQTT 3.1.1 section 3.3.5). Each new sequence is sent what is retained, and others of the same filter
  /// have it again.
  /// - Parameters:
  ///   - filter: The topic filter; `$share/GROUP/FILTER` is shared with others of the group (MQTT 5.0 section 4.8.2).
  ///   - qos: The highest QoS.
  ///   - options: What is wanted besides, which takes MQTT 5.0. Of several sequences of a filter all have what is enough
  ///     for each; and what is sent for another filter that matches as well is in this one, too.
  ///   - limit: How many messages wait before the connection is read no further, so that a slow reader holds up the
  ///     server. While a call waits for its answer messages before it are read all the same, up to 16 times as many.
  /// - Returns: The messages.
  public func messages(
    matching filter: String, qos: QoS = .atLeastOnce,
    options: SubscriptionOptions = SubscriptionOptions(), limit: Int = 1_024
  ) -> MQTTMessages {
    MQTTMessages { [driver, hub] in
      MQTTReading(driver, hub, filter: filter, .init(qos: qos, options: options), limit: limit)
    }
  }

  /// Subscribes for as long as a body runs: it begins when the server has granted the filter, so no message on its
  /// topics is missed that is sent from then on.
  /// - Parameters:
  ///   - filter: The topic filter.
  ///   - qos: The highest QoS.
  ///   - options: What is wanted besides, as in ``messages(matching:qos:options:limit:)``.
  ///   - limit: How many messages wait before the connection is read no further.
  ///   - body: What the application does; it may read the messages in several loops, one after the other.
  /// - Returns: What the body returns.
  /// - Throws: ``MQTTError``, what the body throws, and `CancellationError`.
  public func withSubscription<Result>(
    to filter: String, qos: QoS = .atLeastOnce,
    options: SubscriptionOptions = SubscriptionOptions(), limit: Int = 1_024,
    _ body: (MQTTMessages) async throws -> Result
  ) async throws -> Result {
    let reading = MQTTReading(
      driver, hub, filter: filter, .init(qos: qos, options: options), limit: limit)
    do { try await reading.open() } catch { throw Self.shown(error) }
    do {
      let result = try await body(MQTTMessages { reading })
      await reading.close()
      return result
    } catch {
      await reading.close()
      throw error
    }
  }

  // MARK: Requests

  /// Sends a message, and returns the message that answers it (MQTT 5.0 section 4.10).
  ///
  /// It names ``MQTTConfiguration/responseTopic``, which is subscribed to first, and carries correlation data of its
  /// own; properties that say otherwise are replaced.
  /// - Parameters:
  ///   - topic: The topic, without wildcards.
  ///   - payload: The payload.
  ///   - qos: How hard to try.
  ///   - properties: What it says besides.
  ///   - timeout: How long to wait for the answer; nil takes ``MQTTConfiguration/callTimeout``.
  /// - Returns: The answer.
  /// - Throws: ``MQTTError``, `unsupported` without MQTT 5.0; and `CancellationError`.
  public func request(
    _ topic: String, _ payload: [UInt8], qos: QoS = .atLeastOnce,
    properties: MessageProperties = MessageProperties(), timeout: Duration? = nil
  ) async throws -> Message {
    try MQTTTopic.checkName(topic)
    let message = Message(topic: topic, payload: payload, qos: qos, properties: properties)
    guard case .reply(let reply) = try await call(.request(message, timeout: timeout)) else {
      throw MQTTError(.lost, "there was no answer")
    }
    return reply
  }

  /// Sends text, and returns the message that answers it; see ``request(_:_:qos:properties:timeout:)``.
  public func request(
    _ topic: String, _ text: String, qos: QoS = .atLeastOnce,
    properties: MessageProperties = MessageProperties(), timeout: Duration? = nil
  ) async throws -> Message {
    try await request(
      topic, Array(text.utf8), qos: qos, properties: properties, timeout: timeout)
  }

  /// Answers a request of another client: on its response topic, with its correlation data.
  /// - Parameters:
  ///   - request: The request, as it came.
  ///   - payload: The payload of the answer.
  ///   - qos: How hard to try.
  /// - Throws: ``MQTTError``, `invalid` when it names no response topic; and `CancellationError`.
  public func respond(
    to request: Message, _ payload: [UInt8], qos: QoS = .atLeastOnce
  ) async throws {
    guard let topic = request.properties.responseTopic else {
      throw MQTTError(.invalid, "the message on \(request.topic) names no response topic")
    }
    let properties = MessageProperties(correlationData: request.properties.correlationData)
    try await publish(topic, payload, qos: qos, properties: properties)
  }

  /// Answers a request of another client by text; see ``respond(to:_:qos:)-(_,[UInt8],_)``.
  public func respond(
    to request: Message, _ text: String, qos: QoS = .atLeastOnce
  ) async throws {
    try await respond(to: request, Array(text.utf8), qos: qos)
  }

  /// Answers a request of another client by JSON, such as `["on": true]`; see
  /// ``respond(to:_:qos:)-(_,[UInt8],_)``.
  public func respond(
    to request: Message, json: JSONValue, qos: QoS = .atLeastOnce
  ) async throws {
    try await respond(to: request, "\(json)", qos: qos)
  }

  // MARK: Calls

  func call(_ call: MQTTStateMachine.Call) async throws -> MQTTStateMachine.Value {
    do { return try await driver.call(call) } catch { throw Self.shown(error) }
  }

  private static func shown(_ error: any Error) -> any Error {
    (error as? DataClientError).map { MQTTError($0) } ?? error
  }
}

extension Message {
  /// The payload as text; nil when it is no UTF-8.
  public var text: String? { String(validating: payload, as: UTF8.self) }

  /// The payload as JSON; nil when it is none.
  public var json: JSONValue? { JSONValue(parsing: payload) }
}
