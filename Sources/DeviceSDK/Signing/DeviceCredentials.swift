import RepriseCore

/// What a device was given to prove who it is: the three parts of its identity.
public struct DeviceCredentials: Sendable, Hashable {
  /// How a connection is secured, as its client identifier says it.
  public enum SecureMode: Int, Sendable, Hashable, CaseIterable {
    /// TLS.
    case tls = 2
    /// TCP without TLS.
    case tcp = 3
    /// TLS with a chip that holds the identity.
    case identityChip = 8
    /// The guide that tells the host, before registration.
    case guide = -1
    /// Without registration beforehand; the password is a token.
    case unregistered = -2
  }

  /// The product's key.
  public var productKey: String
  /// The device's name in the product.
  public var deviceName: String
  /// The device's secret.
  public var deviceSecret: Secret

  /// Creates credentials.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name in the product.
  ///   - deviceSecret: The device's secret.
  public init(productKey: String, deviceName: String, deviceSecret: Secret) {
    self.productKey = productKey
    self.deviceName = deviceName
    self.deviceSecret = deviceSecret
  }

  /// Returns the host that the cloud has for the product.
  /// - Parameter region: The region: `cn-shanghai`, `eu-central-1`.
  /// - Returns: The host, whose port is 1883, also for TLS.
  public func host(region: String = "cn-shanghai") -> String {
    "\(productKey).iot-as-mqtt.\(region).aliyuncs.com"
  }

  /// Returns the client identifier, the user name and the password for an MQTT connection.
  ///
  /// The client identifier is `{clientID}|securemode=…,signmethod=…,timestamp=…|`, the user name
  /// `{deviceName}&{productKey}`, the password the signature of clientId, deviceName, productKey and
  /// the timestamp.
  /// - Parameters:
  ///   - clientID: Any text of up to 64 characters, such as a MAC; nil takes
  ///     `{productKey}.{deviceName}`.
  ///   - method: How the password is signed.
  ///   - timestamp: Any number, in milliseconds by custom; nil leaves it out.
  ///   - secureMode: How the connection is secured.
  ///   - extra: Further pairs for the client identifier, in their order.
  /// - Returns: The identity, without the secret.
  /// - Throws: ``SigningError`` that says which part can't be used.
  public func identity(
    clientID: String? = nil, method: SignMethod = .hmacSHA256, timestamp: UInt64? = nil,
    secureMode: SecureMode = .tls, extra: [(key: String, value: String)] = []
  ) throws(SigningError) -> ChannelIdentity {
    let clientID = clientID ?? "\(productKey).\(deviceName)"
    guard (1...64).contains(clientID.count), !clientID.contains("|") else {
      throw SigningError("clientID has 1 to 64 characters, none of them |")
    }
    var signed: [String: JSONValue] = [
      "clientId": .string(clientID), "deviceName": .string(deviceName),
      "productKey": .string(productKey),
    ]
    var pairs = ["securemode=\(secureMode.rawValue)", "signmethod=\(method.rawValue)"]
    if let timestamp {
      signed["timestamp"] = .string(String(timestamp))
      pairs.append("timestamp=\(timestamp)")
    }
    for (key, value) in extra {
      guard !key.isEmpty, !(key + value).contains(where: { "|,=".contains($0) }) else {
        throw SigningError("a key is not empty, and neither it nor its value has | , or =")
      }
      pairs.append("\(key)=\(value)")
    }
    let password = try DeviceSignature.sign(
      signed, method: method, key: .deviceSecret(deviceSecret))
    do {
      return try ChannelIdentity(
        productKey: productKey, deviceName: deviceName,
        mqttClientID: "\(clientID)|\(pairs.joined(separator: ","))|",
        password: Array(password.utf8))
    } catch {
      throw SigningError(error.message)
    }
  }
}

extension DeviceCredentials: CustomStringConvertible {
  /// The device's name and the product's key.
  public var description: String { "\(deviceName)&\(productKey)" }
}
