import RepriseCore
import Wire

/// What a case has to know of a packet that came: which one it is, and what answers it.
struct HeardPacket {
  let type: MQTTPacketType
  let packetID: UInt16?
  let qos: UInt8
  /// The reason code of an acknowledgement or a CONNACK; 0 where it has none.
  let code: UInt8
  let content: MQTTPacket.Content?

  init(_ view: borrowing MQTTPacketView) {
    type = view.type
    packetID = view.packetID
    qos = view.type == .publish ? view.qos : 0
    code = view.reasonCode ?? 0
    content = view.type == .connack ? MQTTPacket(view)?.content : nil
  }

  /// What a client that keeps to the protocol answers; nil is nothing.
  var answer: MQTTPacketType? {
    switch type {
    case .publish: qos == 1 ? .puback : qos == 2 ? .pubrec : nil
    case .pubrec: code < 0x80 ? .pubrel : nil
    case .pubrel: .pubcomp
    default: nil
    }
  }
}
