public import RepriseCore

/// A message that the cloud sends without having been asked.
public struct CloudPush: Sendable, Hashable {
  /// What it says; the shapes are those that the cloud's documentation shows.
  public enum Content: Sendable, Hashable {
    /// Values of properties, on `/thing/properties`.
    case properties([JSONMember])
    /// Something that happened, on `/thing/events`.
    case event(Event)
    /// Whether the device is online, on `/thing/status`.
    case status(isOnline: Bool)
    /// Whether the device belongs to the account, on `/_thing/event/notify`.
    case binding(isBound: Bool)
    /// Parameters on any topic; without a method the topic makes one.
    case params(JSONValue, topic: String, method: String?)
    /// Bytes as they are, on any topic.
    case payload([UInt8], topic: String)
  }

  /// Something that happened to a device.
  public struct Event: Sendable, Hashable {
    /// The identifier, such as `Error`.
    public var identifier: String
    /// The name for people.
    public var name: String
    /// The type: `info`, `alert` or `error`.
    public var type: String
    /// What is known of it.
    public var value: JSONValue

    /// Creates an event.
    /// - Parameters:
    ///   - identifier: The identifier.
    ///   - name: The name for people; nil takes the identifier.
    ///   - type: The type.
    ///   - value: What is known of it.
    public init(
      identifier: String, name: String? = nil, type: String = "info",
      value: JSONValue = .object([])
    ) {
      self.identifier = identifier
      self.name = name ?? identifier
      self.type = type
      self.value = value
    }
  }

  /// What it says.
  public var content: Content
  /// How hard it is tried.
  public var qos: QoS

  /// Creates a message.
  /// - Parameters:
  ///   - content: What it says.
  ///   - qos: How hard it is tried.
  public init(_ content: Content, qos: QoS = .atLeastOnce) {
    self.content = content
    self.qos = qos
  }

  /// The topic, short or full.
  public var topic: String {
    switch content {
    case .properties: "/thing/properties"
    case .event: "/thing/events"
    case .status: "/thing/status"
    case .binding: "/_thing/event/notify"
    case .params(_, let topic, _), .payload(_, let topic): topic
    }
  }
}

extension CloudPush {
  /// The message to a device.
  func message(to device: CloudDevice, id: UInt64, now: Timestamp) -> Message {
    Message(
      topic: device.downTopic(topic), payload: payload(to: device, id: id, now: now), qos: qos)
  }

  private func payload(to device: CloudDevice, id: UInt64, now: Timestamp) -> [UInt8] {
    let time = JSONValue.number(String(now.milliseconds))
    switch content {
    case .payload(let bytes, _): return bytes
    case .params(let params, _, let method):
      return Self.envelope(method ?? Self.method(of: topic), id: id, params: params)
    case .properties(let values):
      let items = values.map {
        JSONMember($0.key, .object([JSONMember("time", time), JSONMember("value", $0.value)]))
      }
      let params = Self.members(of: device) + [JSONMember("items", .object(items))]
      return Self.envelope("thing.properties", id: id, params: .object(params))
    case .event(let event):
      let params =
        Self.members(of: device) + [
          JSONMember("identifier", .string(event.identifier)),
          JSONMember("name", .string(event.name)), JSONMember("type", .string(event.type)),
          JSONMember("value", event.value), JSONMember("time", time),
        ]
      return Self.envelope("thing.events", id: id, params: .object(params))
    case .status(let isOnline):
      let status: JSONValue = .object([
        JSONMember("time", time), JSONMember("value", isOnline ? 1 : 3),
      ])
      let params =
        Self.members(of: device) + [
          JSONMember("status", status), JSONMember("statusLast", isOnline ? 3 : 1),
          JSONMember("netType", "NET_WIFI"),
        ]
      return Self.envelope("thing.status", id: id, params: .object(params))
    case .binding(let isBound):
      let value =
        Self.members(of: device) + [
          JSONMember("identityId", "identity-1"), JSONMember("owned", isBound ? 1 : 0),
          JSONMember("operation", isBound ? "Bind" : "Unbind"),
        ]
      let params: JSONValue = .object([
        JSONMember("identifier", "awss.BindNotify"), JSONMember("value", .object(value)),
      ])
      return Self.envelope("_thing.event.notify", id: id, params: params)
    }
  }

  private static func members(of device: CloudDevice) -> [JSONMember] {
    [
      JSONMember("iotId", .string("iot-\(device.deviceName)")),
      JSONMember("productKey", .string(device.productKey)),
      JSONMember("deviceName", .string(device.deviceName)),
    ]
  }

  private static func envelope(_ method: String, id: UInt64, params: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    JSONValue.object([
      JSONMember("method", .string(method)), JSONMember("id", .string(String(id))),
      JSONMember("version", "1.0"), JSONMember("params", params),
    ]).append(to: &bytes)
    return bytes
  }

  private static func method(of topic: String) -> String {
    var levels = topic.split(separator: "/")
    if CloudTopic.isFull(topic) { levels = Array(levels.dropFirst(5)) }
    return levels.joined(separator: ".")
  }
}
