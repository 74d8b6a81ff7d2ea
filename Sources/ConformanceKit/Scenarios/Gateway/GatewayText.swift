import DeviceSDK
import RepriseCore

/// Writes what a gateway does as lines, without what is another with every scenario.
///
/// `{gateway}` stands for the gateway's product and name in a topic, `{lamp}` for those of the
/// sub-device `lamp`, and `#1` for the id of the first request.
struct GatewayText: Sendable {
  private let identity: ChannelIdentity
  private let devices: GatewayDevices
  /// How the channel beside the gateway is written.
  private var channel: ChannelText
  private var requests = RequestNames()

  /// Creates the text of a gateway.
  /// - Parameters:
  ///   - identity: The identity of the gateway.
  ///   - devices: Its sub-devices.
  init(_ identity: ChannelIdentity, _ devices: GatewayDevices) {
    self.identity = identity
    self.devices = devices
    channel = ChannelText(identity)
  }

  // MARK: Topics

  /// In which topics a device is named, in front of its product.
  private static let prefixes = ["/sys/", "/ext/error/", "/ext/session/"]

  /// Returns a topic with names in the place of devices.
  private func shorten(_ topic: String) -> String {
    for prefix in Self.prefixes where topic.hasPrefix(prefix) {
      let levels = topic.dropFirst(prefix.count)
        .split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
      guard levels.count >= 2 else { return topic }
      let rest = levels.count > 2 ? "/" + levels[2] : ""
      if levels[0] == identity.productKey, levels[1] == identity.deviceName {
        return "\(prefix){gateway}\(rest)"
      }
      if levels[0] == devices.productKey { return "\(prefix){\(levels[1])}\(rest)" }
    }
    return topic
  }

  /// Returns a topic with devices in the place of names.
  /// - Parameter topic: The topic as scenarios write it.
  /// - Returns: The topic as the wire has it.
  func lengthen(_ topic: String) -> String {
    let topic = channel.lengthen(topic)
    guard let start = topic.firstIndex(of: "{"), let end = topic.firstIndex(of: "}"), start < end
    else { return topic }
    let name = topic[topic.index(after: start)..<end]
    let device =
      name == "gateway"
      ? "\(identity.productKey)/\(identity.deviceName)" : "\(devices.productKey)/\(name)"
    return topic.replacingCharacters(in: start...end, with: device)
  }

  // MARK: Lines

  /// Returns the line of an action.
  mutating func line(_ action: ClientAction) -> String {
    switch action.kind {
    case .connect(let options): connectLine(options)
    case .subscribe(let wanted):
      "SUBSCRIBE " + wanted.map { shorten($0.filter) }.joined(separator: " ")
    case .unsubscribe(let filters):
      "UNSUBSCRIBE " + filters.map(shorten).joined(separator: " ")
    case .publish(let message):
      "PUBLISH\(message.qos.rawValue) \(shorten(message.topic)) \(sent(message.payload))"
    case .send, .sendText, .sendBinary, .disconnect: channel.line(action)
    }
  }

  private mutating func connectLine(_ options: ConnectOptions) -> String {
    let user = options.username == identity.clientID ? "{client}" : options.username ?? "-"
    let name = options.clientID == identity.clientID ? "" : " as \(options.clientID)"
    return "CONNECT \(user)\(name)\(options.cleanStart ? "" : " keeping its session")"
      .replacing(identity.deviceName, with: "{device}")
  }

  /// Returns the line of what the application was told.
  func line(_ effect: GatewayStateMachine.Effect) -> String {
    switch effect {
    case .deliver(let message):
      "\(message.subdevice.map(name) ?? "gateway") got \(shorten(message.topic)) "
        + received(message.message.payload)
    case .command(let command):
      "\(name(command.subdevice)) command \(Self.kind(command.kind)) \(Self.text(command.params.utf8))"
    case .notice(let notice): "notice \(line(notice))"
    case .changeState(let change):
      "state \(change.state)\(Self.suffix(change.error))\(change.isFinal ? " final" : "")"
    case .changeLine(let change):
      "\(name(change.subdevice)) \(change.state)\(change.isDisabled ? " disabled" : "")"
        + Self.suffix(change.error)
    case .openConnection(let id): "open \(devices.name(of: id))"
    case .giveUpOpening(let id): "give up \(devices.name(of: id))"
    case .forgetConnection(let id): "forget \(devices.name(of: id))"
    case .log(let entry): "log \(entry.module.rawValue) \(entry.message)"
    }
  }

