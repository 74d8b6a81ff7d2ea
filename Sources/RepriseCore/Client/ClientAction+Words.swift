// What an action asks of a client, and how texts tell it.
extension ClientAction.Kind {
  /// What a client has to be able to do for the action.
  var needs: Capabilities {
    switch self {
    case .connect(let options):
      options.will?.hasProperties == true || !options.properties.isEmpty ? .properties : []
    case .disconnect: []
    case .subscribe(let subscriptions):
      subscriptions.allSatisfy(\.options.isEmpty) ? .messages : [.messages, .properties]
    case .unsubscribe: .messages
    case .publish(let message): message.hasProperties ? [.messages, .properties] : .messages
    case .send: .requests
    case .sendText, .sendBinary: .frames
    }
  }

  /// The packet or request that the action stands for, as messages name it.
  package var name: String {
    switch self {
    case .connect: "CONNECT"
    case .subscribe: "SUBSCRIBE"
    case .unsubscribe: "UNSUBSCRIBE"
    case .publish: "PUBLISH"
    case .send: "request"
    case .sendText: "TEXT"
    case .sendBinary: "BINARY"
    case .disconnect: "DISCONNECT"
    }
  }

  /// The action in one line, with secrets hidden.
  package var summary: String {
    switch self {
    case .publish(let message): "\(line.hidingSecrets), payload \(message.shownPayload)"
    case .sendText, .sendBinary: line
    case .connect, .subscribe, .unsubscribe, .send, .disconnect: line.hidingSecrets
    }
  }

  /// The action in one line; of payloads those of messages without topics alone, which hide their secrets.
  private var line: String {
    switch self {
    case .connect(let options):
      "CONNECT as \"\(options.clientID)\", cleanStart \(options.cleanStart), keepAlive "
        + "\(options.keepAlive)" + (options.username.map { ", username \"\($0)\"" } ?? "")
        + (options.will.map { ", will on \($0.topic)" } ?? "")
    case .subscribe(let subscriptions):
      "SUBSCRIBE "
        + subscriptions.map { "\($0.filter) (QoS \($0.qos.rawValue))" }.joined(separator: ", ")
    case .unsubscribe(let filters): "UNSUBSCRIBE " + filters.joined(separator: ", ")
    case .publish(let message):
      "PUBLISH \(message.topic), QoS \(message.qos.rawValue)\(message.isRetained ? ", retained" : "")"
    case .send(let request): "\(request.method) \(request.path)"
    case .sendText(let text): "TEXT \(Message(topic: "", payload: Array(text.utf8)).shownPayload)"
    case .sendBinary(let bytes): "BINARY \(Message(topic: "", payload: bytes).shownPayload)"
    case .disconnect: "DISCONNECT"
    }
  }
}

extension Message {
  /// The payload as recordings show it, with secrets hidden and cut where it is long.
  fileprivate var shownPayload: String {
    var bytes: [UInt8] = []
    var end = min(payload.count, 1_000)
    // Text that is cut inside of a character would be none, and be shown as it is.
    while end > 0, end < payload.count, payload[end] & 0xC0 == 0x80 { end -= 1 }
    let shown = Array(payload.prefix(end))
    EventJSONWriter().append(data: shown.span.bytes, to: &bytes)
    return String(String(decoding: bytes, as: UTF8.self).prefix(400))
  }
}
