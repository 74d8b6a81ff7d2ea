/// The type of a control packet: the upper four bits of its first byte (MQTT 5.0 section 2.1.2).
public enum MQTTPacketType: UInt8, Sendable, Hashable, CaseIterable {
  /// Type 0, which every version forbids.
  case reserved = 0
  /// A client asks for a connection.
  case connect
  /// The server answers a CONNECT.
  case connack
  /// A message.
  case publish
  /// The answer to a PUBLISH of QoS 1.
  case puback
  /// The first answer to a PUBLISH of QoS 2.
  case pubrec
  /// The answer to a PUBREC.
  case pubrel
  /// The answer to a PUBREL, which ends the exchange of QoS 2.
  case pubcomp
  /// A client asks for messages.
  case subscribe
  /// The answer to a SUBSCRIBE.
  case suback
  /// A client no longer wants messages.
  case unsubscribe
  /// The answer to an UNSUBSCRIBE.
  case unsuback
  /// A client shows that it lives.
  case pingreq
  /// The answer to a PINGREQ.
  case pingresp
  /// The end of a connection, announced.
  case disconnect
  /// Extended authentication of 5.0; reserved in earlier versions.
  case auth

  /// The type that the first byte of a packet names.
  @inline(__always)
  public init(firstByte: UInt8) {
    // Four bits have sixteen values, and every one of them is a case.
    self = MQTTPacketType(rawValue: firstByte >> 4) ?? .reserved
  }

  /// The standard's own name, in capitals.
  public var name: StaticString {
    switch self {
    case .reserved: "RESERVED"
    case .connect: "CONNECT"
    case .connack: "CONNACK"
    case .publish: "PUBLISH"
    case .puback: "PUBACK"
    case .pubrec: "PUBREC"
    case .pubrel: "PUBREL"
    case .pubcomp: "PUBCOMP"
    case .subscribe: "SUBSCRIBE"
    case .suback: "SUBACK"
    case .unsubscribe: "UNSUBSCRIBE"
    case .unsuback: "UNSUBACK"
    case .pingreq: "PINGREQ"
    case .pingresp: "PINGRESP"
    case .disconnect: "DISCONNECT"
    case .auth: "AUTH"
    }
  }

  /// The flags that the fixed header must carry (5.0 section 2.1.3); nil for PUBLISH, whose vary.
  public var requiredFlags: UInt8? {
    switch self {
    case .publish: nil
    case .pubrel, .subscribe, .unsubscribe: 0b0010
    default: 0
    }
  }
}
