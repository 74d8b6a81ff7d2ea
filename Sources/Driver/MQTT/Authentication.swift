import Wire

/// What one end of a connection shows of itself by the packets of enhanced authentication (MQTT 5.0 section 4.12).
package struct Authentication: Sendable, Hashable {
  /// The method, which every packet of the exchange names.
  package let method: String
  /// The data that a client shows: that of the CONNECT, or of the AUTH that begins anew, and then of each AUTH that the
  /// server asks for; nothing of a server.
  let data: [[UInt8]]

  /// Creates what is shown.
  /// - Parameters:
  ///   - method: The method.
  ///   - data: The data of each packet, in order.
  package init(method: String, data: [[UInt8]] = []) { (self.method, self.data) = (method, data) }

  /// Reason code 0x18 of AUTH: the exchange goes on (section 3.15.2.1).
  static let goesOn: UInt8 = 0x18

  /// Puts the method, and the first data, in a packet that takes part in an exchange and names no method itself.
  ///
  /// Where a packet has data of its own, that stays.
  /// - Parameter packet: A packet of MQTT 5.0; all but CONNECT, CONNACK and AUTH stay as they are.
  func complete(_ packet: inout MQTTPacket) {
    switch packet.content {
    case .connect(var connect):
      complete(&connect.properties)
      packet.content = .connect(connect)
    case .connack(var connack):
      complete(&connack.properties)
      packet.content = .connack(connack)
    case .auth(var reason):
      var properties = reason.properties ?? []
      complete(&properties)
      reason.properties = properties
      packet.content = .auth(reason)
    default: break
    }
  }

  private func complete(_ properties: inout [MQTTProperty]) {
    guard properties.string(.authenticationMethod) == nil else { return }
    properties.append(MQTTProperty(.authenticationMethod, .string(method)))
    guard let first = data.first, !properties.contains(where: { $0.id == .authenticationData })
    else {
      return
    }
    properties.append(MQTTProperty(.authenticationData, .binary(first)))
  }

  /// The AUTH by which a client answers one that asks for more.
  /// - Parameter count: How many it has answered since the exchange began.
  /// - Returns: The packet; nil where no data is left for it.
  func answer(behind count: Int) -> [UInt8]? {
    guard data.indices.contains(count + 1) else { return nil }
    let properties = [
      MQTTProperty(.authenticationMethod, .string(method)),
      MQTTProperty(.authenticationData, .binary(data[count + 1])),
    ]
    return try? MQTTPacket(
      .auth(.init(Self.goesOn, properties: properties)), version: .v5_0
    ).encoded()
  }
}
