import Wire

/// What a case has to know of a packet that came: which one it is, and what answers it.
struct HeardPacket {
  let type: MQTTPacketType
  /// The version that it is of; a CONNECT says that itself.
  let version: MQTTVersion
  let packetID: UInt16?
  let qos: UInt8
  /// The reason code of an acknowledgement or a CONNACK; 0 where it has none.
  let code: UInt8
  /// What it holds, of those of which that matters; nil where it is not sound.
  let content: MQTTPacket.Content?

  private static let toldOf: Set<MQTTPacketType> = [.connect, .connack, .subscribe, .unsubscribe]

  init(_ view: borrowing MQTTPacketView) {
    type = view.type
    version = view.version
    packetID = view.packetID
    qos = view.type == .publish ? view.qos : 0
    code = view.reasonCode ?? 0
    content = Self.toldOf.contains(view.type) ? MQTTPacket(view)?.content : nil
  }

  /// What a receiver that keeps to the protocol acknowledges it by; nil is nothing.
  var answer: MQTTPacketType? {
    switch type {
    case .publish: qos == 1 ? .puback : qos == 2 ? .pubrec : nil
    case .pubrec: code < 0x80 ? .pubrel : nil
    case .pubrel: .pubcomp
    default: nil
    }
  }

  /// The acknowledgement, with the reason code 0; nil where there is none.
  var acknowledgement: (type: MQTTPacketType, bytes: [UInt8])? {
    guard let type = answer, let id = packetID else { return nil }
    // Two bytes of length and two of the identifier; of PUBREL the second bit is set (MQTT 5.0 section 3.6.1).
    let flags: UInt8 = type == .pubrel ? 2 : 0
    return (type, [type.rawValue << 4 | flags, 2, UInt8(id >> 8), UInt8(truncatingIfNeeded: id)])
  }
}
