/// The return and reason codes of the control packets.
public enum MQTTReasonCode {
  /// Tells whether a packet type has a code in a version.
  /// - Parameters:
  ///   - code: The code's byte.
  ///   - type: A packet type that carries codes.
  ///   - version: The version; before 5.0 only CONNACK and SUBACK have codes.
  /// - Returns: Whether the standard lists the code.
  @inline(__always)
  public static func isDefined(
    _ code: UInt8, for type: MQTTPacketType, in version: MQTTVersion
  ) -> Bool {
    guard version == .v5_0 else {
      switch type {
      case .connack: return code <= 5
      case .suback: return code <= 2 || (code == 0x80 && version.rules.subackMayRefuse)
      default: return true
      }
    }
    return code == 0 && type != .auth || codes(of: type).contains(code)
  }

  /// The codes of a packet type in 5.0, table 2-6 and the sections of the packets.
  static func codes(of type: MQTTPacketType) -> [UInt8] {
    switch type {
    case .connack: connack
    case .puback, .pubrec: publishAnswer
    case .pubrel, .pubcomp: [0x00, 0x92]
    case .suback: suback
    case .unsuback: [0x00, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91]
    case .disconnect: disconnect
    case .auth: [0x00, 0x18, 0x19]
    default: []
    }
  }

  private static let connack: [UInt8] = [
    0x00, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8A, 0x8C, 0x90, 0x95, 0x97,
    0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9F,
  ]
  private static let publishAnswer: [UInt8] = [
    0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99,
  ]
  private static let suback: [UInt8] = [
    0x00, 0x01, 0x02, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2,
  ]
  // 0x8C stands in table 2-6, but not in the list of section 3.14.2.1: nobody is blamed for it.
  private static let disconnect: [UInt8] = [
    0x00, 0x04, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8B, 0x8C, 0x8D, 0x8E, 0x8F, 0x90, 0x93, 0x94,
    0x95, 0x96, 0x97, 0x98, 0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F, 0xA0, 0xA1, 0xA2,
  ]
}
