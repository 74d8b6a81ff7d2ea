import Wire

extension MQTTPacket.Content {
  /// The same content where every client identifier and each level of a topic that does not begin with $ is a token.
  var withSecretNames: MQTTPacket.Content {
    func secret(_ topic: String) -> String {
      topic.split(separator: "/", omittingEmptySubsequences: false)
        .map { $0.isEmpty || $0 == "+" || $0 == "#" || topic.hasPrefix("$") ? $0 : "token=\($0)" }
        .joined(separator: "/")
    }
    switch self {
    case .connect(var connect):
      if !connect.clientID.isEmpty { connect.clientID = "token=\(connect.clientID)" }
      if let will = connect.will { connect.will?.topic = secret(will.topic) }
      return .connect(connect)
    case .publish(var message):
      message.topic = secret(message.topic)
      return .publish(message)
    case .subscribe(let id, let subscriptions, let properties):
      let secrets = subscriptions.map {
        MQTTPacket.Subscription(secret($0.filter), options: $0.options)
      }
      return .subscribe(packetID: id, secrets, properties)
    case .unsubscribe(let id, let filters, let properties):
      return .unsubscribe(packetID: id, filters.map(secret), properties)
    default: return self
    }
  }
}
