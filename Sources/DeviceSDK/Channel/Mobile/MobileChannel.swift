public import RepriseCore
import Synchronization

/// Runs a channel with the calls of the SDK for Android for as long as a body runs, as `withChannel` does.
///
/// There is no `getInstance()`: a channel belongs to the body that it is made for, so that two can live in one process
/// and none outlives its world.
/// - Parameters:
///   - client: The world: a broker, a folder of files, a recording.
///   - config: How the channel behaves.
///   - identity: The identity of the app, if that is known.
///   - log: Takes log entries while ``MobileChannel/setOpenLog(_:)`` lets them through.
///   - body: What the application does with the channel, which is of no use afterwards.
/// - Returns: What the body returns.
/// - Throws: ``ChannelError`` when the configuration is wrong; what the body throws; and `DataClientError` when the
///   client's world is broken, as a replay is that diverged. The body's own error is kept then: only a
///   `DataClientError`, or one of the SDK's that says the same, gives way to that of the world.
public func withMobileChannel<Result: Sendable>(
  on client: any DataClient, config: MobileConnectConfig, identity: ChannelIdentity? = nil,
  log: (@Sendable (DeviceLog.Entry) -> Void)? = nil,
  _ body: (MobileChannel) async throws -> Result
) async throws -> Result {
  let gate = MobileLogGate(log)
  var configuration = try config.configuration(identity: identity)
  if log != nil { configuration.log = DeviceLog(level: .debug) { gate.take($0) } }
  // Held out here: what waits for the main actor when the body ends is told before the channel is over.
  let registry = MobileRegistry()
  defer { withExtendedLifetime(registry) {} }
  return try await withChannel(on: client, configuration: configuration) { channel in
    try await body(MobileChannel(channel, gate, registry))
  }
}

/// The long connection of an app to its cloud, with the calls of the SDK for Android under their own names, slips of
/// the pen included.
///
/// It is a thin face of ``channel``, which does the work and can be used beside it. Listeners are held until they are
/// unregistered, as on Android; those of single calls until they are called.
public final class MobileChannel: Sendable {
  /// The channel.
  public let channel: Channel
  private let gate: MobileLogGate
  private let registry: MobileRegistry

  init(_ channel: Channel, _ gate: MobileLogGate, _ registry: MobileRegistry) {
    self.channel = channel
    self.gate = gate
    self.registry = registry
    registry.join(channel.hub)
    channel.addConnectListener(registry, uiSafety: false)
  }

  // MARK: Connection

  /// Connects; a second connection is never made.
  /// - Parameter listener: Hears of the state on the main actor, until it is unregistered.
  public func startConnect(_ listener: (any MobileConnectListener)? = nil) {
    if let listener { registerConnectListener(true, listener) }
    channel.startConnect()
  }

  /// Closes the connection; it waits as long as ``ChannelConfiguration/closeTimeout`` says.
  /// - Parameter listener: Hears of it; the state is told to it once, when it is reached.
  public func endConnect(_ listener: (any MobileConnectListener)? = nil) {
    channel.stopConnect { [registry] _ in listener?.onConnectStateChange(registry.state) }
  }

  /// Adds a listener of the connection's state.
  /// - Parameters:
  ///   - needUI: Whether it is called on the main actor; otherwise on the channel's own task.
  ///   - listener: The listener.
  public func registerConnectListener(_ needUI: Bool, _ listener: any MobileConnectListener) {
    registry.add(listener, onMain: needUI)
  }

  /// Removes a listener of the connection's state.
  /// - Parameter listener: The listener.
  public func unRegisterConnectListener(_ listener: any MobileConnectListener) {
    registry.remove(listener)
  }

  /// Returns the connection's state.
  public func getMobileConnectState() -> MobileConnectState { registry.state }

  /// Returns the client identifier; empty until the identity is known.
  public func getClientId() -> String { channel.getClientId() }

  /// Lets log entries through to whoever took them when the channel was made, or keeps them back, as at first.
  /// - Parameter isOpen: Whether they are let through.
  public func setOpenLog(_ isOpen: Bool) { gate.open(isOpen) }

