public import RepriseCore
import Wire

/// A broker as a world: MQTT 3.1.1 and 5.0 over TCP and TLS, by libmosquitto.
///
/// A client has one connection at a time and opens another one after `ClientEvent.closed(_:)`
/// when it is asked to; it never reconnects on its own. While a connection is opened the server's
/// name is looked up and its addresses are tried, which can take minutes; then the server has 60
/// seconds to accept it. `disconnect` gives that up at once.
///
/// ## Sessions
///
/// `cleanStart: false` with the same client identifier takes up the session of the connection
/// before: what was accepted above QoS 0 and not published is sent again, and
/// `ClientEvent.published(_:)` comes on the later connection. When the server has forgotten the
/// session, what was under way is forgotten here too; the connection is opened once more for that.
/// Under MQTT 5.0 such a session never expires. Without a client identifier the library makes one
/// under MQTT 3.1.1, the server under 5.0.
///
/// ## Back-pressure
///
/// When ``Limits/events`` events, or ``Limits/eventBytes`` bytes, wait for ``next(before:)``, the
/// socket is read no further until half of them are taken (one read may go beyond by what one TLS
/// record holds, and messages of QoS 2 wait in the library for their PUBREL). TCP then stops the
/// server. What a server does is its own affair: mosquitto keeps up to `max_queued_messages`
/// (1,000) for the client and drops those that come after. One PINGREQ is sent meanwhile and no
/// second one before its answer is reached, so a server may close the connection when the pause is
/// longer than twice the keep-alive time; what had arrived is then still read first.
///
/// In the other direction a message is refused, with `DataClientError.Code.transport`, when
/// ``Limits/messages`` messages, or ``Limits/messageBytes`` bytes, are not published yet.
///
/// ## What MQTT and the library make different
///
/// A server of MQTT 3.1.1 can't refuse a message; mosquitto acknowledges what its access list forbids
/// and throws it away. Under 5.0 it says so, and `ClientEvent.failed(_:_:)` tells. The library
/// (2.0.11) does not hand out the reason codes of UNSUBACK, so every answered `unsubscribe` is
/// `ClientEvent.unsubscribed(_:)`, nor the reason string of PUBREC. Filters of different QoS in one `subscribe` go
/// in several SUBSCRIBE packets and are answered by one event. What a message says under 5.0 besides topic and
/// payload is in `Message.properties`; 3.1.1 has none of it, and a message that has some is refused before it is sent.
///
/// ## Secrets
///
/// Where the environment has `SSLKEYLOGFILE` as the first connection by TLS is opened, the secrets of all of them are
/// appended to the file that it names, by which others decrypt captures. Only the user may read it when it is created. A
/// file that can't be written is done without, and nobody is told.
///
/// ## The end
///
/// `disconnect` brings all that was accepted to the server first, and waits for the answers to
/// messages above QoS 0 unless the session keeps them; after 5 seconds the connection is cut. A
/// client that is let go cuts an open connection too, so the server sends its will: `disconnect`
/// first when that is not meant.
public final class MosquittoClient: DataClient {
  /// The versions of MQTT.
  public enum Version: Sendable, Hashable, CaseIterable {
    /// MQTT 3.1.1.
    case v3_1_1
    /// MQTT 5.0.
    case v5_0

    /// The library's number of the version.
    var number: Int32 { self == .v3_1_1 ? 4 : 5 }

    /// The version as packets have it.
    var ofPackets: MQTTVersion { self == .v3_1_1 ? .v3_1_1 : .v5_0 }
  }

  /// How much may wait.
  public struct Limits: Sendable, Hashable {
    /// How many events may wait for the user before the socket is left alone.
    public var events: Int
    /// How many bytes they may hold.
    public var eventBytes: Int
    /// How many messages may be unpublished before another one is refused.
    public var messages: Int
    /// How many bytes they may hold.
    public var messageBytes: Int

    /// Creates limits.
    /// - Parameters:
    ///   - events: How many events may wait for the user.
    ///   - eventBytes: How many bytes they may hold.
    ///   - messages: How many messages may be unpublished, at most 60,000.
    ///   - messageBytes: How many bytes they may hold.
    public init(
      events: Int = 1_024, eventBytes: Int = 16_777_216, messages: Int = 10_000,
      messageBytes: Int = 67_108_864
    ) {
      self.events = events
      self.eventBytes = eventBytes
      // The library gives out packet identifiers without looking which are in use.
      self.messages = min(messages, 60_000)
      self.messageBytes = messageBytes
    }
  }

  let setup: MosquittoLink.Setup
  let actionCheck: MQTTActionCheck
  private let actions: ActionQueue
  private let events: EventQueue
  private let waker: Waker
  private let thread: WorkerThread
  private let timer: WorkerThread

  /// How long `disconnect` tries to bring what waits to the server, in nanoseconds.
  private static let closingTime: Int64 = 5_000_000_000

