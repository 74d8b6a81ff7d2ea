import RepriseCore

/// What a gateway asks for, or a sub-device sends through it.
struct GatewayRequest {
  /// What is asked for.
  enum Kind: Sendable, Hashable {
    case addTopology, deleteTopology, getTopology, found
    case register, unregister
    case login, logout, batchLogin, batchLogout
    /// What a gateway posts for itself and its sub-devices in one.
    case pack
    /// Something that a device posts: properties, an event.
    case post
    /// What a device answers to a command; nothing is answered to it.
    case answer
  }

  let kind: Kind
  /// The device of the topic: the gateway, or the sub-device that posts.
  let device: CloudDevice
  /// The identifier as it came, a string or a number.
  let id: JSONValue
  let params: JSONValue?

  /// What all that gateways send matches.
  static let everythingUp = ["/sys/+/+/thing/#", "/ext/session/+/+/#"]

  /// Reads a request; nil when the message is none that could be answered, as one of the cloud's own.
  init?(_ message: Message) {
    guard let (device, kind) = Self.place(message.topic),
      let envelope = CloudEnvelope(parsing: message.payload)
    else { return nil }
    self.kind = kind
    self.device = device
    id = envelope.id
    params = envelope.params
  }

  private static let kinds: [String: Kind] = [
    "thing/topo/add": .addTopology, "thing/topo/delete": .deleteTopology,
    "thing/topo/get": .getTopology, "thing/list/found": .found,
    "thing/event/property/pack/post": .pack,
    "thing/sub/register": .register, "thing/sub/unregister": .unregister,
    "combine/login": .login, "combine/logout": .logout,
    "combine/batch_login": .batchLogin, "combine/batch_logout": .batchLogout,
    "thing/disable_reply": .answer, "thing/enable_reply": .answer, "thing/delete_reply": .answer,
    "thing/topo/change_reply": .answer, "thing/topo/add/notify_reply": .answer,
  ]

  private static func place(_ topic: String) -> (CloudDevice, Kind)? {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    let start = levels.count > 3 && levels[1] == "ext" ? 3 : 2
    guard levels.count > start + 2, levels[0].isEmpty else { return nil }
    let isSession = levels[1] == "ext" && levels[2] == "session"
    guard isSession || levels[1] == "sys", !levels[start].isEmpty, !levels[start + 1].isEmpty
    else { return nil }
    let device = CloudDevice(
      productKey: String(levels[start]), deviceName: String(levels[start + 1]))
    let path = levels[(start + 2)...].joined(separator: "/")
    return kind(path).map { (device, $0) }
  }

  private static func kind(_ path: String) -> Kind? {
    if let kind = kinds[path] { return kind }
    if path.hasPrefix("thing/event/"), path.hasSuffix("/post") { return .post }
    if path.hasPrefix("thing/service/"), path.hasSuffix("_reply") { return .answer }
    return nil
  }
}

extension CloudDevice {
  /// Reads a device from an object of JSON; nil when a part is missing.
  init?(_ value: JSONValue?) {
    guard let productKey = value?["productKey"]?.text, let deviceName = value?["deviceName"]?.text,
      !productKey.isEmpty, !deviceName.isEmpty
    else { return nil }
    self.init(productKey: productKey, deviceName: deviceName)
  }

  /// The device's name and its product's key as members of JSON.
  var json: JSONValue {
    .object([
      JSONMember("productKey", .string(productKey)), JSONMember("deviceName", .string(deviceName)),
    ])
  }

  /// Both parts as they stand in topics.
  var path: String { "\(productKey)/\(deviceName)" }
}
