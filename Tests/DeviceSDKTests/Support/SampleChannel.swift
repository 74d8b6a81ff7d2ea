import DeviceSDK
import RepriseCore
import TestSupport

/// The configuration and the identity that tests use.
enum SampleChannel {
  static let up = "/sys/a1pk/dev1/app/up"
  static let down = "/sys/a1pk/dev1/app/down"

  static func identity() throws -> ChannelIdentity {
    try ChannelIdentity(productKey: "a1pk", deviceName: "dev1")
  }

  static func configuration() throws -> ChannelConfiguration {
    var configuration = ChannelConfiguration(
      appKey: "1234", authCode: "test", identity: try identity())
    configuration.reconnect.jitterPercent = 0
    return configuration
  }

  /// A cloud that accepts everything, and answers requests with code 200 and their parameters.
  static let cloud: ScriptedClient.Responder = { action, _ in
    switch action.kind {
    case .connect: [.connected(.init())]
    case .subscribe(let wanted): [.subscribed(action.id, wanted.map { $0.qos })]
    case .unsubscribe: [.unsubscribed(action.id)]
    case .publish(let message): [.published(action.id)] + reply(to: message)
    case .disconnect: [.closed(.byUser)]
    case .send, .sendText, .sendBinary: []
    }
  }

  static func reply(to message: Message, code: Int = 200) -> [ClientEvent] {
    guard let request = ChannelEnvelope(parsing: message.payload),
      message.topic.hasPrefix(up)
    else { return [] }
    let topic = down + message.topic.dropFirst(up.count) + "_reply"
    let reply: JSONValue = [
      "id": .string(request.id), "code": .number(String(code)), "message": "told",
      "data": JSONValue(parsing: message.payload)?["params"] ?? .null,
    ]
    return [.message(Message(topic: topic, payload: reply.utf8, qos: .atLeastOnce))]
  }

  static func message(_ topic: String, _ payload: JSONValue) -> ClientEvent {
    .message(Message(topic: down + topic, payload: payload.utf8, qos: .atLeastOnce))
  }
}
