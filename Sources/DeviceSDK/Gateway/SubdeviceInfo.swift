import RepriseCore

/// What a sub-device says of itself, with the signature that it made.
///
/// The device signs, not the gateway: the device's secret is never known here.
public struct SubdeviceInfo: Sendable, Hashable {
  /// The sub-device.
  public let subdevice: Subdevice
  /// The client identifier that the device chose; a MAC, or any text.
  public let clientID: String
  /// The device's signature over what is submitted.
  public let sign: String
  /// How the device has signed, as it says it: `sha256`, `hmacSha1`.
  public let signMethod: String
  /// The timestamp that the device has signed, if it signed one.
  public let timestamp: String?

  /// Creates what a sub-device says of itself.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name in the product.
  ///   - clientID: The client identifier that the device chose.
  ///   - sign: The device's signature.
  ///   - signMethod: How the device has signed.
  ///   - timestamp: The timestamp that the device has signed.
  /// - Throws: ``GatewayError`` of kind `subdevice` that names the part that is missing or wrong.
  public init(
    productKey: String, deviceName: String, clientID: String, sign: String, signMethod: String,
    timestamp: String? = nil
  ) throws(GatewayError) {
    let parts = [
      ("clientId", clientID), ("productKey", productKey), ("deviceName", deviceName),
      ("sign", sign), ("signMethod", signMethod),
    ]
    for (name, part) in parts where part.isEmpty {
      throw GatewayError(.subdevice, "the sub-device does not say its \(name)")
    }
    do {
      subdevice = try Subdevice(productKey: productKey, deviceName: deviceName)
    } catch {
      throw GatewayError(.subdevice, "the sub-device's \(error.message)")
    }
    self.clientID = clientID
    self.sign = sign
    self.signMethod = signMethod
    self.timestamp = timestamp.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Reads what a sub-device says from the dictionary of older applications.
  /// - Parameter dictionary: The keys `clientId`, `productKey`, `deviceName`, `sign`, `signMethod`,
  ///   and `timestamp` if the device signed one.
  /// - Throws: ``GatewayError`` of kind `subdevice` that names the key that is missing or empty.
  public init(_ dictionary: [String: String]) throws(GatewayError) {
    try self.init(
      productKey: dictionary["productKey"] ?? "", deviceName: dictionary["deviceName"] ?? "",
      clientID: dictionary["clientId"] ?? "", sign: dictionary["sign"] ?? "",
      signMethod: dictionary["signMethod"] ?? dictionary["signmethod"] ?? "",
      timestamp: dictionary["timestamp"])
  }

  /// Says what a sub-device would say that has this secret; for tests and simulated devices.
  /// - Parameters:
  ///   - credentials: The three parts of the device's identity.
  ///   - clientID: The client identifier that the device chooses.
  ///   - method: How the device signs.
  ///   - timestamp: The timestamp that the device signs, if any.
  /// - Throws: ``GatewayError`` when a part is wrong.
  public init(
    signing credentials: DeviceCredentials, clientID: String, method: SignMethod = .sha256,
    timestamp: String? = nil
  ) throws(GatewayError) {
    var params: [String: JSONValue] = [
      "clientId": .string(clientID), "productKey": .string(credentials.productKey),
      "deviceName": .string(credentials.deviceName),
    ]
    if let timestamp { params["timestamp"] = .string(timestamp) }
    let sign: String
    do throws(SigningError) {
      sign = try DeviceSignature.sign(
        params, method: method, key: .deviceSecret(credentials.deviceSecret))
    } catch {
      throw GatewayError(.client, error.message, underlying: error)
    }
    try self.init(
      productKey: credentials.productKey, deviceName: credentials.deviceName, clientID: clientID,
      sign: sign,
      signMethod: method.rawValue, timestamp: timestamp)
  }

  /// The members of a request that shows the signature.
  /// - Parameter methodKey: How the request spells the key of the method.
  /// - Returns: The members.
  func members(methodKey: String) -> [JSONMember] {
    var members = subdevice.members + [JSONMember("clientId", .string(clientID))]
    if let timestamp { members.append(JSONMember("timestamp", .string(timestamp))) }
    return members + [
      JSONMember(methodKey, .string(signMethod)), JSONMember("sign", .string(sign)),
    ]
  }
}

extension SubdeviceInfo: CustomStringConvertible, CustomReflectable {
  /// The sub-device.
  public var description: String { subdevice.description }

  /// What debuggers and `dump` show: all but the signature.
  public var customMirror: Mirror {
    Mirror(self, children: ["subdevice": subdevice, "clientID": clientID])
  }
}
