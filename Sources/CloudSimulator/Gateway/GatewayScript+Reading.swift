import RepriseCore

extension GatewayScript {
  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path, keys: ["devices", "loginsPerMinute", "pushes"])
    self.init(loginsPerMinute: try fields.integer("loginsPerMinute", in: 1...(.max)) ?? 5)
    for element in try fields.elements("devices") {
      let entry = try ScriptFields(element.value, path: element.path, keys: ["device", "sign"])
      devices.append(Device(try entry.requiredDevice("device"), sign: try entry.text("sign")))
    }
    for element in try fields.elements("pushes") {
      pushes.append(try ScheduledPush(element.value, path: element.path))
    }
  }
}

extension GatewayScript.ScheduledPush {
  private static let contents = [
    "set", "get", "service", "disable", "enable", "delete", "topologyChange", "add",
    "sessionError",
  ]

  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path, keys: Self.contents + ["subdevice", "gateway", "params", "after", "on"])
    self.init(
      GatewayPush(
        try Self.content(fields), of: try fields.requiredDevice("subdevice"),
        to: try fields.device("gateway")),
      delay: try fields.seconds("after") ?? .zero, trigger: try fields.filter("on"))
  }

  private static func content(_ fields: ScriptFields) throws(SimulatorError) -> GatewayPush.Content
  {
    let given = contents.filter { fields[$0] != nil }
    guard given.count == 1, let key = given.first, let value = fields[key] else {
      throw ScriptFields.error(
        fields.path, "must have one of the keys \(contents.joined(separator: ", "))")
    }
    guard key == "service" || fields["params"] == nil else {
      throw fields.error("params", "stands beside the key service only")
    }
    switch key {
    case "set":
      guard case .object = value else { throw fields.error(key, "must be an object") }
      return .set(value)
    case "get": return .get(try fields.texts(key).map(\.text))
    case "service":
      return .service(try fields.requiredText(key), fields["params"] ?? .object([]))
    case "topologyChange": return .topologyChange(try fields.integer(key, in: 0...255) ?? 0)
    case "sessionError":
      guard let code = try fields.code(key) else { throw fields.error(key, "is missing") }
      return .sessionError(code)
    default:
      guard value == .bool(true) else { throw fields.error(key, "must be true") }
      return flag(key)
    }
  }

  private static func flag(_ key: String) -> GatewayPush.Content {
    switch key {
    case "disable": .disable
    case "enable": .enable
    case "delete": .delete
    default: .add
    }
  }
}

extension ScriptFields {
  /// A device that must be there.
  fileprivate func requiredDevice(_ key: String) throws(SimulatorError) -> CloudDevice {
    guard let device = try device(key) else { throw error(key, .isMissing) }
    return device
  }
}
