import RepriseCore
import Wire

/// What a client of MQTT does when, over a connection that carries messages of WebSocket: a value without a
/// clock and without I/O.
///
/// Time passes by ``ClientEvent/deadline``; ``deadline`` tells when it has to be told of.
struct MQTTClientMachine: Sendable {
  /// What to do.
  enum Output: Sendable, Hashable {
    /// Open the connection that carries the packets.
    case open
    /// Send bytes of MQTT, as one binary message.
    case send([UInt8])
    /// Close the connection that carries the packets.
    case close
    /// Tell the user.
    case tell(ClientEvent)
  }

  enum Phase: Sendable {
    /// There is no connection.
    case idle
    /// The connection that carries the packets is being opened.
    case opening
    /// CONNECT is sent.
    case greeting(until: Timestamp)
    /// The server accepted.
    case open
    /// The user wants to leave, behind what waits.
    case leaving(until: Timestamp)
    /// The connection is being closed, for this reason.
    case ending(ClientEvent.Closed)
  }

  /// How long a server may take for its CONNACK.
  private static let patience: Duration = .seconds(30)
  /// How long `disconnect` tries to bring what waits to the server.
  private static let closingTime: Duration = .seconds(5)

  let version: MQTTVersion
  /// What the server is called in texts for people.
  let server: String
  private let limit: Load
  var phase = Phase.idle
  var options = ConnectOptions()
  var session = MQTTClientState()
  /// What the server said when it accepted the connection.
  var limits = ServerLimits()
  /// The longest time between two packets, in seconds; 0 is no limit.
  var keepAlive: UInt16 = 0
  var framer = MQTTFramer(limit: Mosquitto.largestPacket + 5)
  /// When the last packet was sent.
  var lastSent = Timestamp(nanoseconds: 0)
  /// When the PINGREQ was sent that has no answer yet.
  var pingSent: Timestamp?

  init(version: MQTTVersion, server: String, limit: Load) {
    self.version = version
    self.server = server
    self.limit = limit
  }

  /// When the machine has to be told that time has passed; nil is never.
  var deadline: Timestamp? {
    switch phase {
    case .idle, .opening, .ending: nil
    case .greeting(let until): until
    case .open: keepAliveDeadline
    case .leaving(let until): [until, keepAliveDeadline].compactMap(\.self).min()
    }
  }

  private var keepAliveDeadline: Timestamp? {
    keepAlive == 0 ? nil : (pingSent ?? lastSent).advanced(by: .seconds(Int64(keepAlive)))
  }

  // MARK: Actions

  /// Takes an action that was checked.
  /// - Returns: What to do, in this order.
  /// - Throws: ``DataClientError`` when the action can't be taken now.
  mutating func perform(
    _ action: ClientAction, now: Timestamp
  ) throws(DataClientError) -> [Output] {
    switch action.kind {
    case .connect(let options):
      guard case .idle = phase else {
        throw DataClientError(.invalidAction, "there is a connection, or one is being opened")
      }
      if options.cleanStart || options.clientID != self.options.clientID {
        session = MQTTClientState()
      }
      self.options = options
      limits = ServerLimits()
      phase = .opening
      return [.open]
    case .disconnect: return try disconnect(now)
    case .publish(let message):
      try checkOpen()
      try limits.check(message)
      guard session.load.count < limit.count, session.load.bytes < limit.bytes else {
        throw DataClientError(
          .transport,
          "\(session.load.count) messages of \(session.load.bytes) bytes wait to be published")
      }
    case .subscribe(let subscriptions):
      try checkOpen()
      try limits.check(filters: subscriptions.lazy.map(\.filter))
    case .unsubscribe(let filters):
      try checkOpen()
      try limits.check(filters: filters)
    case .send, .sendText, .sendBinary:
      throw DataClientError(.unsupported, "a broker of MQTT takes messages with topics only")
    }
    session.append(action)
    return pump(now)
  }

