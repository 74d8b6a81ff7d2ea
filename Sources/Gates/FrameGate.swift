import LiveClient
package import RepriseCore
import Synchronization

/// A server of WebSocket that does what it is told to, well or badly (RFC 6455).
///
/// A client connects to ``url``. Its handshake, and its Close frame, wait until they are answered; PINGs are
/// answered at once. So a test says when the cloud accepts, what it says, and when the network breaks, while
/// bytes and client are real.
///
/// ```swift
/// let gate = try FrameGate()
/// let client = try WebSocketClient(url: gate.url)
/// try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), .connect(ConnectOptions())))
/// try await gate.refuse(.status(403))
/// ```
///
/// It stands before one client, which may connect as often as it likes: what the gate is told is meant
/// for the newest connection, and waits for it, though not longer than the limit. It speaks no TLS and
/// agrees on no extension.
package final class FrameGate: Sendable {
  /// How a handshake is answered so that no connection comes of it (section 4.2.2).
  package enum Refusal: Sendable, Hashable {
    /// With another status than 101, such as 403.
    case status(Int)
    /// With 101, and a `Sec-WebSocket-Accept` that answers another key.
    case wrongAccept
    /// With 101, and a subprotocol that nobody offered.
    case foreignSubprotocol
  }

  /// Where the client is to connect to.
  package let url: String
  /// The port of the gate's address that the client is to connect to.
  package let port: UInt16

  private let orders: OrderList<FrameGateCommand>
  private let threads: Mutex<(loop: WorkerThread, timer: WorkerThread)?>
  private let events: EventQueue

  /// Opens a gate.
  /// - Parameters:
  ///   - address: Where to listen, an address of IPv4; on Linux every 127.x.y.z is the loopback
  ///     interface's, so that a capture can tell the gate's packets from all others.
  ///   - isPassing: Whether handshakes are accepted and Close frames answered at once; then ``server``
  ///     tells what comes.
  ///   - limit: How long to wait for what is told to be possible.
  /// - Throws: `DataClientError` when the system is out of ports or threads.
  package init(
    address: String = "127.0.0.1", isPassing: Bool = false, limit: Duration = .seconds(60)
  ) throws(DataClientError) {
    let (listener, port) = try TCPSocket.listening(on: address)
    let waker = try Waker()
    let orders = OrderList<FrameGateCommand>(limit: limit, waker: waker)
    let events = try EventQueue(limit: .max, byteLimit: .max) {}
    let timer = try WorkerThread { events.runTimer() }
    do throws(DataClientError) {
      let told = isPassing ? events : nil
      let loop = try WorkerThread {
        FrameGateLoop(listener, orders: orders, waker: waker, events: told).run()
      }
      threads = Mutex((loop, timer))
    } catch {
      events.stop()
      timer.join()
      throw error
    }
    self.orders = orders
    self.events = events
    self.port = port
    url = "ws://\(address):\(port)"
  }

  deinit { close() }

  /// Cuts all connections and opens none any more; whoever waits for the gate gets an error.
  package func close() {
    guard let threads = threads.withLock({ $0.take() }) else { return }
    orders.close()
    events.stop()
    threads.loop.join()
    threads.timer.join()
  }

  /// The server's side, for a cloud with a mind of its own: who connects, and what is sent.
  package var server: some DataClient { FrameGateServer(gate: self, events: events) }

  // MARK: The cloud

  /// Accepts the handshake.
  /// - Throws: `DataClientError` when none comes in time; and `CancellationError`.
  package func accept() async throws { try await orders.carryOut(.accept) }

  /// Refuses the handshake, and waits until the connection is closed.
  /// - Parameter refusal: How.
  /// - Throws: `DataClientError` when none comes in time; and `CancellationError`.
  package func refuse(_ refusal: Refusal) async throws {
    try await orders.carryOut(.refuse(refusal))
  }

  /// Sends a text message.
  /// - Parameter text: The message.
  /// - Throws: `DataClientError` when no connection is open in time; and `CancellationError`.
  package func send(_ text: String) async throws {
    try await orders.carryOut(.send(Array(text.utf8), isText: true))
  }

  /// Sends a binary message.
  /// - Parameter bytes: The message.
  /// - Throws: `DataClientError` when no connection is open in time; and `CancellationError`.
  package func send(_ bytes: [UInt8]) async throws {
    try await orders.carryOut(.send(bytes, isText: false))
  }

  /// Closes the connection with a Close frame, and waits until it is closed (section 7.1.2).
  /// - Parameter code: The status code (section 7.4.1).
  /// - Throws: `DataClientError` when no connection is open in time; and `CancellationError`.
  package func close(code: UInt16) async throws { try await orders.carryOut(.close(code)) }

  /// Answers the client's Close frame, and waits until the connection is closed; one that is closed
  /// already needs no answer.
  /// - Throws: `DataClientError` when none comes in time; and `CancellationError`.
  package func answerClose() async throws { try await orders.carryOut(.answerClose) }

  /// Cuts the connection without a Close frame, or the attempt to open one as soon as its handshake has
  /// come, and waits until it is closed.
  /// - Throws: `DataClientError` when no connection comes in time; and `CancellationError`.
  package func lose() async throws { try await orders.carryOut(.lose) }

}

extension FrameGate: WitnessingGate {
  /// The number of the connection that came last.
  var lastConnection: UInt64 { orders.lastConnection }

  /// Waits for the handshake of a connection later than one.
  func awaitOpening(after number: UInt64) async throws -> UInt64 {
    try await orders.carryOut(.awaitHandshake(after: number))
  }

  /// Waits until a connection has brought so many messages, or is over.
  func awaitRequests(_ count: Int, on number: UInt64) async throws {
    try await orders.carryOut(.awaitMessages(number, count: count))
  }

  /// Waits until a connection has brought a Close frame, or is over.
  func awaitGoodbye(on number: UInt64) async throws {
    try await orders.carryOut(.awaitGoodbye(number))
  }
}

/// What a ``FrameGate`` can be told to do.
enum FrameGateCommand: Sendable {
  case accept
  case refuse(FrameGate.Refusal)
  case send([UInt8], isText: Bool)
  case close(UInt16)
  case answerClose
  case lose
  case awaitHandshake(after: UInt64)
  case awaitMessages(UInt64, count: Int)
  case awaitGoodbye(UInt64)
}

/// The server's side of a gate.
private struct FrameGateServer: DataClient {
  let gate: FrameGate
  let events: EventQueue

  var capabilities: Capabilities { [.frames, .push, .binary] }
  var now: Timestamp { events.now }

  func perform(_ action: ClientAction) async throws {
    switch action.kind {
    case .sendText(let text): try await gate.send(text)
    case .sendBinary(let bytes): try await gate.send(bytes)
    case .disconnect: try await gate.close(code: 1_000)
    case .connect, .subscribe, .unsubscribe, .publish, .send:
      throw DataClientError(.unsupported, "a server sends text or binary messages")
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await events.next(before: deadline)
  }

  func wake() { events.wake() }
}
