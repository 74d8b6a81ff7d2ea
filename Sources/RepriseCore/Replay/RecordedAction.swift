package import Wire

/// An action of the recorded client, decoded from its packet.
struct RecordedAction {
  let kind: ClientAction.Kind

  /// Decodes an action; nil for what is none.
  /// - Parameters:
  ///   - event: An event of the session.
  ///   - aliases: The topics that the recorded client gave aliases to.
  ///   - base: The path of the URL of the server that requests are sent to.
  init?(_ event: Event, aliases: AliasedTopics = AliasedTopics(), below base: String = "") {
    guard event.context.sender == .client else { return nil }
    var aliases = aliases
    let decoded: ClientAction.Kind? = event.withView { view in
      if case .handshake(.request) = view.body { return .connect(ConnectOptions()) }
      if case .attempted = view.body { return .connect(ConnectOptions()) }
      if case .webSocket(let frame) = view.body {
        return ClientAction.Kind(frame)
      }
      if case .http(let part) = view.body {
        return part.request(below: base).map { .send($0) }
      }
      guard case .mqtt(let packet) = view.body else { return nil }
      if packet.type == .publish {
        let topic = aliases.topic(of: packet)
        return .publish(Message(topic: topic, packet))
      }
      guard let content = MQTTPacket(packet)?.content else { return nil }
      switch content {
      case .connect(let connect): return .connect(ConnectOptions(connect))
      case .subscribe(_, let subscriptions, _):
        return .subscribe(subscriptions.map(Subscription.init))
      case .unsubscribe(_, let filters, _): return .unsubscribe(filters)
      case .disconnect: return .disconnect
      case .connack, .publish, .acknowledgement, .suback, .unsuback, .pingreq, .pingresp, .auth:
        return nil
      }
    }
    guard let decoded else { return nil }
    kind = decoded
  }
}

/// The topics that a sender of MQTT 5.0 gave aliases to on a connection (5.0 section 3.3.2.3.4).
package struct AliasedTopics: Sendable {
  private var topics: [Int: String] = [:]
  /// The topic of the last message: most messages have the topic of the one before.
  private var last = ""

  /// Knows no alias.
  package init() {}

  /// Forgets all: aliases belong to a connection.
  mutating func removeAll() { topics.removeAll() }

  /// Returns the topic of a PUBLISH, and notes the alias that it gives.
  package mutating func topic(of packet: borrowing MQTTPacketView) -> String {
    let bytes = packet.topic
    if !bytes.isEmpty, !bytes.isEqual(to: last.utf8.span.bytes) { last = String(copying: bytes) }
    guard packet.hasProperties, let alias = packet.properties.integer(.topicAlias) else {
      return bytes.isEmpty ? "" : last
    }
    if bytes.isEmpty { return topics[alias] ?? "" }
    topics[alias] = last
    return last
  }
}

extension Message {
  /// Copies a message out of a PUBLISH.
  init(topic: String, _ packet: borrowing MQTTPacketView) {
    self.init(
      topic: topic, payload: Array(copying: packet.payload),
      qos: QoS(rawValue: packet.qos) ?? .exactlyOnce, isRetained: packet.retain)
    guard packet.hasProperties else { return }
    properties = MessageProperties(packet.properties, in: packet.bytes)
  }
}

extension Subscription {
  init(_ subscription: MQTTPacket.Subscription) {
    self.init(
      subscription.filter, qos: QoS(rawValue: subscription.options & 0b11) ?? .exactlyOnce,
      options: SubscriptionOptions(byte: subscription.options))
  }
}