  private func checkOpen() throws(DataClientError) {
    guard case .open = phase else {
      throw DataClientError(.notConnected, "there is no connection")
    }
  }

  private mutating func disconnect(_ now: Timestamp) throws(DataClientError) -> [Output] {
    switch phase {
    case .idle, .leaving, .ending:
      throw DataClientError(.notConnected, "there is no connection")
    case .opening:
      phase = .ending(.byUser)
      return [.close]
    case .greeting:
      // The server may have accepted, and would send the will of who goes without a word.
      let farewell = send(.disconnect(.init()), now)
      phase = .ending(.byUser)
      return farewell + [.close]
    case .open:
      phase = .leaving(until: now.advanced(by: Self.closingTime))
      return pump(now)
    }
  }

  /// Forgets a connection that could not even be begun.
  mutating func abandon() { phase = .idle }

  /// Gives the connection up because something could not be written.
  mutating func fail(_ error: any Error) -> [Output] {
    switch phase {
    case .idle: return []
    // What failed may have stood before the closing, which was then not done; done twice it does no harm.
    case .ending: return [.close]
    case .opening:
      phase = .ending(.unreached("\(server): \(error)"))
      return [.close]
    case .greeting, .open, .leaving:
      phase = .ending(.lost("\(server): \(error)"))
      return [.close]
    }
  }

  // MARK: Events

  /// Takes an event of the connection that carries the packets, or the passing of the deadline.
  /// - Returns: What to do, in this order.
  mutating func handle(_ event: ClientEvent, now: Timestamp) -> [Output] {
    switch event {
    case .connected: return greet(now)
    case .binary(let bytes): return receive(bytes, now)
    case .text:
      // MQTT-6.0.0-1.
      return lose("the server sent text where MQTT has binary frames", code: 0x82, now)
    case .closed(let reason): return closed(reason)
    case .deadline: return pass(now)
    case .subscribed, .unsubscribed, .published, .message, .response, .failed, .woken, .ended:
      return []
    }
  }

  private mutating func greet(_ now: Timestamp) -> [Output] {
    guard case .opening = phase else { return [] }
    framer = MQTTFramer(limit: Mosquitto.largestPacket + 5)
    pingSent = nil
    keepAlive = options.keepAlive
    phase = .greeting(until: now.advanced(by: Self.patience))
    return send(.connect(options.packet(in: version)), now)
  }

  private mutating func closed(_ reason: ClientEvent.Closed) -> [Output] {
    let told: ClientEvent.Closed
    switch phase {
    case .idle: return []
    case .ending(let ending): told = ending
    // Whatever became of the connection that was to carry it, no CONNECT was sent.
    case .opening:
      switch reason {
      case .byUser, .unreached: told = reason
      case .refused, .byServer, .lost: told = .unreached("\(reason)")
      }
    case .open, .leaving: told = reason
    case .greeting:
      told = .lost(
        "\(reason); the server did not answer CONNECT: see whether it speaks MQTT \(versionName) there"
      )
    }
    phase = .idle
    session.endConnection(isKept: !options.cleanStart)
    return [.tell(.closed(told))]
  }

  /// Does what is due by now.
  private mutating func pass(_ now: Timestamp) -> [Output] {
    switch phase {
    case .idle, .opening, .ending: return []
    case .greeting(let until):
      guard until <= now else { return [] }
      return lose("the server did not answer CONNECT in time", code: nil, now)
    case .leaving(let until) where until <= now:
      phase = .ending(.byUser)
      return [.close]
    case .open, .leaving:
      guard let due = keepAliveDeadline, due <= now else { return [] }
      guard pingSent == nil else {
        return lose("the server did not answer within the keep-alive time", code: nil, now)
      }
      pingSent = now
      return send(.pingreq, now)
    }
  }

  private var versionName: String { version == .v5_0 ? "5.0" : "3.1.1" }
}
