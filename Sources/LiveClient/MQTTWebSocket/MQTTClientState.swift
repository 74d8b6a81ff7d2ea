import RepriseCore

/// What a client of MQTT remembers of its session, beyond one connection (MQTT 3.1.1 section 4.1).
struct MQTTClientState: Sendable {
  /// A message above QoS 0 on its way to the server.
  struct InFlight: Sendable {
    /// The action that handed it over.
    let id: ClientAction.ID
    /// The message.
    let message: Message
    /// Its place among the messages; they are sent again in this order (MQTT-4.6.0-1).
    let number: UInt64
    /// Whether the server has it, so that only PUBREL is sent again (MQTT-4.3.3-1).
    var isReceived = false
  }

  /// What was accepted and not sent yet, in order.
  var waiting = Fifo<ClientAction>()
  /// The messages above QoS 0 that are not settled, by packet identifier.
  private(set) var inFlight: [UInt16: InFlight] = [:]
  /// The SUBSCRIBEs without an answer, with the number of their filters.
  var subscribes: [UInt16: (id: ClientAction.ID, count: Int)] = [:]
  /// The UNSUBSCRIBEs without an answer.
  var unsubscribes: [UInt16: ClientAction.ID] = [:]
  /// The messages of QoS 2 that came and that the server has not released; to repeat one is no second
  /// message (MQTT-4.3.3-2).
  private var unreleased: Set<UInt16> = []
  /// How many messages of QoS 2 the server has not released.
  var unreleasedCount: Int { unreleased.count }
  /// The messages that are accepted and not published.
  private(set) var load = Load()
  private var lastPacketID: UInt16 = 0
  private var lastNumber: UInt64 = 0

  /// Adds an action behind the others.
  mutating func append(_ action: ClientAction) {
    if case .publish(let message) = action.kind { load.add(message) }
    waiting.append(action)
  }

  /// Notes that a message is where it should be, or never will be.
  mutating func release(_ message: Message) {
    var released = Load()
    released.add(message)
    load.subtract(released)
  }

  /// The next packet identifier that nothing open has; nil when all are taken (MQTT-2.3.1-2).
  mutating func makePacketID() -> UInt16? {
    for _ in 0..<UInt16.max {
      lastPacketID = lastPacketID == .max ? 1 : lastPacketID + 1
      guard inFlight[lastPacketID] == nil, subscribes[lastPacketID] == nil,
        unsubscribes[lastPacketID] == nil
      else { continue }
      return lastPacketID
    }
    return nil
  }

  /// Notes that a message above QoS 0 is sent.
  mutating func begin(_ id: ClientAction.ID, _ message: Message, as packetID: UInt16) {
    lastNumber += 1
    inFlight[packetID] = InFlight(id: id, message: message, number: lastNumber)
  }

  /// Notes that the server has a message of QoS 2; false when there is none under the identifier.
  mutating func received(_ packetID: UInt16) -> Bool {
    guard inFlight[packetID]?.message.qos == .exactlyOnce else { return false }
    inFlight[packetID]?.isReceived = true
    return true
  }

  /// Takes out a message that is settled, if its exchange can end so.
  mutating func settle(_ packetID: UInt16, _ qos: QoS) -> ClientAction.ID? {
    guard let settled = inFlight[packetID], settled.message.qos == qos else { return nil }
    inFlight[packetID] = nil
    release(settled.message)
    return settled.id
  }

  /// What is sent again when a session goes on, in its order.
  var unsettled: [(packetID: UInt16, message: InFlight)] {
    inFlight.sorted { $0.value.number < $1.value.number }.map { ($0.key, $0.value) }
  }

  /// Notes a message of QoS 2 that came.
  /// - Returns: Whether it came for the first time.
  mutating func came(_ packetID: UInt16) -> Bool { unreleased.insert(packetID).inserted }

  /// Notes that the server releases a message of QoS 2.
  mutating func released(_ packetID: UInt16) { unreleased.remove(packetID) }

  /// Forgets what a server forgot: all that was under way.
  mutating func forgetExchanges() {
    for exchange in inFlight.values { release(exchange.message) }
    inFlight.removeAll()
    unreleased.removeAll()
  }

  /// Forgets what can't be answered behind the end of a connection.
  /// - Parameter isKept: Whether the session goes on with the next connection.
  mutating func endConnection(isKept: Bool) {
    subscribes.removeAll()
    unsubscribes.removeAll()
    var lost: [Message] = []
    waiting.removeAll { action in
      guard case .publish(let message) = action.kind else { return true }
      guard !isKept || message.qos == .atMostOnce else { return false }
      lost.append(message)
      return true
    }
    for message in lost { release(message) }
    if !isKept { forgetExchanges() }
  }
}
