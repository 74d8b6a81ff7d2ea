import RepriseCore

/// A device that reaches the cloud through a gateway, by the two parts of its name.
public struct Subdevice: Sendable, Hashable, Comparable {
  /// The product's key.
  public let productKey: String
  /// The device's name in the product.
  public let deviceName: String

  /// Creates the name of a sub-device.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name in the product.
  /// - Throws: ``GatewayError`` of kind `client` when a part can't stand in a topic.
  public init(productKey: String, deviceName: String) throws(GatewayError) {
    for (name, part) in [("productKey", productKey), ("deviceName", deviceName)] {
      guard Self.canStandInTopic(part) else {
        throw GatewayError(.client, "\(name) is empty or holds one of / + # & or U+0000")
      }
    }
    self.productKey = productKey
    self.deviceName = deviceName
  }

  /// The name of a sub-device whose parts are known to stand in topics.
  init(known productKey: String, _ deviceName: String) {
    self.productKey = productKey
    self.deviceName = deviceName
  }

  /// Reads the two parts from an object of JSON; nil when one is missing or can't stand in a topic.
  init?(_ value: JSONValue?) {
    guard let productKey = value?["productKey"]?.text, let deviceName = value?["deviceName"]?.text
    else { return nil }
    try? self.init(productKey: productKey, deviceName: deviceName)
  }

  static func canStandInTopic(_ part: some StringProtocol) -> Bool {
    !part.isEmpty && part.utf8.allSatisfy { !"/+#&\0".utf8.contains($0) }
  }

  /// Orders sub-devices by their product's key and then by their name.
  public static func < (lhs: Subdevice, rhs: Subdevice) -> Bool {
    (lhs.productKey, lhs.deviceName) < (rhs.productKey, rhs.deviceName)
  }

  /// The two parts as members of an object of JSON.
  var members: [JSONMember] {
    [
      JSONMember("productKey", .string(productKey)), JSONMember("deviceName", .string(deviceName)),
    ]
  }

  var json: JSONValue { .object(members) }
}

extension Subdevice: CustomStringConvertible {
  /// The product's key and the device's name with a slash between, as they stand in topics.
  public var description: String { "\(productKey)/\(deviceName)" }
}
