/// The identity that the channel has in the cloud: the device that an app is, without its secret.
public struct ChannelIdentity: Sendable, Hashable {
  /// The product's key.
  public let productKey: String
  /// The device's name in the product.
  public let deviceName: String
  /// The identifier for the MQTT connection; not the channel's ``clientID``.
  public let mqttClientID: String
  /// The password for the MQTT connection; never shown or logged.
  public let password: [UInt8]?

  /// Creates an identity.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name in the product.
  ///   - mqttClientID: The identifier for the MQTT connection; nil takes ``clientID``.
  ///   - password: The password, which the device's secret was signed into.
  /// - Throws: ``ChannelError`` of kind `client` when a part can't stand in a topic.
  public init(
    productKey: String, deviceName: String, mqttClientID: String? = nil, password: [UInt8]? = nil
  ) throws(ChannelError) {
    for (name, part) in [("productKey", productKey), ("deviceName", deviceName)] {
      let isClean = part.utf8.allSatisfy { !"/+#&\0".utf8.contains($0) }
      guard !part.isEmpty, isClean else {
        throw ChannelError(.client, "\(name) is empty or holds one of / + # & or U+0000")
      }
    }
    self.productKey = productKey
    self.deviceName = deviceName
    self.mqttClientID = mqttClientID ?? "\(deviceName)&\(productKey)"
    self.password = password
  }

  /// The channel's client identifier, `deviceName&productKey`; also the MQTT user name.
  public var clientID: String { "\(deviceName)&\(productKey)" }
}

extension ChannelIdentity: CustomStringConvertible, CustomReflectable {
  /// The client identifier.
  public var description: String { clientID }

  /// What debuggers and `dump` show: all but the password.
  public var customMirror: Mirror { Mirror(self, children: ["clientID": clientID]) }
}
