public import RepriseCore

/// What the cloud knows of gateways and sub-devices, and what it tells them without being asked.
///
/// As JSON, the key `gateway` of a ``CloudScript``; with it, though it be empty, the cloud answers
/// gateways:
///
/// ```json
/// {
///   "gateway": {
///     "devices": [ { "device": "123/test", "sign": "292f1d…" }, { "device": "123/other" } ],
///     "loginsPerMinute": 5,
///     "pushes": [
///       { "set": { "Power": 0 }, "subdevice": "123/test", "on": "/ext/session/+/+/combine/login" },
///       { "sessionError": 427, "subdevice": "123/test", "after": 30 }
///     ]
///   },
///   "replies": [ { "topic": "/sys/+/+/thing/topo/add", "code": 429, "request": 1 } ]
/// }
/// ```
///
/// Without devices every device exists, and every signature is good. How requests are answered badly
/// is up to the replies of the script, by their full topics.
public struct GatewayScript: Sendable, Hashable {
  /// A device that exists.
  public struct Device: Sendable, Hashable {
    /// The device.
    public var device: CloudDevice
    /// The only signature that is good, whatever the case of its digits; nil takes any.
    public var sign: String?

    /// Creates a device.
    /// - Parameters:
    ///   - device: The device.
    ///   - sign: The only signature that is good.
    public init(_ device: CloudDevice, sign: String? = nil) {
      self.device = device
      self.sign = sign
    }
  }

  /// When something is told.
  public struct ScheduledPush: Sendable, Hashable {
    /// What is told.
    public var push: GatewayPush
    /// How long after its occasion.
    public var delay: Duration
    /// The filter of full topics whose every message is the occasion; nil takes the sub-device's next
    /// login.
    public var trigger: String?

    /// Creates a schedule.
    /// - Parameters:
    ///   - push: What is told.
    ///   - delay: How long after its occasion.
    ///   - trigger: The filter of full topics whose every message is the occasion.
    public init(_ push: GatewayPush, delay: Duration = .zero, trigger: String? = nil) {
      self.push = push
      self.delay = delay
      self.trigger = trigger
    }
  }

  /// The devices that exist; none is all.
  public var devices: [Device]
  /// How often a sub-device may be logged in within a minute before the code is 429.
  public var loginsPerMinute: Int
  /// What is told.
  public var pushes: [ScheduledPush]

  /// Creates a script.
  /// - Parameters:
  ///   - devices: The devices that exist; none is all.
  ///   - loginsPerMinute: How often a sub-device may be logged in within a minute.
  ///   - pushes: What is told.
  public init(
    devices: [Device] = [], loginsPerMinute: Int = 5, pushes: [ScheduledPush] = []
  ) {
    self.devices = devices
    self.loginsPerMinute = loginsPerMinute
    self.pushes = pushes
  }
}

/// What the cloud tells a gateway of one of its sub-devices without having been asked.
public struct GatewayPush: Sendable, Hashable {
  /// What it says.
  public enum Content: Sendable, Hashable {
    /// Set properties to these values.
    case set(JSONValue)
    /// Tell the values of these properties.
    case get([String])
    /// Run a service.
    case service(String, JSONValue)
    /// The sub-device is disabled, enabled, or deleted.
    case disable, enable, delete
    /// The topology has changed, with this status.
    case topologyChange(Int)
    /// The sub-device should be added.
    case add
    /// The session is in trouble, with a code as a number or as text.
    case sessionError(JSONValue)
  }

  /// What it says.
  public var content: Content
  /// The sub-device.
  public var subdevice: CloudDevice
  /// The gateway that is told; nil takes the sub-device's own.
  public var gateway: CloudDevice?

  /// Creates something to tell.
  /// - Parameters:
  ///   - content: What it says.
  ///   - subdevice: The sub-device.
  ///   - gateway: The gateway that is told; nil takes the sub-device's own.
  public init(_ content: Content, of subdevice: CloudDevice, to gateway: CloudDevice? = nil) {
    self.content = content
    self.subdevice = subdevice
    self.gateway = gateway
  }
}
