import Wire

/// A client of a case: its name at the broker, its connection, and what it answers by itself.
final class CaseClient {
  /// What the case calls it.
  let name: String
  /// What it calls itself at the broker where a step says nothing else.
  let clientID: String
  var connection: CaseConnection?
  /// Whether nothing was sent on this connection.
  var isFresh = false
  /// Whether a CONNACK accepted it on this connection.
  var isAccepted = false
  /// Whether it has sent DISCONNECT on this connection.
  var hasLeft = false
  /// The first answer to a CONNECT of it.
  private(set) var connack: HeardPacket?
  private var heard = HeardPackets()
  /// The types of packets that it does not answer by itself.
  var held: Set<MQTTPacketType> = []
  /// The identifier of the last packet of a delivery that came.
  private(set) var lastID: UInt16 = 0
  /// The identifier that the server assigned to it; nothing where it has not.
  private(set) var assignedID = ""
  private var nextID: UInt16 = 0
  /// What it shows where the server asks for more; nil where it has no method of authentication.
  private let authentication: Authentication?
  /// How many AUTH of the server it has answered since the exchange began.
  private var exchanges = 0
  /// How many AUTH of the server it has answered when it had no more data to answer one; nil where it had.
  private(set) var answeredBeforeDataRanOut: Int?

  init(_ name: String, clientID: String, _ authentication: Authentication?) {
    (self.name, self.clientID, self.authentication) = (name, clientID, authentication)
  }

  /// The next identifier of a packet.
  func takeID() -> UInt16 {
    nextID = nextID == .max ? 1 : nextID + 1
    return nextID
  }

  /// Takes a new connection in the place of the last one.
  func begin(_ connection: CaseConnection) {
    self.connection = connection
    heard = HeardPackets()
    (isFresh, isAccepted, hasLeft) = (true, false, false)
    exchanges = 0
  }

  /// Whether it has no connection any more.
  var isGone: Bool { connection?.isOver ?? true }

  /// Takes a packet of the server, and answers it as the protocol asks for.
  /// - Returns: The answer; nil where there is none, or it is held.
  func take(_ packet: HeardPacket) -> [UInt8]? {
    // One that it answers by itself is no news to a step, which waits for what comes of the exchange.
    if packet.type == .auth, let answer = authenticate(packet) { return answer }
    heard.append(packet)
    if packet.type == .connack { accept(packet) }
    guard let id = packet.packetID else { return nil }
    if packet.type == .publish || packet.type == .pubrel { lastID = id }
    guard let answer = packet.acknowledgement, !held.contains(answer.type), !hasLeft else {
      return nil
    }
    return answer.bytes
  }

  private func authenticate(_ packet: HeardPacket) -> [UInt8]? {
    guard packet.code == Authentication.goesOn, !held.contains(.auth), !hasLeft else { return nil }
    defer { exchanges += 1 }
    guard let authentication else { return nil }
    guard let answer = authentication.answer(behind: exchanges) else {
      answeredBeforeDataRanOut = exchanges
      return nil
    }
    return answer
  }

  /// Takes note that an exchange begins anew.
  func authenticatesAgain() { exchanges = 0 }

  private func accept(_ packet: HeardPacket) {
    isAccepted = packet.code == 0
    connack = connack ?? packet
    guard case .connack(let connack) = packet.content else { return }
    assignedID = connack.properties.string(.assignedClientIdentifier) ?? assignedID
  }

  /// Makes what tells whether packets have come that no other step has waited for, or can't come any more.
  /// - Parameters:
  ///   - count: How many.
  ///   - isWanted: Which.
  /// - Returns: The question, to be asked again and again.
  func hears(
    count: Int = 1, _ isWanted: @escaping (HeardPacket) -> Bool
  ) -> () -> Bool {
    heard.takes(count, isWanted) { self.isGone }
  }
}
