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
    let gateway = fields.value("gateway") == nil ? nil : try fields.requiredDevice("gateway")
    self.init(
      GatewayPush(
        try Self.content(fields), of: try fields.requiredDevice("subdevice"), to: gateway),
      delay: try fields.seconds("after") ?? .zero, trigger: try fields.filter("on"))
  }

  private static func content(_ fields: ScriptFields) throws(SimulatorError) -> GatewayPush.Content
  {
    let given = contents.filter { fields.value($0) != nil }
    guard given.count == 1, let key = given.first, let value = fields.value(key) else {
      throw ScriptFields.error(
        fields.path, "must have one of the keys \(contents.joined(separator: ", "))")
    }
    guard key == "service" || fields.value("params") == nil else {
      throw fields.error("params", "stands beside the key service only")
    }
    switch key {
    case "set":
      guard case .object = value else { throw fields.error(key, "must be an object") }
      return .set(value)
    case "get": return .get(try names(fields, key))
    case "service":
      return .service(try fields.requiredText(key), fields.value("params") ?? .object([]))
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

  private static func names(_ fields: ScriptFields, _ key: String) throws(SimulatorError)
    -> [String]
  {
    var names: [String] = []
    for element in try fields.elements(key) {
      guard let name = element.value.text else {
        throw ScriptFields.error(element.path, "must be a string")
      }
      names.append(name)
    }
    return names
  }
}

extension ScriptFields {
  /// A device as `productKey/deviceName`.
  fileprivate func requiredDevice(_ key: String) throws(SimulatorError) -> CloudDevice {
    let text = try requiredText(key)
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty,
      !text.contains("+"), !text.contains("#")
    else { throw error(key, "must be productKey/deviceName") }
    return CloudDevice(productKey: String(parts[0]), deviceName: String(parts[1]))
  }
}
