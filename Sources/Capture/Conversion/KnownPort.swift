import RepriseCore

/// By which ports of servers Wireshark knows, unless it is told otherwise, what a connection speaks.
struct KnownPort {
  private let ports: [UInt16]

  /// Finds the ports of a protocol.
  init(_ wire: WireProtocol, over carrier: Carrier?) {
    switch wire {
    case .mqtt, .mqttInferred, .mqttUndetermined: ports = carrier == nil ? Self.mqtt : Self.http
    case .webSocket, .http: ports = Self.http
    case .tls: ports = [443]
    }
  }

  /// Finds the ports of what begins with a client's byte: nothing but a CONNECT begins MQTT (MQTT 3.1.1 section 3.1).
  init(firstByte: UInt8?) { ports = firstByte == 0x10 ? Self.mqtt : Self.http }

  private static let mqtt: [UInt16] = [1883]
  private static let http: [UInt16] = [80, 3128, 8080, 8088]

  /// The usual one.
  var port: UInt16 { ports.first ?? 0 }

  /// Tells whether a port is one of them.
  func includes(_ port: UInt16) -> Bool { ports.contains(port) }
}
