public import RepriseCore

/// A server of WebSocket as a world: text and binary messages by libwebsockets (RFC 6455).
///
/// A client has one connection at a time and opens another one after `ClientEvent.closed(_:)` when it is
/// asked to; it never reconnects on its own. The options of a `connect` action are those of MQTT and mean
/// nothing here; where to, and how, is the client's.
///
/// ## Messages
///
/// Fragments are joined, and permessage-deflate is undone, before a message is told. PING and PONG are the
/// client's own: a server that is silent for longer than ``WebSocketOptions/pingInterval`` and then does not
/// answer within ``WebSocketOptions/pongTimeout`` is taken for dead.
///
/// ## Back-pressure
///
/// When ``Limits/events`` events, or ``Limits/eventBytes`` bytes, wait for ``next(before:)``, the socket is
/// read no further until half of them are taken (what one read brought may go beyond). TCP then stops the
/// server. In the other direction a message is refused, with `DataClientError.Code.transport`, when
/// ``Limits/messages`` messages, or ``Limits/messageBytes`` bytes, are not written yet.
///
/// ## Secrets
///
/// Those of TLS go where ``MosquittoClient`` has them go: to the file that `SSLKEYLOGFILE` names, if it does.
///
/// ## The end
///
/// `disconnect` writes all that was accepted, then a Close frame with code 1000, and waits for the server's
/// for a few seconds. A server that reads nothing is left after 5 seconds, and one that reads slowly after as
/// many more as 64 KiB a second take for what waits. However a connection ends, it is told once. Of the codes that
/// a server may close with, libwebsockets 4.1 takes 1012, 1013 and 1014 for errors of the server, so that they are
/// not told.
public final class WebSocketClient: DataClient {
  /// How much may wait.
  public struct Limits: Sendable, Hashable {
    /// How many events may wait for the user before the socket is left alone.
    public var events: Int
    /// How many bytes they may hold.
    public var eventBytes: Int
    /// How many messages may be unwritten before another one is refused.
    public var messages: Int
    /// How many bytes they may hold.
    public var messageBytes: Int

    /// Creates limits.
    /// - Parameters:
    ///   - events: How many events may wait for the user.
    ///   - eventBytes: How many bytes they may hold.
    ///   - messages: How many messages may be unwritten.
    ///   - messageBytes: How many bytes they may hold.
    public init(
      events: Int = 1_024, eventBytes: Int = 67_108_864, messages: Int = 10_000,
      messageBytes: Int = 67_108_864
    ) {
      self.events = events
      self.eventBytes = eventBytes
      self.messages = messages
      self.messageBytes = messageBytes
    }
  }

  private let orders: WebSocketOrders
  private let events: EventQueue
  private let thread: WorkerThread
  private let timer: WorkerThread

  /// Creates a client that is not connected.
  /// - Parameters:
  ///   - url: Where the server is: `ws://host:port/path`, or `wss://` for TLS; what stands before an `@` is
  ///     sent as credentials of the Basic scheme (RFC 7617).
  ///   - options: How the connection is opened and kept.
  ///   - tls: Which servers to trust, and how the client shows who it is; not looked at with `ws://`.
  ///   - limits: How much may wait.
  /// - Throws: `DataClientError` when the URL or a file can't be read, a header can't be sent, or the
  ///   system is out of threads.
  public convenience init(
    url: String, options: WebSocketOptions = WebSocketOptions(), tls: TLSOptions = TLSOptions(),
    limits: Limits = Limits()
  ) throws(DataClientError) {
    try self.init(
      WebSocketSetup(url: WebSocketURL(url), options: options, tls: tls), limits: limits)
  }

  /// Creates a client that is not connected.
  init(_ setup: WebSocketSetup, limits: Limits) throws(DataClientError) {
    let orders = WebSocketOrders(messages: limits.messages, bytes: limits.messageBytes)
    let events = try EventQueue(limit: limits.events, byteLimit: limits.eventBytes) {
      orders.wake()
    }
    self.orders = orders
    self.events = events
    let timer = try WorkerThread { events.runTimer() }
    do throws(DataClientError) {
      thread = try WorkerThread {
        let loop = WebSocketLoop(setup, orders: orders, events: events)
        // Its links refer to it weakly, so that something has to hold it to the end.
        withExtendedLifetime(loop) { loop.run() }
      }
    } catch {
      events.stop()
      timer.join()
      throw error
    }
    self.timer = timer
  }

  deinit {
    let isBlocked = orders.stop()
    // A thread that looks up a name can't be woken; it has what it needs, and ends by itself.
    if isBlocked { thread.detach() } else { thread.join() }
    events.stop()
    timer.join()
  }

  /// Text and binary messages in both directions.
  public var capabilities: Capabilities { [.frames, .push, .binary] }

  /// The time: that of the day when the client was created, then of the monotonic clock.
  ///
  /// It stands still while events wait; each event takes it to the moment at which it came.
  public var now: Timestamp { events.now }

  /// Hands an action to the client's thread.
  /// - Parameter action: What to do.
  /// - Throws: `DataClientError` when nothing was handed over.
  public func perform(_ action: ClientAction) async throws {
    switch action.kind {
    case .connect(let options):
      guard options.will == nil else {
        throw DataClientError(.unsupported, "a WebSocket has no will; connect without one")
      }
      try orders.connect()
    case .disconnect: if try orders.disconnect() { events.append([.closed(.byUser)]) }
    case .sendText(let text): try orders.send(.init(text.utf8, isText: true))
    case .sendBinary(let bytes): try orders.send(.init(bytes, isText: false))
    case .subscribe, .unsubscribe, .publish, .send:
      throw DataClientError(
        .unsupported, "a WebSocket has no topics and no requests; send text or binary messages")
    }
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