  // MARK: Requests

  /// Sends a request.
  /// - Parameters:
  ///   - topic: The topic of the request.
  ///   - opts: Its object `extraParam` has members that stand beside the parameters.
  ///   - params: The parameters.
  ///   - listener: Hears how it ended.
  public func asyncSendRequest(
    _ topic: String, _ opts: JSONValue?, _ params: JSONValue,
    _ listener: any MobileRequestListener
  ) {
    channel.invokeWithTopic(topic, opts: opts, params: params) { response in
      if let error = response.error { return listener.onFailure(MobileError(error)) }
      let data = response.reply?.data ?? [:]
      listener.onSuccess(String(decoding: data.utf8, as: UTF8.self))
    }
  }

  /// Sends parameters.
  /// - Parameters:
  ///   - topic: The topic, without wildcards.
  ///   - params: The parameters.
  ///   - listener: Hears that the receiver has them, with an empty object, or why not.
  public func ayncSendPublishRequest(
    _ topic: String, _ params: JSONValue, _ listener: any MobileRequestListener
  ) {
    channel.publish(topic, params: params) { Self.tell(listener, $0) }
  }

  /// Binds the channel to the account that a token is for.
  /// - Parameters:
  ///   - iotToken: The login token of the account.
  ///   - listener: Hears that it is bound, with an empty object, or why not.
  public func bindAccount(_ iotToken: String, _ listener: any MobileRequestListener) {
    channel.bind(token: iotToken) { Self.tell(listener, $0) }
  }

  /// Takes the binding back; to be called before the user is logged out.
  /// - Parameter listener: Hears that it is taken back, with an empty object, or why not.
  public func unBindAccount(_ listener: any MobileRequestListener) {
    channel.unbind { Self.tell(listener, $0) }
  }

  private static func tell(_ listener: any MobileRequestListener, _ error: ChannelError?) {
    if let error {
      listener.onFailure(MobileError(error))
    } else {
      listener.onSuccess("{}")
    }
  }

  // MARK: Messages

  /// Asks for messages.
  /// - Parameters:
  ///   - topic: The topic, or a topic filter.
  ///   - listener: Hears whether they are granted.
  public func subscrbie(_ topic: String, _ listener: any MobileSubscrbieListener) {
    channel.subscribe(topic) { [registry] in registry.tell(listener, topic, $0) }
  }

  /// Asks no longer for messages.
  /// - Parameters:
  ///   - topic: The topic, or the topic filter, that was subscribed to.
  ///   - listener: Hears when that is acknowledged.
  public func unSubscrbie(_ topic: String, _ listener: any MobileSubscrbieListener) {
    channel.unsubscribe(topic) { [registry] in registry.tell(listener, topic, $0) }
  }

  /// Adds a listener of messages.
  /// - Parameters:
  ///   - needUI: Whether it is called on the main actor; otherwise on the channel's own task.
  ///   - listener: The listener.
  public func registerDownstreamListener(
    _ needUI: Bool, _ listener: any MobileDownstreamListener
  ) {
    guard let relay = registry.add(listener) else { return }
    channel.addDownStreamListener(uiSafety: needUI, listener: relay)
  }

  /// Removes a listener of messages.
  /// - Parameter listener: The listener.
  public func unRegisterDownstreamListener(_ listener: any MobileDownstreamListener) {
    guard let relay = registry.remove(listener) else { return }
    channel.removeDownStreamListener(relay)
  }
}

/// Lets log entries through, or keeps them back.
final class MobileLogGate: Sendable {
  private let isOpen = Atomic(false)
  private let log: (@Sendable (DeviceLog.Entry) -> Void)?

  init(_ log: (@Sendable (DeviceLog.Entry) -> Void)?) { self.log = log }

  func open(_ value: Bool) { isOpen.store(value, ordering: .relaxed) }

  func take(_ entry: DeviceLog.Entry) {
    if isOpen.load(ordering: .relaxed) { log?(entry) }
  }
}
