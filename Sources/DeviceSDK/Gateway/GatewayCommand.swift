public import RepriseCore

/// What the cloud wants of a sub-device.
public struct GatewayCommand: Sendable, Hashable {
  /// The kinds of command.
  public enum Kind: Sendable, Hashable {
    /// Set properties to the values in ``GatewayCommand/params``.
    case setProperties
    /// Tell the values of the properties that ``GatewayCommand/params`` names.
    case getProperties
    /// Run the service of this name.
    case service(String)
    /// The sub-device is disabled; the gateway has answered.
    case disable
    /// The sub-device is enabled; the gateway has answered.
    case enable
    /// The sub-device is deleted; the gateway has answered.
    case delete
  }

  /// The sub-device.
  public let subdevice: Subdevice
  /// What is wanted.
  public let kind: Kind
  /// The identifier as it came, a text or a number; the answer has the same.
  public let id: JSONValue
  /// The parameters.
  public let params: JSONValue
  /// The full topic; the answer goes to the same with `_reply`.
  public let topic: String
  /// When it came.
  public let time: Timestamp

  /// Whether the application is to answer it.
  public var needsAnswer: Bool {
    switch kind {
    case .setProperties, .getProperties, .service: true
    case .disable, .enable, .delete: false
    }
  }
}

extension GatewayCommand.Kind {
  /// Reads what is behind `thing/` in a topic; nil when it is no command, as with an answer.
  init?(path: String) {
    switch path {
    case "service/property/set": self = .setProperties
    case "service/property/get": self = .getProperties
    case "disable": self = .disable
    case "enable": self = .enable
    case "delete": self = .delete
    default:
      let levels = path.split(separator: "/", omittingEmptySubsequences: false)
      guard levels.count == 2, levels[0] == "service", !levels[1].isEmpty,
        !levels[1].hasSuffix("_reply")
      else { return nil }
      self = .service(String(levels[1]))
    }
  }
}

/// What the cloud tells a gateway of its sub-devices.
public enum GatewayNotice: Sendable, Hashable {
  /// The topology has changed; the gateway has answered.
  case topologyChanged(TopologyChange, [Subdevice])
  /// The cloud wants these to become sub-devices; the gateway has answered.
  case shouldAdd([Subdevice])
  /// The cloud said something of a session that belongs to no request.
  case sessionError(code: Int, message: String, Subdevice?)
}

/// How a topology has changed.
public struct TopologyChange: Sendable, Hashable, RawRepresentable {
  /// The status as the cloud sends it.
  public let rawValue: Int

  /// Creates a change from its status.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The sub-devices are the gateway's now.
  public static let created = TopologyChange(rawValue: 0)
  /// The sub-devices are the gateway's no longer.
  public static let deleted = TopologyChange(rawValue: 1)
  /// The sub-devices are enabled.
  public static let enabled = TopologyChange(rawValue: 2)
  /// The sub-devices are disabled.
  public static let disabled = TopologyChange(rawValue: 8)
}

/// A sub-device that the cloud is to register.
public struct SubdeviceRegistration: Sendable, Hashable {
  /// The product's key.
  public var productKey: String
  /// The device's name, for Bluetooth the MAC without colons; nil lets the cloud make one.
  public var deviceName: String?

  /// Creates a registration.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name; nil lets the cloud make one.
  public init(productKey: String, deviceName: String? = nil) {
    self.productKey = productKey
    self.deviceName = deviceName
  }
}

/// What the cloud made of a registration; each part may be missing.
public struct RegisteredSubdevice: Sendable, Hashable {
  /// The product's key.
  public let productKey: String?
  /// The device's name.
  public let deviceName: String?
  /// The device's secret, to be handed to the device.
  public let deviceSecret: Secret?
  /// The identifier that the cloud's services use.
  public let iotID: String?

  init(_ value: JSONValue) {
    productKey = value["productKey"]?.text
    deviceName = value["deviceName"]?.text
    deviceSecret = (value["deviceSecret"]?.text).map { Secret($0) }
    iotID = value["iotId"]?.text
  }
}
