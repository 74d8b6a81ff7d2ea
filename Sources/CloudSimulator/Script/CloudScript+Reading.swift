public import RepriseCore

extension CloudScript {
  /// Reads a script.
  /// - Parameter json: The script in JSON.
  /// - Throws: ``SimulatorError`` that names the key, or the line and the column where it is no JSON.
  public init(parsing json: [UInt8]) throws(SimulatorError) {
    try self.init(ScriptFields.read(json))
  }

  /// Takes a script from JSON that is read already.
  /// - Parameter value: The script.
  /// - Throws: ``SimulatorError`` that names the key.
  public init(_ value: JSONValue) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: "",
      keys: ["tokens", "replies", "pushes", "refusedSubscriptions", "gateway", "links"])
    self.init()
    tokens = try Self.tokens(fields)
    for element in try fields.elements("replies") {
      replies.append(try Reply(element.value, path: element.path))
    }
    for element in try fields.elements("pushes") {
      pushes.append(try ScheduledPush(element.value, path: element.path))
    }
    for (filter, path) in try fields.texts("refusedSubscriptions") {
      try ScriptFields.check(filter: filter, path)
      refusedSubscriptions.append(filter)
    }
    if let value = fields["gateway"] { gateway = try GatewayScript(value, path: "gateway") }
    if let value = fields["links"] { links = try LinkServiceRules(value, path: "links") }
  }

  private static func tokens(_ fields: ScriptFields) throws(SimulatorError) -> [String:
    TokenRefusal]
  {
    var tokens: [String: TokenRefusal] = [:]
    for member in try fields.members("tokens") {
      let path = "tokens.\(member.key)"
      let refusal = try ScriptFields(member.value, path: path, keys: ["code", "message"])
      guard let code = try refusal.code("code") else { throw refusal.error("code", "is missing") }
      guard tokens[member.key] == nil else { throw ScriptFields.error(path, "is there twice") }
      tokens[member.key] = TokenRefusal(code: code, message: try refusal.text("message"))
    }
    return tokens
  }
}

extension CloudScript.Reply {
  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path,
      keys: ["topic", "request", "faults", "after", "code", "message", "data"])
    self.init(
      topic: try fields.filter("topic") ?? "/#", delay: try fields.seconds("after") ?? .zero,
      code: try fields.code("code"), message: try fields.text("message"),
      data: fields["data"])
    requests = try Self.requests(fields)
    for (name, path) in try fields.texts("faults") {
      let names = CloudFault.allCases.map(\.rawValue)
      guard let fault = CloudFault(rawValue: name) else {
        let near = NearestName.find(name, in: names)
        let hint =
          near.map { "did you mean \"\($0)\"?" } ?? "known are \(names.joined(separator: ", "))"
        throw ScriptFields.error(path, "is no fault: \"\(name)\"; \(hint)")
      }
      faults.append(fault)
    }
  }

  /// One number, or several in an array.
  private static func requests(_ fields: ScriptFields) throws(SimulatorError) -> [Int] {
    guard case .array = fields["request"] else {
      return try fields.integer("request", in: 1...(.max)).map { [$0] } ?? []
    }
    var requests: [Int] = []
    for element in try fields.elements("request") {
      guard let number = element.value.integer, number >= 1 else {
        throw ScriptFields.error(element.path, "must be a whole number, 1 or more")
      }
      requests.append(number)
    }
    guard !requests.isEmpty else { throw fields.error("request", "must have a number") }
    return requests
  }
}

extension CloudScript.ScheduledPush {
  private static let contents = ["properties", "event", "status", "binding", "params", "payload"]

  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let keys = ["topic", "method", "qos", "after", "every", "times", "on", "device"]
    let fields = try ScriptFields(value, path: path, keys: Self.contents + keys)
    self.init(
      CloudPush(try Self.content(fields), qos: try fields.qos() ?? .atLeastOnce),
      delay: try fields.seconds("after") ?? .zero,
      interval: try fields.seconds("every", least: 0.001),
      count: try fields.integer("times", in: 1...(.max)),
      trigger: try fields.filter("on"), device: try fields.device("device"))
    if count ?? 1 > 1, interval == nil {
      throw fields.error("times", "needs the key every")
    }
    if trigger != nil, device != nil {
      throw fields.error("on", "is a device's request, and can't stand beside the key device")
    }
  }

  private static func content(_ fields: ScriptFields) throws(SimulatorError) -> CloudPush.Content {
    let given = contents.filter { fields[$0] != nil }
    guard given.count == 1, let key = given.first, let value = fields[key] else {
      throw ScriptFields.error(
        fields.path, "must have one of the keys \(contents.joined(separator: ", "))")
    }
    if key != "params", key != "payload" {
      guard fields["topic"] == nil else {
        throw fields.error("topic", "is known already by the key \(key)")
      }
    }
    if key != "params", fields["method"] != nil {
      throw fields.error("method", "stands beside the key params only")
    }
    switch key {
    case "properties":
      guard case .object(let members) = value else { throw fields.error(key, "must be an object") }
      return .properties(members)
    case "event": return .event(try event(value, path: fields.name(key)))
    case "status":
      return .status(isOnline: try choice(fields, key, yes: "online", no: "offline"))
    case "binding": return .binding(isBound: try choice(fields, key, yes: "Bind", no: "Unbind"))
    case "params":
      return .params(value, topic: try fields.topic("topic"), method: try fields.text("method"))
    default:
      let text = try fields.requiredText(key)
      return .payload(Array(text.utf8), topic: try fields.topic("topic"))
    }
  }

  private static func event(
    _ value: JSONValue, path: String
  ) throws(SimulatorError) -> CloudPush.Event {
    let fields = try ScriptFields(value, path: path, keys: ["identifier", "name", "type", "value"])
    let type = try fields.text("type") ?? "info"
    guard ["info", "alert", "error"].contains(type) else {
      throw fields.error("type", "must be info, alert or error")
    }
    return CloudPush.Event(
      identifier: try fields.requiredText("identifier"), name: try fields.text("name"), type: type,
      value: fields["value"] ?? .object([]))
  }

  private static func choice(
    _ fields: ScriptFields, _ key: String, yes: String, no: String
  ) throws(SimulatorError) -> Bool {
    switch try fields.requiredText(key) {
    case yes: return true
    case no: return false
    default: throw fields.error(key, "must be \(yes) or \(no)")
    }
  }
}
