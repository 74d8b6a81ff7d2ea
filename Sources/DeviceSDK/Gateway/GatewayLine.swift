public import RepriseCore

/// The line of one sub-device: its way to the cloud through the gateway.
///
/// Topics are the sub-device's full topics; ``topic(_:)`` makes them.
public struct GatewayLine: Sendable {
  let gateway: Gateway
  /// The sub-device.
  public let subdevice: Subdevice

  /// The line's state; ``LineState/new`` when it was closed.
  public var state: LineState {
    gateway.driver.read { $0.lineState(of: subdevice) } ?? .new
  }

  /// Whether the cloud knows the sub-device as this gateway's.
  public var isTopologyAdded: Bool { state == .topology || isOnline }

  /// Whether the sub-device is online.
  public var isOnline: Bool { state == .online }

  /// Whether the cloud has disabled the sub-device.
  public var isDisabled: Bool { gateway.driver.read { $0.isDisabled(subdevice) } }

  /// The changes of the line from now on; the newest 64 are kept.
  public var changes: BroadcastSequence<LineChange> {
    gateway.hub.lineChanges.listen(limit: 64) { [subdevice] in $0.subdevice == subdevice }
  }

  /// Returns the sub-device's full topic of a path.
  /// - Parameter path: What is below the device: `thing/event/property/post`.
  /// - Returns: `/sys/{productKey}/{deviceName}/` with the path.
  public func topic(_ path: String) -> String { "/sys/\(subdevice)/\(path)" }

  // MARK: Topology and session

  /// Makes the sub-device the gateway's; it stays so until ``deleteTopology()``, or until another
  /// gateway does the same.
  ///
  /// Adding it again is no error.
  /// - Returns: The cloud's reply.
  /// - Throws: ``GatewayError``: `subdevice` when its connection does not open, `business` with the
  ///   cloud's code; and `CancellationError`.
  @discardableResult
  public func addTopology() async throws -> GatewayReply? { try await operate(.addTopology) }

  /// Makes the sub-device the gateway's no longer; if it was online, the cloud ends its session.
  /// - Returns: The cloud's reply.
  /// - Throws: ``GatewayError``: `noTopology` when it was not the gateway's; and `CancellationError`.
  @discardableResult
  public func deleteTopology() async throws -> GatewayReply? { try await operate(.deleteTopology) }

  /// Brings the sub-device online; nothing is sent when it is already.
  /// - Returns: The cloud's reply; nil when it was online already.
  /// - Throws: ``GatewayError``: `noTopology` when its topology was not added, `subdevice` when its
  ///   connection does not open, `business` with the cloud's code; and `CancellationError`.
  @discardableResult
  public func goOnline() async throws -> GatewayReply? { try await operate(.logIn) }

  /// Takes the sub-device offline.
  /// - Returns: The cloud's reply.
  /// - Throws: ``GatewayError``: `business` with code 520 when it was offline already, which is no
  ///   harm; and `CancellationError`.
  @discardableResult
  public func goOffline() async throws -> GatewayReply? { try await operate(.logOut) }

  /// Takes the sub-device offline if it is online, closes its connection, and forgets the line.
  ///
  /// A cancelled task closes and forgets it as well, and leaves it to the cloud to log it out.
  /// - Throws: ``GatewayError`` of kind `subdevice` when the connection does not close, and
  ///   `CancellationError`.
  public func close() async throws {
    // A line that does not get offline in good order is logged out by the cloud in time.
    if isOnline { _ = try? await goOffline() }
    let id = gateway.driver.read { $0.lines[subdevice]?.connection }
    let connection = id.flatMap { gateway.hub.opener.connection($0) }
    var failure: (any Error)?
    do {
      _ = try await gateway.call(.remove(subdevice), isCleanup: true)
    } catch {
      failure = error
    }
    gateway.hub.forgetLineListeners(of: subdevice)
    do {
      try await connection?.close()
    } catch {
      if error is CancellationError { throw error }
      throw GatewayError(
        .subdevice, "the sub-device's connection does not close: \(error)", underlying: error)
    }
    if let failure { throw failure }
  }

  private func operate(_ kind: LineCall) async throws -> GatewayReply? {
    try await gateway.replies(to: .operate(kind, [subdevice], isBatch: false)).last
  }

  // MARK: Sending

  /// Posts properties, and returns the reply with the request's own id.
  ///
  /// The cloud drops properties that the product does not have, and replies with success.
  /// - Parameters:
  ///   - properties: An object with a value for each property, or `{"value":…,"time":…}`.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError``: `business` with the cloud's code, 520 when the sub-device is not
  ///   online; and `CancellationError`.
  @discardableResult
  public func post(
    properties: JSONValue, timeout: Duration? = nil
  ) async throws -> GatewayReply {
    guard case .object(let members) = properties else {
      throw GatewayError(.client, "properties are an object with a value for each property")
    }
    let limit = gateway.driver.read { $0.configuration.limits.propertiesPerPost }
    guard members.count <= limit else {
      throw GatewayError(.client, "one post holds \(limit) properties; split it")
    }
    return try await invoke(topic("thing/event/property/post"), properties, timeout: timeout)
  }

