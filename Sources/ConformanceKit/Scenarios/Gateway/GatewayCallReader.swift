import DeviceSDK
import RepriseCore

/// Makes a call of a step's fields.
struct GatewayCallReader {
  /// What the step says.
  let fields: JSONValue
  /// The sub-devices that it may name.
  let devices: GatewayDevices
  /// Puts devices in the place of names in a topic.
  let lengthen: (String) -> String

  /// Returns the call of a kind.
  /// - Parameter kind: What the step calls.
  /// - Returns: The call, to the gateway or to the channel.
  /// - Throws: ``ConformanceError`` for a call that a gateway does not know, and what calls throw for
  ///   bad arguments.
  func call<Gateway>(_ kind: String) throws -> GatewayStage<Gateway>.Call {
    guard fields["of"]?.text == "channel" else { return .gateway(try gatewayCall(kind)) }
    switch kind {
    case "start": return .channel(.start)
    case "stop": return .channel(.stop)
    case "invoke":
      return .channel(.invoke(.init(try ChannelTopic(lengthen(text("topic"))), params: params)))
    default: throw ConformanceError(.badCatalogue, "a channel does not know the call \(kind)")
    }
  }

  private func gatewayCall(_ kind: String) throws -> GatewayStateMachine.Call {
    switch kind {
    case "start": return .start
    case "stop": return .stop
    case "line": return .setUp(devices.connect(to: text("device")))
    case "close": return .remove(try subdevice(text("device")))
    case "addTopology": return try operate(.addTopology)
    case "deleteTopology": return try operate(.deleteTopology)
    case "login": return try operate(.logIn)
    case "logout": return try operate(.logOut)
    case "topology": return .topology
    case "found": return .reportFound(try subdevices)
    case "register": return .register(registrations)
    case "unregister": return .unregister(try subdevices)
    case "publish": return .publish(try topic, method: fields["method"]?.text, params)
    case "upload": return .upload(try topic, Array(text("text").utf8), qos)
    case "subscribe": return .subscribe(try topic, for: try ownSubdevice)
    case "unsubscribe": return .unsubscribe(try topic, for: try ownSubdevice)
    case "invoke":
      return .invoke(
        .init(
          try topic, method: fields["method"]?.text, params: params, for: try ownSubdevice,
          timeout: fields["timeout"]?.seconds))
    case "post":
      let device = try subdevice(text("device"))
      let topic = "/sys/\(device)/thing/event/\(fields["event"]?.text ?? "property")/post"
      return .invoke(
        .init(
          try FullTopic(topic), params: params, for: device, timeout: fields["timeout"]?.seconds))
    default: throw ConformanceError(.badCatalogue, "a gateway does not know the call \(kind)")
    }
  }

  // MARK: Arguments

  private func text(_ key: String) -> String { fields[key]?.text ?? "" }

  private var params: JSONValue { fields["params"] ?? [:] }

  private var topic: FullTopic { get throws { try FullTopic(lengthen(text("topic"))) } }

  private var qos: QoS {
    fields["qos"]?.integer.flatMap { QoS(rawValue: UInt8(clamping: $0)) } ?? .atLeastOnce
  }

  private func subdevice(_ name: String) throws(GatewayError) -> Subdevice {
    try Subdevice(productKey: devices.productKey, deviceName: name)
  }

  private var ownSubdevice: Subdevice? {
    get throws { try fields["device"]?.text.map { try subdevice($0) } }
  }

  private var subdevices: [Subdevice] {
    get throws { try (fields["devices"]?.texts ?? []).map { try subdevice($0) } }
  }

  /// One sub-device, or several that share requests.
  private func operate(_ kind: LineCall) throws -> GatewayStateMachine.Call {
    guard let single = fields["device"]?.text else {
      return .operate(kind, try subdevices, isBatch: true)
    }
    return .operate(kind, [try subdevice(single)], isBatch: false)
  }

  /// Devices by their names; an empty one is left to the cloud.
  private var registrations: [SubdeviceRegistration] {
    (fields["devices"]?.texts ?? []).map { name in
      SubdeviceRegistration(
        productKey: devices.productKey, deviceName: name.isEmpty ? nil : name)
    }
  }
}
