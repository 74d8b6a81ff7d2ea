public import RepriseCore
import Synchronization
import Wire

/// A broker as a world: MQTT 3.1.1 and 5.0 in binary messages of WebSocket (MQTT 3.1.1 section 6).
///
/// It does for its user what ``MosquittoClient`` does, over any client that has `Capabilities.frames`: a
/// ``WebSocketClient``, or one that is recorded or goes wrong. Each packet goes out as one binary message; what
/// comes in may be split and joined as the server likes.
///
/// ## Time
///
/// What MQTT does by itself, such as PINGREQ and acknowledgements, is done while somebody waits in
/// ``next(before:)``. A user that does not read is not kept alive: the server closes the connection after one and
/// a half times the keep-alive time (section 3.1.2.10).
///
/// ## Sessions
///
/// `cleanStart: false` with the same client identifier takes up the session of the connection before, as long
/// as this client lives: what was accepted above QoS 0 and not published is sent again, and
/// `ClientEvent.published(_:)` comes on the later connection. When the server has forgotten the session, what
/// was under way is forgotten here too. Under MQTT 5.0 such a session never expires. A message of QoS 2 is told
/// once, when it first comes.
///
/// ## Back-pressure
///
/// Nothing is read of the connection while nobody waits in ``next(before:)``: its own limit stops the server. In
/// the other direction a message is refused, with `DataClientError.Code.transport`, when
/// ``MosquittoClient/Limits/messages`` messages, or ``MosquittoClient/Limits/messageBytes`` bytes, are not
/// published yet.
///
/// ## The end
///
/// `disconnect` brings all that was accepted to the server first, and waits for the answers to messages above
/// QoS 0 unless the session keeps them; after 5 seconds the connection is closed without DISCONNECT.
public final class MQTTWebSocketClient<Frames: DataClient>: DataClient {
  private struct State {
    var machine: MQTTClientMachine
    var told = Fifo<ClientEvent>()
    /// When what was told last came.
    var time = Timestamp(nanoseconds: 0)
    /// Whether the user woke the reader; the wakes of this client itself are not told.
    var isWoken = false
  }

  /// What ``next(before:)`` does next.
  private enum Step {
    case tell(ClientEvent)
    case wait(until: Timestamp?)
  }

  private let frames: Frames
  private let check: MQTTActionCheck
  private let state: Mutex<State>
  /// Packets go out one behind the other, whoever brings them about.
  private let turnstile = Turnstile()

  /// Wraps a client.
  /// - Parameters:
  ///   - frames: What carries the packets, not connected; its handshake has to offer the subprotocol `mqtt`
  ///     (MQTT-6.0.0-3).
  ///   - server: What the server is called in texts for people.
  ///   - version: The version of MQTT to speak.
  ///   - limits: How much may wait to be published; how many events may wait is the affair of `frames`.
  ///   - lacking: What this broker is known not to do; such actions fail before they are sent.
  public init(
    _ frames: Frames, server: String = "the server", version: MosquittoClient.Version = .v3_1_1,
    limits: MosquittoClient.Limits = MosquittoClient.Limits(), lacking: Capabilities = []
  ) {
    self.frames = frames
    let version = version.ofPackets
    check = MQTTActionCheck(version: version, lacking: lacking)
    let limit = Load(count: limits.messages, bytes: limits.messageBytes)
    state = Mutex(State(machine: MQTTClientMachine(version: version, server: server, limit: limit)))
  }

  /// What the broker can do; less once it has said so under MQTT 5.0.
  public var capabilities: Capabilities {
    Capabilities([.messages, .push, .binary, .will, .retain, .exactlyOnce])
      .union(check.version == .v5_0 ? [.refusals, .properties] : [])
      .subtracting(check.lacking).subtracting(state.withLock { $0.machine.limits.missing })
  }

  /// The time of the client that carries the packets; it stands still while events wait.
  public var now: Timestamp {
    let moment = frames.now
    return state.withLock { $0.told.isEmpty ? moment : min($0.time, moment) }
  }

