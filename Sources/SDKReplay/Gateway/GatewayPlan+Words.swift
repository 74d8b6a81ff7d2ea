import DeviceSDK
import RepriseCore

/// The calls of an application that has a gateway, in words.
extension GatewayPlan {
  /// Returns a call in words; what sub-devices say is not worth a line.
  package func words(for call: Call) -> ReplayedCall.Words? {
    switch call {
    case .start: .init("start")
    case .stop: .init("stop")
    case .setReachable: .init("network")
    case .setUp(let id):
      .init("line", recorded.connections.first { $0.value == id }?.key.description)
    case .noteOpened: nil
    case .remove(let subdevice): .init("close", "\(subdevice)")
    case .operate(let kind, let subdevices, _): .init(kind.rawValue, Self.names(subdevices))
    case .topology: .init("topology")
    case .reportFound(let subdevices): .init("found", Self.names(subdevices))
    case .register(let registrations):
      .init(
        "register",
        registrations.map { "\($0.productKey)/\($0.deviceName ?? "-")" }.joined(separator: ", "))
    case .unregister(let subdevices): .init("unregister", Self.names(subdevices))
    case .invoke(let invocation): .init("invoke", invocation.topic.text, invocation.params)
    case .publish(let topic, _, let params, _): .init("publish", topic.text, params)
    case .upload(let topic, let bytes, _, _): .init("upload", topic.text, Self.shown(bytes))
    case .findRetained(let filter): .init("find retained", filter.text)
    case .subscribe(let filter, let subdevice):
      .init("subscribe", filter.text, Self.owner(subdevice))
    case .unsubscribe(let filter, let subdevice):
      .init("unsubscribe", filter.text, Self.owner(subdevice))
    case .answer(let command, let code, _, let data):
      .init("answer", command.topic, ["code": .number("\(code)"), "data": data])
    }
  }

  private static func names(_ subdevices: [Subdevice]) -> String {
    let shown = subdevices.prefix(5).map(\.description).joined(separator: ", ")
    return subdevices.count > 5 ? "\(shown) and \(subdevices.count - 5) more" : shown
  }

  private static func owner(_ subdevice: Subdevice?) -> JSONValue? {
    subdevice.map { .string("for \($0)") }
  }

  private static func shown(_ bytes: [UInt8]) -> JSONValue {
    if let value = JSONValue(parsing: bytes) { return value }
    let text = String(validating: bytes, as: UTF8.self)
    return .string(text ?? "\(bytes.count) bytes, no text")
  }
}