  /// Returns the line of what the channel told the application.
  func line(_ effect: ChannelStateMachine.Effect) -> String { "channel \(channel.line(effect))" }

  private func line(_ notice: GatewayNotice) -> String {
    switch notice {
    case .topologyChanged(let change, let subdevices):
      "topology \(change.rawValue) \(names(subdevices))"
    case .shouldAdd(let subdevices): "add \(names(subdevices))"
    case .sessionError(let code, _, let subdevice):
      "session \(code) \(subdevice.map(name) ?? "-")"
    }
  }

  private static func kind(_ kind: GatewayCommand.Kind) -> String {
    switch kind {
    case .setProperties: "set"
    case .getProperties: "get"
    case .service(let name): "service \(name)"
    case .disable: "disable"
    case .enable: "enable"
    case .delete: "delete"
    }
  }

  /// Returns the line of a call that was completed.
  func line(_ name: String, _ value: GatewayStateMachine.Value) -> String {
    switch value {
    case .done, .replies: "\(name) ok"
    case .reply(let reply): "\(name) ok \(reply.data.map { Self.text(named($0).utf8) } ?? "-")"
    case .line(let subdevice): "\(name) ok \(self.name(subdevice))"
    case .subdevices(let subdevices): "\(name) ok \(names(subdevices))"
    case .topics(let topics): "\(name) ok \(topics.joined(separator: ", "))"
    case .registered(let registered):
      "\(name) ok "
        + registered.map { device in
          "\(device.deviceName ?? "-")\(device.deviceSecret == nil ? "" : " with a secret")"
        }.joined(separator: ", ")
    }
  }

  /// Returns the line of a call that failed.
  static func line(_ name: String, _ error: GatewayError) -> String {
    "\(name) error\(suffix(error))"
  }

  private static func suffix(_ error: GatewayError?) -> String {
    guard let error else { return "" }
    return " \(error.kind.rawValue)\(error.cloudCode.map { "/\($0)" } ?? "")"
  }

  private static func text(_ payload: [UInt8]) -> String {
    payload.isEmpty ? "-" : String(decoding: payload, as: UTF8.self)
  }

  /// The name of a sub-device; that of one of another product with its key.
  func name(_ subdevice: Subdevice) -> String {
    subdevice.productKey == devices.productKey ? subdevice.deviceName : "\(subdevice)"
  }

  private func names(_ subdevices: [Subdevice]) -> String {
    subdevices.isEmpty ? "-" : subdevices.map(name).joined(separator: " ")
  }

  // MARK: Payloads

  /// A payload of the cloud: as it came, but for the scenario's name.
  private func received(_ payload: [UInt8]) -> String {
    guard let value = JSONValue(parsing: payload) else { return Self.text(payload) }
    return Self.text(named(value).utf8)
  }

  /// A payload of the gateway or of the channel: ids of requests, devices and signatures have names.
  private mutating func sent(_ payload: [UInt8]) -> String {
    guard let value = JSONValue(parsing: payload), case .object(var members) = named(value) else {
      return Self.text(payload)
    }
    // An answer has the id of what the cloud asked for.
    if value["code"] == nil, let id = value["id"]?.text,
      let index = members.firstIndex(where: { $0.key == "id" })
    {
      members[index].value = requests.name(id)
    }
    return Self.text(JSONValue.object(members).utf8)
  }

  private func named(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let values): .array(values.map(named))
    case .object(let members):
      .object(members.map { JSONMember($0.key, named($0.value, of: $0.key)) })
    case .null, .bool, .number, .string: value
    }
  }

  private func named(_ value: JSONValue, of key: String) -> JSONValue {
    guard case .string(let text) = value else { return named(value) }
    switch key {
    case "productKey": return text == devices.productKey ? "{product}" : value
    case "deviceName": return text == identity.deviceName ? "{device}" : value
    case "clientId": return text == identity.clientID ? "{client}" : value
    case "sign": return devices.hasMade(text) ? "{sign}" : value
    default: return value
    }
  }

  /// Puts the ids that were seen, and the devices, in the place of their names.
  /// - Parameter value: JSON with names such as `#1` and `{product}`.
  /// - Returns: JSON as the wire has it.
  func replacingNames(in value: JSONValue) -> JSONValue {
    let others = ["{product}": devices.productKey, "{device}": identity.deviceName]
    return requests.replaced(in: value, others: others)
  }
}

extension String {
  /// The text with another in the place of a part.
  fileprivate func replacingCharacters(in range: ClosedRange<Index>, with text: String) -> String {
    String(self[..<range.lowerBound]) + text + self[index(after: range.upperBound)...]
  }
}
