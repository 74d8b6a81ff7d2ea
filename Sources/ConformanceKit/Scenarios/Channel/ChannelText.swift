package import DeviceSDK
package import RepriseCore

/// Writes what a channel does as lines, without what is another with every identity.
///
/// `{up}` and `{down}` stand for the prefixes, `{product}`, `{device}` and `{client}` for the parts of
/// the identity, `#1` for the id of the first request, and `{time}` for a moment in a message.
package struct ChannelText: Sendable {
  private let identity: ChannelIdentity
  private let topics: ChannelTopics
  private var requests = RequestNames()

  /// Creates the text of a channel.
  /// - Parameter identity: The identity of the channel.
  package init(_ identity: ChannelIdentity) {
    self.identity = identity
    topics = ChannelTopics(productKey: identity.productKey, deviceName: identity.deviceName)
  }

  // MARK: Topics

  private var systemPrefix: String { "/sys/\(identity.productKey)/\(identity.deviceName)/" }

  /// Returns a topic with names in the place of prefixes.
  private func shorten(_ topic: String) -> String {
    for (prefix, name) in [(topics.up, "{up}"), (topics.down, "{down}")]
    where topic == prefix || topic.hasPrefix(prefix + "/") {
      return name + topic.dropFirst(prefix.count)
    }
    guard topic.hasPrefix(systemPrefix) else { return topic }
    return "/sys/{product}/{device}/" + topic.dropFirst(systemPrefix.count)
  }

  /// Returns a topic with prefixes in the place of names.
  /// - Parameter topic: The topic as scenarios write it.
  /// - Returns: The topic as the wire has it.
  package func lengthen(_ topic: String) -> String {
    let names = [
      ("{up}", topics.up), ("{down}", topics.down), ("/sys/{product}/{device}/", systemPrefix),
    ]
    for (name, prefix) in names where topic.hasPrefix(name) {
      return prefix + topic.dropFirst(name.count)
    }
    return topic
  }

  // MARK: Lines

  /// Returns the line of an action.
  package mutating func line(_ action: ClientAction) -> String {
    switch action.kind {
    case .connect(let options): "CONNECT \(named(options.username ?? "-"))"
    case .subscribe(let wanted):
      "SUBSCRIBE " + wanted.map { shorten($0.filter) }.joined(separator: " ")
    case .unsubscribe(let filters):
      "UNSUBSCRIBE " + filters.map(shorten).joined(separator: " ")
    case .publish(let message):
      "PUBLISH \(shorten(message.topic)) \(naming(message.payload))"
        + (message.isRetained ? " retained" : "")
    case .send(let request): "SEND \(request.path)"
    case .sendText(let text): "TEXT \(text)"
    case .sendBinary(let bytes): "BINARY \(bytes.count)"
    case .disconnect: "DISCONNECT"
    }
  }

  /// Returns the line of what the application was told.
  package func line(_ effect: ChannelStateMachine.Effect) -> String {
    switch effect {
    case .deliver(let message): "deliver \(message.topic) \(received(message.payload))"
    case .forward(let message): "forward \(shorten(message.topic)) \(received(message.payload))"
    case .changeState(let change): Self.line(change)
    case .changeAccount(let state): "account \(state.rawValue)"
    case .log(let entry): "log \(entry.module.rawValue) \(entry.message)"
    }
  }

  private static func line(_ change: ChannelStateChange) -> String {
    var text = "state \(change.state)"
    if let error = change.error { text += " \(code(error))" }
    return change.isFinal ? text + " final" : text
  }

  private static func code(_ error: ChannelError) -> String {
    guard let cloudCode = error.cloudCode else { return "\(error.kind.rawValue)" }
    return "\(error.kind.rawValue)/\(cloudCode)"
  }

  /// Returns the line of a call that was completed.
  package static func line(
    _ name: String, _ result: Result<ChannelStateMachine.Value, ChannelError>
  ) -> String {
    switch result {
    case .success(.done): "\(name) ok"
    case .success(.topics(let topics)): "\(name) ok \(topics.joined(separator: ", "))"
    case .success(.reply(let reply)):
      "\(name) ok \(reply.data.map { text($0.utf8) } ?? "-")"
    case .failure(let error): "\(name) error \(code(error))"
    }
  }

  private static func text(_ payload: [UInt8]) -> String {
    payload.isEmpty ? "-" : String(decoding: payload, as: UTF8.self)
  }

  /// The text with a name in the place of the client's identifier.
  private func named(_ text: String) -> String {
    text == identity.clientID ? "{client}" : text
  }

  // MARK: Payloads

  /// A payload of the cloud: as it came, but for moments and the identity.
  private func received(_ payload: [UInt8]) -> String {
    guard let value = JSONValue(parsing: payload) else { return Self.text(payload) }
    let named = withoutMoments(value)
    return named == value ? Self.text(payload) : Self.text(named.utf8)
  }

  private func withoutMoments(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let values): .array(values.map(withoutMoments))
    case .object(let members):
      .object(
        members.map { member in
          switch (member.key, member.value) {
          case ("time", .number): JSONMember(member.key, "{time}")
          case ("deviceName", .string(identity.deviceName)): JSONMember(member.key, "{device}")
          case ("iotId", .string("iot-\(identity.deviceName)")):
            JSONMember(member.key, "iot-{device}")
          default: JSONMember(member.key, withoutMoments(member.value))
          }
        })
    case .null, .bool, .number, .string: value
    }
  }

  /// A payload of the channel: its id and its client have names.
  private mutating func naming(_ payload: [UInt8]) -> String {
    guard let value = JSONValue(parsing: payload), case .object(var members) = value,
      let index = members.firstIndex(where: { $0.key == "id" }), let id = value["id"]?.text
    else { return Self.text(payload) }
    members[index].value = requests.name(id)
    if let index = members.firstIndex(where: { $0.key == "request" }),
      let client = members[index].value["clientId"]?.text
    {
      members[index].value = ["clientId": .string(named(client))]
    }
    return Self.text(JSONValue.object(members).utf8)
  }

  /// Puts the ids that were seen in the place of their names.
  /// - Parameter value: JSON with names such as `#1`.
  /// - Returns: JSON as the wire has it.
  package func replacingNames(in value: JSONValue) -> JSONValue { requests.replaced(in: value) }
}
