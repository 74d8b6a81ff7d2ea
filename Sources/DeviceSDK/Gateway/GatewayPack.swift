public import RepriseCore

/// Properties and events of a gateway and of several sub-devices.
public struct GatewayPack: Sendable, Hashable {
  /// What one device has to say.
  public struct Content: Sendable, Hashable {
    /// Values by the names of properties: an object of arrays of `{"value":…,"time":…}`.
    public var properties: [JSONMember]
    /// Occurrences by the names of events, in the same form.
    public var events: [JSONMember]

    /// Creates what a device has to say.
    /// - Parameters:
    ///   - properties: Values by the names of properties.
    ///   - events: Occurrences by the names of events.
    public init(properties: [JSONMember] = [], events: [JSONMember] = []) {
      self.properties = properties
      self.events = events
    }

    var members: [JSONMember] {
      [JSONMember("properties", .object(properties)), JSONMember("events", .object(events))]
    }

    var eventCount: Int {
      events.reduce(0) { count, event in
        if case .array(let occurrences) = event.value {
          count + occurrences.count
        } else {
          count + 1
        }
      }
    }
  }

  /// What a sub-device has to say.
  public struct Part: Sendable, Hashable {
    /// The sub-device.
    public var subdevice: Subdevice
    /// What it has to say.
    public var content: Content

    /// Creates what a sub-device has to say.
    /// - Parameters:
    ///   - subdevice: The sub-device.
    ///   - content: What it has to say.
    public init(_ subdevice: Subdevice, _ content: Content) {
      self.subdevice = subdevice
      self.content = content
    }
  }

  /// What the gateway has to say.
  public var gateway: Content
  /// What the sub-devices have to say, in their order.
  public var subdevices: [Part]

  /// Creates a pack.
  /// - Parameters:
  ///   - gateway: What the gateway has to say.
  ///   - subdevices: What the sub-devices have to say.
  public init(gateway: Content = Content(), subdevices: [Part] = []) {
    self.gateway = gateway
    self.subdevices = subdevices
  }

  var json: JSONValue {
    let parts = subdevices.map { part in
      JSONValue.object([JSONMember("identity", part.subdevice.json)] + part.content.members)
    }
    return .object(gateway.members + [JSONMember("subDevices", .array(parts))])
  }

  func check(_ limits: GatewayConfiguration.Limits) throws(GatewayError) {
    let all = [gateway] + subdevices.map(\.content)
    let events = all.reduce(0) { $0 + $1.eventCount }
    let properties = all.map { $0.properties.count }.max() ?? 0
    guard subdevices.count <= limits.subdevicesPerPack, events <= limits.eventsPerPack,
      properties <= limits.propertiesPerPost
    else {
      throw GatewayError(
        .client,
        "a pack holds \(limits.subdevicesPerPack) sub-devices, \(limits.eventsPerPack) events, and "
          + "\(limits.propertiesPerPost) properties of each device; split it")
    }
  }
}
