import RepriseCore

@testable import DeviceSDK

/// Writes what a gateway does as lines, with `{gw}` and `{sub}` for the two devices.
struct GatewayText {
  /// The ids of requests, in the order in which they were first seen: the first is `#1`.
  private var requestIDs: [String] = []

  static let names = [("a1gw/phone", "{gw}"), ("123/test", "{sub}"), ("123/other", "{other}")]

  static func shorten(_ topic: String) -> String {
    names.reduce(topic) { $0.replacing($1.0, with: $1.1) }
  }

  static func lengthen(_ topic: String) -> String {
    names.reduce(topic) { $0.replacing($1.1, with: $1.0) }
  }

  mutating func line(_ action: ClientAction) -> String {
    switch action.kind {
    case .connect(let options): "CONNECT \(options.username ?? "-")"
    case .subscribe(let wanted):
      "SUBSCRIBE " + wanted.map { Self.shorten($0.filter) }.joined(separator: " ")
    case .unsubscribe(let filters):
      "UNSUBSCRIBE " + filters.map(Self.shorten).joined(separator: " ")
    case .publish(let message):
      "PUBLISH\(message.qos.rawValue) \(Self.shorten(message.topic)) \(naming(message.payload))"
    case .send(let request): "SEND \(request.path)"
    case .sendText, .sendBinary: "SEND"
    case .disconnect: "DISCONNECT"
    }
  }

  static func line(_ effect: GatewayStateMachine.Effect) -> String {
    switch effect {
    case .deliver(let message):
      (message.subdevice == nil ? "gateway got " : "line got ") + shorten(message.topic)
    case .command(let command): "command \(command.kind) \(text(command.params.utf8))"
    case .notice(let notice): "notice \(self.notice(notice))"
    case .changeState(let change):
      "state \(change.state)" + (change.error.map { " \(code($0))" } ?? "")
        + (change.isFinal ? " final" : "")
    case .changeLine(let change):
      "\(shorten(change.subdevice.description)) \(change.state)"
        + (change.isDisabled ? " disabled" : "") + (change.error.map { " \(code($0))" } ?? "")
    case .openConnection(let id): "open \(id.rawValue)"
    case .giveUpOpening(let id): "give up \(id.rawValue)"
    case .forgetConnection(let id): "forget \(id.rawValue)"
    case .log(let entry): "log \(entry.module.rawValue) \(entry.message)"
    }
  }

  private static func notice(_ notice: GatewayNotice) -> String {
    switch notice {
    case .topologyChanged(let change, let subdevices):
      "topology \(change.rawValue) \(subdevices.map { shorten($0.description) })"
    case .shouldAdd(let subdevices): "add \(subdevices.map { shorten($0.description) })"
    case .sessionError(let code, _, let subdevice):
      "session \(code) \(subdevice.map { shorten($0.description) } ?? "-")"
    }
  }

  static func code(_ error: GatewayError) -> String {
    guard let cloudCode = error.cloudCode else { return "\(error.kind.rawValue)" }
    return "\(error.kind.rawValue)/\(cloudCode)"
  }

  static func line(
    _ name: String, _ result: Result<GatewayStateMachine.Value, GatewayError>
  ) -> String {
    switch result {
    case .success(.done), .success(.replies): "\(name) ok"
    case .success(.reply(let reply)): "\(name) ok \(reply.data.map { text($0.utf8) } ?? "-")"
    case .success(.line(let subdevice)): "\(name) ok \(shorten(subdevice.description))"
    case .success(.subdevices(let subdevices)):
      "\(name) ok \(subdevices.map { shorten($0.description) })"
    case .success(.topics(let topics)): "\(name) ok \(topics.map(shorten))"
    case .success(.registered(let registered)):
      "\(name) ok \(registered.map { $0.deviceName ?? "-" })"
    case .failure(let error): "\(name) error \(code(error))"
    }
  }

  static func text(_ payload: [UInt8]) -> String {
    payload.isEmpty ? "-" : String(decoding: payload, as: UTF8.self)
  }

  // MARK: Ids of requests

  private mutating func naming(_ payload: [UInt8]) -> String {
    guard let value = JSONValue(parsing: payload), case .object(var members) = value,
      value["code"] == nil, let index = members.firstIndex(where: { $0.key == "id" }),
      let id = value["id"]?.text
    else { return Self.text(payload) }
    if !requestIDs.contains(id) { requestIDs.append(id) }
    members[index].value = .string("#\((requestIDs.firstIndex(of: id) ?? 0) + 1)")
    return Self.text(JSONValue.object(members).utf8)
  }
}
