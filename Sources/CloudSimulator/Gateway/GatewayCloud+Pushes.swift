import RepriseCore

/// What gateways are told without having asked.
extension GatewayCloud {
  /// Takes note of what is told, and returns the message.
  /// - Returns: The message; nil when nobody knows which gateway it is for.
  mutating func message(_ push: GatewayPush, id: UInt64) -> Message? {
    let device = push.subdevice
    guard let gateway = push.gateway ?? topology[device] ?? lastGateway else { return nil }
    note(push.content, device, gateway)
    let id = JSONValue.string(String(id))
    switch push.content {
    case .set(let values): return Self.command("service/property/set", id, values, device)
    case .get(let names):
      return Self.command("service/property/get", id, .array(names.map { .string($0) }), device)
    case .service(let name, let params):
      return Self.command("service/\(name)", id, params, device)
    case .disable: return Self.command("disable", id, .object([]), device)
    case .enable: return Self.command("enable", id, .object([]), device)
    case .delete: return Self.command("delete", id, .object([]), device)
    case .topologyChange(let status):
      let params: JSONValue = .object([
        JSONMember("status", .number(String(status))),
        JSONMember("subList", .array([device.json])),
      ])
      return Self.command("topo/change", id, params, gateway)
    case .add: return Self.command("topo/add/notify", id, .array([device.json]), gateway)
    case .sessionError(let code):
      let answer = CloudAnswer.failure(code, message: "session error")
      return Self.sessionError(answer, id: id, device, gateway)
    }
  }

  private mutating func note(
    _ content: GatewayPush.Content, _ device: CloudDevice, _ gateway: CloudDevice
  ) {
    switch content {
    case .set, .get, .service, .add: break
    case .disable, .topologyChange(8):
      disabled.insert(device)
      sessions[device] = nil
    case .enable, .topologyChange(2): disabled.remove(device)
    case .delete:
      deleted.insert(device)
      topology[device] = nil
      sessions[device] = nil
    case .topologyChange(0): topology[device] = gateway
    case .topologyChange(1):
      topology[device] = nil
      sessions[device] = nil
    case .topologyChange: break
    case .sessionError(let code):
      sessions[device] = nil
      if code == .number("6401") || code == .string("6401") { topology[device] = nil }
      if code == .number("522") || code == .string("522") { disabled.insert(device) }
    }
  }

  private static func command(
    _ path: String, _ id: JSONValue, _ params: JSONValue, _ device: CloudDevice
  ) -> Message {
    let method = "thing." + path.split(separator: "/").joined(separator: ".")
    var payload: [UInt8] = []
    JSONValue.object([
      JSONMember("id", id), JSONMember("version", "1.0"), JSONMember("params", params),
      JSONMember("method", .string(method)),
    ]).append(to: &payload)
    return Message(topic: "/sys/\(device.path)/thing/\(path)", payload: payload, qos: .atLeastOnce)
  }

  /// Returns the message that tells an error of a session.
  static func sessionError(
    _ answer: CloudAnswer, id: JSONValue, _ device: CloudDevice, _ gateway: CloudDevice
  ) -> Message {
    var payload: [UInt8] = []
    JSONValue.object([
      JSONMember("id", id), JSONMember("code", answer.code),
      JSONMember("message", .string(answer.message)), JSONMember("data", device.json),
    ]).append(to: &payload)
    return Message(
      topic: "/ext/error/\(gateway.path)", payload: payload, qos: .atMostOnce)
  }
}