  /// Creates a client that is not connected.
  /// - Parameters:
  ///   - url: Where the broker is: `mqtt://user:password@host:port`, or `mqtts://` for TLS.
  ///   - version: The version of MQTT to speak.
  ///   - tls: Which servers to trust, and how the client shows who it is; not looked at with `mqtt://`.
  ///   - limits: How much may wait.
  ///   - lacking: What this broker is known not to do; such actions fail before they are sent.
  /// - Throws: `DataClientError` when the URL or a file can't be read, or the system is out of
  ///   threads.
  public convenience init(
    url: String, version: Version = .v3_1_1, tls: TLSOptions = TLSOptions(),
    limits: Limits = Limits(), lacking: Capabilities = []
  ) throws(DataClientError) {
    let broker = try BrokerURL(url)
    try broker.checkIsTCP(or: "MQTTWebSocketClient")
    if broker.isSecure { try tls.check(takesSharedKey: true) }
    try self.init(
      MosquittoLink.Setup(url: broker, tls: tls, version: version), limits: limits,
      lacking: lacking)
  }

  /// Creates a client that is not connected, of a broker that a configuration names.
  /// - Parameters:
  ///   - address: Where the broker is, and whom to trust there.
  ///   - version: The version of MQTT to speak.
  ///   - limits: How much may wait.
  ///   - lacking: What this broker is known not to do; such actions fail before they are sent.
  /// - Throws: `DataClientError` when the address or a file can't be read, or the system is out of threads.
  public convenience init(
    _ address: BrokerAddress, version: Version = .v3_1_1, limits: Limits = Limits(),
    lacking: Capabilities = []
  ) throws(DataClientError) {
    let tls = TLSOptions(
      authorityFile: address.authorityFile, verifiesCertificate: address.verifiesCertificate,
      verifiesHostName: address.verifiesCertificate)
    try self.init(url: address.url, version: version, tls: tls, limits: limits, lacking: lacking)
  }

  /// Creates another client of the same broker.
  convenience init(sameBrokerAs other: MosquittoClient) throws(DataClientError) {
    try self.init(other.setup, limits: Limits(), lacking: other.actionCheck.lacking)
  }

  /// Creates a client of a broker that is described in full.
  init(
    _ setup: MosquittoLink.Setup, limits: Limits, lacking: Capabilities
  ) throws(DataClientError) {
    let waker = try Waker()
    let actions = ActionQueue(limit: Load(count: limits.messages, bytes: limits.messageBytes))
    let events = try EventQueue(limit: limits.events, byteLimit: limits.eventBytes) { waker.wake() }
    self.setup = setup
    actionCheck = MQTTActionCheck(version: setup.version.ofPackets, lacking: lacking)
    self.actions = actions
    self.events = events
    self.waker = waker
    let timer = try WorkerThread { events.runTimer() }
    do throws(DataClientError) {
      thread = try WorkerThread {
        MosquittoLoop(setup, actions: actions, events: events, waker: waker).run()
      }
    } catch {
      events.stop()
      timer.join()
      throw error
    }
    self.timer = timer
  }

  deinit {
    let isBlocked = actions.stop()
    waker.wake()
    // A thread that looks up a name can't be woken; it has what it needs, and ends by itself.
    if isBlocked { thread.detach() } else { thread.join() }
    events.stop()
    timer.join()
  }

  /// What the transport and the broker can do; less once a broker has said so under MQTT 5.0.
  public var capabilities: Capabilities {
    Capabilities([.messages, .push, .binary, .will, .retain, .exactlyOnce])
      .union(setup.version == .v5_0 ? [.refusals, .properties] : [])
      .subtracting(actionCheck.lacking).subtracting(actions.missing)
  }

  /// The time: that of the day when the client was created, then of the monotonic clock.
  ///
  /// It stands still while events wait; each event takes it to the moment at which it came.
  public var now: Timestamp { events.now }

  /// Hands an action to the client's thread.
  /// - Parameter action: What to do.
  /// - Throws: `DataClientError` when nothing was handed over.
  public func perform(_ action: ClientAction) async throws {
    try check(action.kind)
    switch action.kind {
    case .connect(let options): try actions.connect(options)
    case .subscribe(let subscriptions):
      try actions.add(.subscribe(action.id, subscriptions))
    case .unsubscribe(let filters): try actions.add(.unsubscribe(action.id, filters))
    case .publish(let message): try actions.add(.publish(action.id, message))
    // The check refuses them.
    case .send, .sendText, .sendBinary: return
    case .disconnect:
      let deadline = Timestamp(nanoseconds: events.clock.now.nanoseconds &+ Self.closingTime)
      if try actions.disconnect(by: deadline) { events.append([.closed(.byUser)]) }
    }
    waker.wake()
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting; nil waits however long it takes.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and `DataClientError` when another task is waiting.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await events.next(before: deadline)
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return `ClientEvent.woken`.
  public func wake() { events.wake() }
}
