import Wire

/// What a broker did with its messages of QoS 2, by the bytes that it sent to a client.
///
/// A delivery begins with a PUBLISH and is released by the PUBREL of its identifier; a PUBLISH in
/// between is a repetition, one behind it begins another delivery (MQTT 3.1.1 and 5.0, section 4.3.3).
struct ExactlyOnceWire {
  private var unreleased: Set<UInt16> = []

  /// How often the broker began to deliver each payload.
  private(set) var deliveries: [[UInt8]: Int] = [:]

  /// - Parameters:
  ///   - connections: The bytes from the broker, connection by connection, of one session.
  ///   - version: What they are encoded by.
  /// - Throws: `MQTTFramingError` if they are no MQTT.
  init(_ connections: [[UInt8]], _ version: MQTTVersion) throws {
    for bytes in connections {
      var framer = MQTTFramer()
      try framer.consume(bytes.span.bytes) { bytes, header, _ in
        note(MQTTPacketView(bytes, header: header, version: version))
      }
    }
  }

  private mutating func note(_ packet: MQTTPacketView) {
    guard let id = packet.packetID else { return }
    switch packet.type {
    case .publish where packet.qos == 2:
      guard unreleased.insert(id).inserted else { return }
      deliveries[packet.payload.withUnsafeBytes { Array($0) }, default: 0] += 1
    case .pubrel: unreleased.remove(id)
    default: break
    }
  }
}
