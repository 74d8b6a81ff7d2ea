import DeviceSDK
import RepriseCore

/// A request that a gateway's client sent, taken apart.
struct RecordedGatewayRequest: Sendable {
  let id: String
  let method: String?
  let params: JSONValue
  /// Whether it is written as a gateway writes it below `thing`, with a version.
  let isOfThing: Bool
  /// Whether it is written as a gateway writes it for sessions.
  let isOfSession: Bool

  /// Takes a payload apart; nil when it has no identifier or no parameters.
  init?(_ payload: [UInt8]) {
    guard case .object(let members)? = JSONValue(parsing: payload),
      let id = members.last(where: { $0.key == "id" })?.value.identifier,
      let params = members.last(where: { $0.key == "params" })?.value
    else { return nil }
    self.id = id
    self.params = params
    method = members.last { $0.key == "method" }?.value.text
    let keys = Set(members.map(\.key))
    isOfSession = keys == ["id", "params"]
    isOfThing =
      keys.subtracting(["method"]) == ["id", "version", "params"]
      && members.contains { $0.key == "version" && $0.value == "1.0" }
  }

  /// The sub-devices that it is about, with what each says of itself, if it does.
  var elements: [(subdevice: Subdevice, info: SubdeviceInfo?)] {
    let values: [JSONValue]
    switch params {
    case .array(let elements): values = elements
    default:
      if case .array(let elements)? = params["deviceList"] {
        values = elements
      } else {
        values = [params]
      }
    }
    return values.compactMap { value in
      guard let productKey = value["productKey"]?.text, let name = value["deviceName"]?.text,
        let subdevice = try? Subdevice(productKey: productKey, deviceName: name)
      else { return nil }
      let info = try? SubdeviceInfo(
        productKey: productKey, deviceName: name, clientID: value["clientId"]?.text ?? "",
        sign: value["sign"]?.text ?? "",
        signMethod: value["signMethod"]?.text ?? value["signmethod"]?.text ?? "",
        timestamp: value["timestamp"]?.identifier)
      return (subdevice, info)
    }
  }
}
