package import RepriseCore
package import Wire

/// A packet, recorded or of this run, with what a replay asks of it again and again.
package struct ReplayPacket: Sendable {
  /// The bytes of the packet.
  package let bytes: [UInt8]
  /// The version that it is of.
  package let version: MQTTVersion
  /// Its type.
  package let type: MQTTPacketType
  /// Its identifier; nil where it has none.
  package let packetID: UInt16?
  /// The QoS of a PUBLISH; 0 of all others.
  let qos: UInt8
  /// Whether a PUBLISH is sent once more.
  let isRepeated: Bool
  /// The topic of a PUBLISH, also where an alias stands for it.
  let topic: String

  /// Copies a packet.
  /// - Parameters:
  ///   - view: The packet.
  ///   - aliases: The topics that its sender gave aliases to on the connection.
  package init(_ view: borrowing MQTTPacketView, _ aliases: inout AliasedTopics) {
    bytes = Array(copying: view.bytes)
    (version, type, packetID) = (view.version, view.type, view.packetID)
    qos = view.type == .publish ? view.qos : 0
    isRepeated = view.type == .publish && view.dup
    topic = view.type == .publish ? aliases.topic(of: view) : ""
  }

  /// Encodes a packet in the place of another one.
  /// - Parameters:
  ///   - packet: The packet.
  ///   - other: The one that it takes the place of.
  /// - Throws: `MQTTEncodingError` where the format can't express it.
  init(_ packet: MQTTPacket, insteadOf other: ReplayPacket) throws(MQTTEncodingError) {
    bytes = try packet.encoded()
    (version, type, packetID) = (other.version, other.type, other.packetID)
    (qos, isRepeated, topic) = (other.qos, other.isRepeated, other.topic)
  }

  /// Numbers a packet otherwise.
  private init(_ other: ReplayPacket, numbered id: UInt16) {
    bytes = other.bytes(numbered: id)
    (version, type, packetID) = (other.version, other.type, id)
    (qos, isRepeated, topic) = (other.qos, other.isRepeated, other.topic)
  }

  /// The packet with another identifier.
  /// - Parameter id: The identifier.
  /// - Returns: The packet.
  func numbered(_ id: UInt16) -> ReplayPacket { ReplayPacket(self, numbered: id) }

  /// The packet with its fields as they are; nil for a type that is reserved.
  var fields: MQTTPacket? {
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else { return nil }
    return MQTTPacket(MQTTPacketView(bytes.span.bytes, header: header, version: version))
  }

  /// The packet with its fields, and its topic as it is meant; nil for a type that is reserved.
  package var decoded: MQTTPacket? {
    var packet = fields
    if case .publish(var publish) = packet?.content {
      publish.topic = topic
      packet?.content = .publish(publish)
    }
    return packet
  }

  /// What a receiver answers at least; nil where it answers nothing, or PINGRESP, which is no step of a session.
  var asksForAnswer: Bool {
    switch type {
    case .publish: qos > 0
    case .subscribe, .unsubscribe: true
    default: false
    }
  }

  /// The type of the packet that this one answers; nil where it begins something.
  var answered: MQTTPacketType? {
    switch type {
    case .puback, .pubrec: .publish
    case .pubrel: .pubrec
    case .pubcomp: .pubrel
    case .suback: .subscribe
    case .unsuback: .unsubscribe
    default: nil
    }
  }

  /// Whether it ends what a request has begun.
  var endsExchange: Bool {
    switch type {
    case .puback, .pubcomp, .suback, .unsuback: true
    default: false
    }
  }

  /// The bytes with another identifier; as they are where they have no place for one.
  private func bytes(numbered id: UInt16) -> [UInt8] {
    guard packetID != nil, id != packetID,
      case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes)
    else { return bytes }
    var offset = header.size
    if type == .publish {
      guard bytes.count >= offset + 2 else { return bytes }
      offset += 2 + Int(bytes[offset]) << 8 + Int(bytes[offset + 1])
    }
    guard bytes.count >= offset + 2 else { return bytes }
    var result = bytes
    result[offset] = UInt8(id >> 8)
    result[offset + 1] = UInt8(truncatingIfNeeded: id)
    return result
  }
}