  /// Posts properties that are values of Swift, and returns the reply with the request's own id.
  /// - Parameters:
  ///   - properties: A value for each property, in their order.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError``: `business` with the cloud's code, 520 when the sub-device is not
  ///   online; and `CancellationError`.
  @_disfavoredOverload @discardableResult
  public func post(
    properties: KeyValuePairs<String, any JSONRepresentable>, timeout: Duration? = nil
  ) async throws -> GatewayReply {
    try await post(properties: JSONValue(properties), timeout: timeout)
  }

  /// Posts an event, dated now.
  /// - Parameters:
  ///   - event: The event's identifier in the product.
  ///   - value: What is known of it.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  @discardableResult
  public func post(
    event: String, value: JSONValue = [:], timeout: Duration? = nil
  ) async throws -> GatewayReply {
    guard Subdevice.canStandInTopic(event) else {
      throw GatewayError(.client, "an event's identifier is one level of a topic")
    }
    let time = gateway.driver.now.nanoseconds / 1_000_000
    return try await invoke(
      topic("thing/event/\(event)/post"),
      ["value": value, "time": .number(String(time))], timeout: timeout)
  }

  /// Posts an event of which values of Swift are known, dated now.
  /// - Parameters:
  ///   - event: The event's identifier in the product.
  ///   - value: What is known of it, in its order.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  @_disfavoredOverload @discardableResult
  public func post(
    event: String, value: KeyValuePairs<String, any JSONRepresentable>, timeout: Duration? = nil
  ) async throws -> GatewayReply {
    try await post(event: event, value: JSONValue(value), timeout: timeout)
  }

  /// Sends a request of the sub-device and returns its reply.
  /// - Parameters:
  ///   - topic: The full topic; the reply comes on the same with `_reply`.
  ///   - params: The parameters.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func invoke(
    _ topic: String, _ params: JSONValue = [:], timeout: Duration? = nil
  ) async throws -> GatewayReply {
    try await gateway.reply(
      to: .invoke(
        .init(try Gateway.full(topic), params: params, for: subdevice, timeout: timeout)))
  }

  /// Sends a request of the sub-device whose parameters are values of Swift, and returns its reply.
  /// - Parameters:
  ///   - topic: The full topic; the reply comes on the same with `_reply`.
  ///   - params: The parameters, in their order.
  ///   - timeout: How long to wait; nil takes the configuration's time.
  /// - Returns: The reply, whose code is 200.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  @_disfavoredOverload
  public func invoke(
    _ topic: String, _ params: KeyValuePairs<String, any JSONRepresentable>,
    timeout: Duration? = nil
  ) async throws -> GatewayReply {
    try await invoke(topic, JSONValue(params), timeout: timeout)
  }

  /// Sends bytes as they are, without a reply; returns when the receiver has them.
  ///
  /// They are sent also when the sub-device is offline here, as the cloud is the truth. When the cloud refuses
  /// them with code 520, that comes as an error of the sub-device's session, as raw bytes have no id to answer.
  /// - Parameters:
  ///   - bytes: The payload.
  ///   - topic: The full topic; nil takes `thing/model/up_raw`.
  ///   - qos: How hard it is tried; 2 is not supported.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func upload(
    _ bytes: [UInt8], to topic: String? = nil, qos: QoS = .atLeastOnce
  ) async throws {
    try await gateway.upload(bytes, to: topic ?? self.topic("thing/model/up_raw"), qos: qos)
  }

  // MARK: Receiving

  /// Asks for messages of the sub-device, and returns when the cloud has granted them; asked for again
  /// whenever the sub-device comes online.
  /// - Parameter filter: The full topic, or a topic filter.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func subscribe(_ filter: String) async throws {
    _ = try await gateway.call(.subscribe(try Gateway.full(filter), for: subdevice))
  }

  /// Asks no longer for messages of the sub-device.
  /// - Parameter filter: The full topic, or the topic filter, that was subscribed to.
  /// - Throws: ``GatewayError`` and `CancellationError`.
  public func unsubscribe(_ filter: String) async throws {
    _ = try await gateway.call(.unsubscribe(try Gateway.full(filter), for: subdevice))
  }

  /// The sub-device's messages from now on; the newest 1,024 are kept.
  public var messages: BroadcastSequence<GatewayMessage> {
    gateway.hub.messages.listen(limit: 1_024) { [subdevice] in $0.subdevice == subdevice }
  }

  /// What the cloud wants of the sub-device from now on; the newest 256 are kept.
  public var commands: BroadcastSequence<GatewayCommand> {
    gateway.hub.commands.listen(limit: 256) { [subdevice] in $0.subdevice == subdevice }
  }

  /// Answers a command, and returns when the receiver has the answer.
  /// - Parameters:
  ///   - command: The command.
  ///   - data: What the command asked for.
  ///   - code: 200 when it is done; 100000 to 110000 are the device's own.
  ///   - message: What is wrong, for people.
  /// - Throws: ``GatewayError``: `client` when the gateway answers such commands itself, or the
  ///   command is another sub-device's; and `CancellationError`.
  public func answer(
    _ command: GatewayCommand, _ data: JSONValue = [:], code: Int = 200, message: String? = nil
  ) async throws {
    guard command.subdevice == subdevice else {
      throw GatewayError(.client, "the command is for \(command.subdevice)")
    }
    _ = try await gateway.call(.answer(command, code: code, message: message, data))
  }
}
