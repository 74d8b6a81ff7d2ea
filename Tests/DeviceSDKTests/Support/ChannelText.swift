import DataClient
import DeviceSDK

/// Writes what a channel does as lines, with `{up}` and `{down}` for the prefixes.
struct ChannelText {
  /// The ids of requests, in the order in which they were first seen: the first is `#1`.
  private var requestIDs: [String] = []

  static func shorten(_ topic: String) -> String {
    for (prefix, name) in [(SampleChannel.up, "{up}"), (SampleChannel.down, "{down}")]
    where topic == prefix || topic.hasPrefix(prefix + "/") {
      return name + topic.dropFirst(prefix.count)
    }
    return topic
  }

  static func lengthen(_ topic: String) -> String {
    for (prefix, name) in [(SampleChannel.up, "{up}"), (SampleChannel.down, "{down}")]
    where topic.hasPrefix(name) {
      return prefix + topic.dropFirst(name.count)
    }
    return topic
  }

  mutating func line(_ action: ClientAction) -> String {
    switch action.kind {
    case .connect(let options): "CONNECT \(options.username ?? "-")"
    case .subscribe(let wanted):
      "SUBSCRIBE " + wanted.map { Self.shorten($0.filter) }.joined(separator: " ")
    case .unsubscribe(let filters):
      "UNSUBSCRIBE " + filters.map(Self.shorten).joined(separator: " ")
    case .publish(let message):
      "PUBLISH \(Self.shorten(message.topic)) \(naming(message.payload))"
    case .send(let request): "SEND \(request.path)"
    case .disconnect: "DISCONNECT"
    }
  }

  static func line(_ effect: ChannelStateMachine.Effect) -> String {
    switch effect {
    case .deliver(let message): "deliver \(message.topic) \(text(message.payload))"
    case .forward(let message): "forward \(message.topic) \(text(message.payload))"
    case .changeState(let change): line(change)
    case .changeAccount(let state): "account \(state.rawValue)"
    case .log(let entry): "log \(entry.module.rawValue) \(entry.message)"
    }
  }

  static func line(_ change: ChannelStateChange) -> String {
    var text = "state \(change.state)"
    if let error = change.error { text += " \(code(error))" }
    return change.isFinal ? text + " final" : text
  }

  static func code(_ error: ChannelError) -> String {
    guard let cloudCode = error.cloudCode else { return "\(error.kind.rawValue)" }
    return "\(error.kind.rawValue)/\(cloudCode)"
  }

  static func line(
    _ name: String, _ result: Result<ChannelStateMachine.Value, ChannelError>
  ) -> String {
    switch result {
    case .success(.done): "\(name) ok"
    case .success(.reply(let reply)):
      "\(name) ok \(reply.data.map { text($0.utf8) } ?? "-")"
    case .failure(let error): "\(name) error \(code(error))"
    }
  }

  static func text(_ payload: [UInt8]) -> String {
    payload.isEmpty ? "-" : String(decoding: payload, as: UTF8.self)
  }

  // MARK: Ids of requests

  private mutating func naming(_ payload: [UInt8]) -> String {
    guard let value = JSONValue(parsing: payload), case .object(var members) = value,
      let index = members.firstIndex(where: { $0.key == "id" }), let id = value["id"]?.text
    else { return Self.text(payload) }
    if !requestIDs.contains(id) { requestIDs.append(id) }
    members[index].value = .string("#\((requestIDs.firstIndex(of: id) ?? 0) + 1)")
    return Self.text(JSONValue.object(members).utf8)
  }

  /// Puts the ids that were seen in the place of their names.
  func replacingNames(in value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text):
      guard let id = id(named: text) else { return value }
      return text.hasPrefix("n#") ? .number(id) : .string(id)
    case .array(let values): return .array(values.map(replacingNames))
    case .object(let members):
      return .object(members.map { JSONMember($0.key, replacingNames(in: $0.value)) })
    case .null, .bool, .number: return value
    }
  }

  /// The id that `#1` stands for, or `n#1`, which asks for a number.
  private func id(named name: String) -> String? {
    let digits = name.drop { $0 == "n" }
    guard digits.first == "#", let number = Int(digits.dropFirst()),
      requestIDs.indices.contains(number - 1)
    else { return nil }
    return requestIDs[number - 1]
  }
}