  /// Hands an action to the connection, or lets it wait for its turn.
  /// - Parameter action: What to do.
  /// - Throws: `DataClientError` when nothing was handed over.
  public func perform(_ action: ClientAction) async throws {
    try check.check(action.kind)
    await turnstile.enter()
    defer { turnstile.leave() }
    let time = frames.now
    let before = state.withLock { $0.machine.deadline }
    let outputs = try state.withLock { try $0.machine.perform(action, now: time) }
    do {
      try await carryOut(outputs)
    } catch {
      guard !action.kind.isForgotten else { throw error }
      if case .connect = action.kind {
        state.withLock { $0.machine.abandon() }
        throw error
      }
      // It is handed over: what comes of it is that the connection is lost.
      try await carryOut(state.withLock { $0.machine.fail(error) })
    }
    // A reader waits for a deadline of before, and for events of the other client.
    let hasNews = state.withLock { state in
      guard state.told.isEmpty else { return true }
      guard let deadline = state.machine.deadline else { return false }
      return before.map { deadline < $0 } ?? true
    }
    if hasNews { frames.wake() }
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting; nil waits however long it takes.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and what the client that carries the packets throws.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try Task.checkCancellation()
    while true {
      switch state.withLock({ Self.step(&$0, deadline) }) {
      case .tell(let event): return event
      case .wait(let limit):
        let event = try await frames.next(before: limit)
        switch event {
        // The user's own wake is told from the state, and once.
        case .woken: continue
        case .ended: return .ended
        default: try await handle(event)
        }
        guard event == .deadline, let deadline, deadline <= frames.now else { continue }
        return state.withLock { $0.told.popFirst() } ?? .deadline
      }
    }
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return `ClientEvent.woken`.
  public func wake() {
    state.withLock { $0.isWoken = true }
    frames.wake()
  }

  private static func step(_ state: inout State, _ deadline: Timestamp?) -> Step {
    if state.isWoken {
      state.isWoken = false
      return .tell(.woken)
    }
    if let event = state.told.popFirst() { return .tell(event) }
    return .wait(until: [deadline, state.machine.deadline].compactMap(\.self).min())
  }

  private func handle(_ event: ClientEvent) async throws {
    await turnstile.enter()
    defer { turnstile.leave() }
    let time = frames.now
    let outputs = state.withLock { $0.machine.handle(event, now: time) }
    do {
      try await carryOut(outputs)
    } catch {
      try await carryOut(state.withLock { $0.machine.fail(error) })
    }
  }

  /// Does what the machine wants done; what is behind something that fails is not done.
  private func carryOut(_ outputs: [MQTTClientMachine.Output]) async throws {
    for output in outputs {
      switch output {
      case .tell(let event):
        let moment = frames.now
        state.withLock { state in
          if state.told.isEmpty { state.time = moment }
          state.told.append(event)
        }
      case .open: try await hand(.connect(ConnectOptions()))
      case .send(let bytes): try await handIfOpen(.sendBinary(bytes))
      case .close: try await handIfOpen(.disconnect)
      }
    }
  }

  private func hand(_ kind: ClientAction.Kind) async throws {
    try await frames.perform(ClientAction(.carried, kind))
  }

  private func handIfOpen(_ kind: ClientAction.Kind) async throws {
    do {
      try await hand(kind)
    } catch let error as DataClientError where error.code == .notConnected {
      // The end of the connection is on its way, and will be told.
    }
  }
}

extension MQTTWebSocketClient where Frames == WebSocketClient {
  /// Creates a client that is not connected.
  /// - Parameters:
  ///   - url: Where the broker is: `ws://host:port/path`, or `wss://` for TLS; user name and password before
  ///     an `@` belong to the handshake, by the Basic scheme (RFC 7617).
  ///   - version: The version of MQTT to speak.
  ///   - options: How the connection is opened and kept; the subprotocol is `mqtt`, whatever stands there.
  ///   - tls: Which servers to trust, and how the client shows who it is; not looked at with `ws://`.
  ///   - limits: How much may wait.
  ///   - lacking: What this broker is known not to do; such actions fail before they are sent.
  /// - Throws: `DataClientError` when the URL or a file can't be read, or the system is out of threads.
  public convenience init(
    url: String, version: MosquittoClient.Version = .v3_1_1,
    options: WebSocketOptions = WebSocketOptions(), tls: TLSOptions = TLSOptions(),
    limits: MosquittoClient.Limits = MosquittoClient.Limits(), lacking: Capabilities = []
  ) throws(DataClientError) {
    var options = options
    options.subprotocols = ["mqtt"]
    options.requiresSubprotocol = true
    let place = try WebSocketURL(url)
    let frames = try WebSocketClient(
      url: url, options: options, tls: tls,
      limits: WebSocketClient.Limits(
        events: limits.events, eventBytes: limits.eventBytes, messages: 2 * limits.messages,
        messageBytes: 2 * limits.messageBytes))
    self.init(
      frames, server: "\(place.host):\(place.port)", version: version, limits: limits,
      lacking: lacking)
  }
}

extension ClientAction.Kind {
  /// Whether nothing is remembered of the action once its packet is written.
  fileprivate var isForgotten: Bool {
    guard case .publish(let message) = self else { return false }
    return message.qos == .atMostOnce
  }
}
