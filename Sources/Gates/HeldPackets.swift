import RepriseCore
import Wire

/// What a broker has answered on one connection and the client must not see yet, in its order.
///
/// It is the rule of a ``BrokerGate`` without its sockets: packets go in, and what the client may
/// have comes out.
struct HeldPackets {
  private struct Packet {
    let type: MQTTPacketType
    let content: MQTTPacket?
    let bytes: [UInt8]
  }

  /// Whether everything passes.
  private(set) var isPassing: Bool
  private var packets: [Packet] = []
  /// The exchanges of QoS 2 whose PUBREC was let through: their PUBCOMP passes along with it.
  private var completing: Set<UInt16> = []
  /// Whether acknowledgements of messages pass, as the client is about to leave.
  private var acknowledgesAll = false
  /// How many bytes are held.
  private(set) var byteCount = 0

  /// Creates a rule for a new connection.
  /// - Parameter isPassing: Whether everything passes.
  init(isPassing: Bool) { self.isPassing = isPassing }

  /// The code of the CONNACK that is held; nil when none is.
  var connackCode: UInt8? {
    guard let first = packets.first, first.type == .connack else { return nil }
    guard case .connack(let connack) = first.content?.content else { return 0 }
    return connack.code
  }

  // MARK: Holding

  /// Takes a packet of the broker.
  /// - Parameter packet: The packet.
  /// - Returns: Whether it passes; otherwise it is kept.
  mutating func passes(_ packet: borrowing MQTTPacketView) -> Bool {
    guard !isPassing else { return true }
    // Before its CONNACK a client takes nothing else (MQTT 3.1.1 section 3.2).
    if connackCode == nil, !isHeld(packet.type, packet.packetID) { return true }
    keep(packet)
    return false
  }

  private mutating func keep(_ packet: borrowing MQTTPacketView) {
    let bytes = packet.bytes.withUnsafeBytes { Array($0) }
    let content = packet.type == .publish ? nil : MQTTPacket(packet)
    packets.append(Packet(type: packet.type, content: content, bytes: bytes))
    byteCount += bytes.count
  }

  private mutating func isHeld(_ type: MQTTPacketType, _ packetID: UInt16?) -> Bool {
    switch type {
    case .connack, .suback, .unsuback: true
    case .puback, .pubrec: !acknowledgesAll
    case .pubcomp: !acknowledgesAll && packetID.flatMap { completing.remove($0) } == nil
    case .reserved, .connect, .publish, .pubrel, .subscribe, .unsubscribe, .pingreq, .pingresp,
      .disconnect, .auth:
      false
    }
  }

  // MARK: Letting through

  /// Lets the CONNACK through, and what it alone held up.
  /// - Returns: The bytes for the client; nil when there is no CONNACK.
  mutating func accept() -> [UInt8]? {
    guard connackCode != nil else { return nil }
    return remove(at: 0).bytes + releaseUnheld()
  }

  /// Lets the oldest SUBACK through.
  /// - Parameter granted: What to grant instead, nil for a filter that is refused; without it, what
  ///   the broker has granted.
  /// - Returns: The bytes for the client; nil when there is no SUBACK.
  /// - Throws: ``DataClientError`` when there are not as many filters.
  mutating func grant(_ granted: [QoS?]?) throws(DataClientError) -> [UInt8]? {
    guard connackCode == nil, let index = packets.firstIndex(where: { $0.type == .suback }) else {
      return nil
    }
    guard let granted else { return remove(at: index).bytes }
    guard var packet = packets[index].content,
      case .suback(let packetID, let codes, let properties) = packet.content
    else { return remove(at: index).bytes }
    guard granted.count == codes.count else {
      throw DataClientError(
        .invalidAction,
        "\(granted.count) filters were to be granted; the SUBSCRIBE has \(codes.count)")
    }
    packet.content = .suback(
      packetID: packetID, codes: granted.map { $0?.rawValue ?? 0x80 }, properties)
    let bytes = try packet.bytesForClient()
    _ = remove(at: index)
    return bytes
  }

  /// Lets the oldest PUBACK, PUBREC or UNSUBACK through; the PUBCOMP that belongs to a PUBREC
  /// follows as soon as it comes.
  /// - Returns: The bytes for the client; nil when there is none of them.
  mutating func acknowledge() -> [UInt8]? {
    guard connackCode == nil,
      let index = packets.firstIndex(where: { [.puback, .pubrec, .unsuback].contains($0.type) })
    else { return nil }
    let packet = remove(at: index)
    if case .acknowledgement(.pubrec, let packetID, let reason) = packet.content?.content,
      (reason.code ?? 0) < 0x80
    {
      completing.insert(packetID)
    }
    return packet.bytes
  }

  /// Lets everything through, from now on too.
  /// - Returns: The bytes for the client.
  mutating func pass() -> [UInt8] {
    isPassing = true
    let bytes = packets.flatMap(\.bytes)
    packets = []
    byteCount = 0
    return bytes
  }

  /// Holds answers from now on.
  mutating func hold() { isPassing = false }

  /// Lets acknowledgements of messages through from now on: a client waits for them before it says
  /// DISCONNECT.
  /// - Returns: The bytes for the client.
  mutating func sayGoodbye() -> [UInt8] {
    guard connackCode == nil else { return [] }
    acknowledgesAll = true
    return releaseUnheld()
  }

  private mutating func releaseUnheld() -> [UInt8] {
    var bytes: [UInt8] = []
    let waiting = packets
    packets = []
    byteCount = 0
    for packet in waiting {
      if isHeld(packet.type, packet.content?.packetID) {
        packets.append(packet)
        byteCount += packet.bytes.count
      } else {
        bytes += packet.bytes
      }
    }
    return bytes
  }

  private mutating func remove(at index: Int) -> Packet {
    let packet = packets.remove(at: index)
    byteCount -= packet.bytes.count
    return packet
  }
}

extension MQTTPacket {
  /// The packet identifier of an acknowledgement.
  fileprivate var packetID: UInt16? {
    guard case .acknowledgement(_, let packetID, _) = content else { return nil }
    return packetID
  }

  /// The packet as it goes on the wire.
  /// - Throws: ``DataClientError`` when the format can't express it.
  func bytesForClient() throws(DataClientError) -> [UInt8] {
    do {
      return try encoded()
    } catch {
      throw DataClientError(.invalidAction, "there is no such packet: \(error)")
    }
  }
}
