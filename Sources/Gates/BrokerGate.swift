import LiveClient
package import RepriseCore
import Synchronization

/// A door between a client and a real broker, which lets the broker's answers through when it is told
/// to.
///
/// The client connects to ``url`` instead of the broker. What it sends passes at once and unchanged.
/// Of what the broker sends, CONNACK, SUBACK, UNSUBACK, PUBACK, PUBREC and PUBCOMP wait until they are
/// let through; everything else passes, but nothing before the CONNACK. So a test says when the cloud
/// accepts, what it grants, and when the network breaks, while bytes, broker and client are real.
///
/// ```swift
/// let gate = try BrokerGate(broker: "mqtt://localhost")
/// let client = try MosquittoClient(url: gate.url)
/// try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), .connect(ConnectOptions())))
/// try await gate.refuse(code: 3)
/// ```
///
/// It stands before one client, which may connect as often as it likes: what the gate is told is meant
/// for the newest connection, and waits for it, though not longer than the limit.
///
/// A gate reads what passes, so it speaks plain TCP only, and a packet of the broker has 16 MiB at
/// most. When 1 MiB waits for one side, the other side is read no further.
package final class BrokerGate: Sendable {
  /// Where the client is to connect to, with the user of the broker's URL.
  package let url: String
  /// The port of the gate's address that the client is to connect to.
  package let port: UInt16

  private let orders: GateOrders
  private let thread: Mutex<WorkerThread?>

  /// Opens a gate; a broker's name is looked up, which blocks.
  /// - Parameters:
  ///   - broker: Where the broker is, `mqtt://user:password@host:port`.
  ///   - address: Where to listen, an address of IPv4; on Linux every 127.x.y.z is the loopback
  ///     interface's, so that a capture can tell the gate's packets from all others.
  ///   - isPassing: Whether everything passes at first, as after ``pass()``.
  ///   - limit: How long to wait for what is told to be possible.
  /// - Throws: `DataClientError` when the URL can't be read or asks for TLS, when the host is not
  ///   found, and when the system is out of ports or threads.
  package init(
    broker: String, address: String = "127.0.0.1", isPassing: Bool = false,
    limit: Duration = .seconds(60)
  ) throws(DataClientError) {
    let place = try BrokerURL(broker)
    try place.checkIsTCP()
    guard !place.isSecure else {
      throw DataClientError(
        .unsupported,
        "the gate reads what the broker answers, so it can't be encrypted: use mqtt://, not mqtts://"
      )
    }
    let upstream = GateLoop.Upstream(
      addresses: try TCPAddress.resolve(place.host, port: place.port),
      place: "\(place.host) port \(place.port)")
    let (listener, port) = try TCPSocket.listening(on: address)
    let waker = try Waker()
    let orders = GateOrders(limit: limit, waker: waker)
    thread = Mutex(
      try WorkerThread {
        GateLoop(listener, upstream: upstream, isPassing: isPassing, orders: orders, waker: waker)
          .run()
      })
    self.orders = orders
    self.port = port
    url = "mqtt://\(BrokerURL.user(in: broker))\(address):\(port)"
  }

  deinit { close() }

  /// Cuts all connections and opens none any more; whoever waits for the gate gets an error.
  package func close() {
    orders.close()
    thread.withLock { $0.take() }?.join()
  }

  // MARK: The cloud

  /// Lets the CONNACK through.
  /// - Throws: `DataClientError` when none comes in time, when the broker does not answer or refuses
  ///   the connection itself; and `CancellationError`.
  package func accept() async throws { try await orders.carryOut(.accept) }

  /// Refuses the connection that the broker has accepted, and waits until it is closed.
  /// - Parameter code: The code of CONNACK; in MQTT 3.1.1 1 to 5 (section 3.2.2.3).
  /// - Throws: `DataClientError` and `CancellationError`, as ``accept()``.
  package func refuse(code: UInt8) async throws { try await orders.carryOut(.refuse(code)) }

  /// Lets the oldest SUBACK through.
  /// - Parameter granted: What to say of each filter instead of what the broker says, nil for a refusal
  ///   (0x80); the broker goes by what it has granted itself.
  /// - Throws: `DataClientError` when none comes in time, or when the SUBSCRIBE has another number of
  ///   filters; and `CancellationError`.
  package func grant(_ granted: [QoS?]? = nil) async throws {
    try await orders.carryOut(.grant(granted))
  }

  /// Lets the oldest PUBACK, UNSUBACK or, at QoS 2, PUBREC through; its PUBCOMP follows by itself.
  /// - Throws: `DataClientError` when none comes in time; and `CancellationError`.
  package func acknowledge() async throws { try await orders.carryOut(.acknowledge) }

  /// Breaks the connection off (RST), or the attempt to open one as soon as its CONNECT has come, and waits until
  /// it is closed.
  ///
  /// What the client has sent before reaches the broker, which sees no DISCONNECT; what the gate has let
  /// through reaches the client.
  /// - Throws: `DataClientError` when no connection comes in time; and `CancellationError`.
  package func lose() async throws { try await orders.carryOut(.lose) }

  /// Closes the connection in good order (FIN), as a broker does that another client has taken the session over
  /// from (MQTT 3.1.1 section 3.1.4), and waits until it is closed.
  ///
  /// What the client has sent before reaches the broker, and what the gate has let through reaches the client.
  /// - Throws: `DataClientError` when no connection comes in time; and `CancellationError`.
  package func hangUp() async throws { try await orders.carryOut(.hangUp) }

  // MARK: Mode

  /// Lets everything through from now on, what is held first.
  /// - Throws: `DataClientError` when the gate is closed; and `CancellationError`.
  package func pass() async throws { try await orders.carryOut(.pass) }

  /// Holds answers from now on, as a gate does at first.
  /// - Throws: `DataClientError` when the gate is closed; and `CancellationError`.
  package func hold() async throws { try await orders.carryOut(.hold) }

}

extension BrokerGate: WitnessingGate {
  /// The number of the connection that came last.
  var lastConnection: UInt64 { orders.lastConnection }

  /// Waits for the CONNECT of a connection later than one.
  func awaitOpening(after number: UInt64) async throws -> UInt64 {
    try await orders.carryOut(.awaitConnect(after: number))
  }

  /// Waits until a connection has brought so many filters and messages, or is over.
  func awaitRequests(_ count: Int, on number: UInt64) async throws {
    try await orders.carryOut(.awaitRequests(number, count: count))
  }

  /// Waits until a connection has brought DISCONNECT, or is over.
  func awaitGoodbye(on number: UInt64) async throws {
    try await orders.carryOut(.awaitGoodbye(number))
  }
}
