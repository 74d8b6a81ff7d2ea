/// A device that talks to the cloud, or an app, which is one to the cloud.
public struct CloudDevice: Sendable, Hashable {
  /// The product key.
  public var productKey: String
  /// The device's name; unique for the product.
  public var deviceName: String

  /// Creates a device.
  /// - Parameters:
  ///   - productKey: The product key.
  ///   - deviceName: The device's name.
  public init(productKey: String, deviceName: String) {
    self.productKey = productKey
    self.deviceName = deviceName
  }

  /// Returns the full topic of a message from the cloud.
  /// - Parameter path: A short topic such as `/thing/status`; a full one comes back as it is.
  /// - Returns: The full topic.
  public func downTopic(_ path: String) -> String {
    CloudTopic.full(path, below: "/sys/\(productKey)/\(deviceName)/app/down")
  }
}

/// How short topics become full ones.
enum CloudTopic {
  /// What everything that devices send matches.
  static let everythingUp = "/sys/+/+/app/up/#"

  /// The filter for a short topic of any device.
  static func upFilter(_ path: String) -> String { full(path, below: "/sys/+/+/app/up") }

  /// The filter for a short topic to any device.
  static func downFilter(_ path: String) -> String { full(path, below: "/sys/+/+/app/down") }

  static func full(_ path: String, below prefix: String) -> String {
    if isFull(path) { return path }
    return path.hasPrefix("/") ? prefix + path : "\(prefix)/\(path)"
  }

  static func isFull(_ path: String) -> Bool {
    path.hasPrefix("/sys/") || path.hasPrefix("/ext/")
  }
}
