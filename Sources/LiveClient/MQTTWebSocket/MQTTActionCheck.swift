import RepriseCore
import Wire

/// Says what is wrong with an action of MQTT before it is handed over.
struct MQTTActionCheck: Sendable {
  let version: MQTTVersion
  /// What the broker is known not to do.
  let lacking: Capabilities

  /// Checks an action.
  /// - Throws: ``DataClientError`` that says what can't be sent.
  func check(_ kind: ClientAction.Kind) throws(DataClientError) {
    switch kind {
    case .connect(let options): try check(options)
    case .publish(let message): try check(message, "the topic")
    case .subscribe(let subscriptions):
      try check(filters: subscriptions.map(\.filter))
      for subscription in subscriptions {
        try check(subscription.qos)
        if !subscription.options.isEmpty { try checkVersion(for: "options of subscriptions") }
        try subscription.checkOptions()
      }
    case .unsubscribe(let filters): try check(filters: filters)
    case .disconnect: return
    case .send, .sendText, .sendBinary:
      throw DataClientError(.unsupported, "a broker of MQTT takes messages with topics only")
    }
  }

  private func check(_ options: ConnectOptions) throws(DataClientError) {
    guard options.cleanStart || !options.clientID.isEmpty else {
      throw DataClientError(
        .invalidAction, "a session can't be taken up without a client identifier")
    }
    try Mosquitto.check(text: options.clientID, "the client identifier")
    if let username = options.username { try Mosquitto.check(text: username, "the user name") }
    if let password = options.password {
      guard options.username != nil || !version.rules.passwordNeedsUserName else {
        throw DataClientError(.invalidAction, "MQTT 3.1.1 takes no password without a user name")
      }
      guard password.count <= Int(UInt16.max) else {
        throw DataClientError(.invalidAction, "the password has more than 65535 bytes")
      }
    }
    if !options.properties.isEmpty { try check(options.properties) }
    try options.checkWillDelay()
    guard let will = options.will else { return }
    guard !lacking.contains(.will) else {
      throw DataClientError(.unsupported, "this broker takes no will")
    }
    try check(will, "the will's topic")
    guard will.payload.count <= Int(UInt16.max) else {
      throw DataClientError(.invalidAction, "the will has more than 65535 bytes")
    }
  }

  private func check(_ message: Message, _ name: String) throws(DataClientError) {
    try check(message.qos)
    guard !message.isRetained || !lacking.contains(.retain) else {
      throw DataClientError(.unsupported, "this broker keeps no retained messages")
    }
    try Mosquitto.check(topic: message.topic, name)
    if message.hasProperties { try check(message.properties) }
  }

  /// Checks that there is MQTT 5.0.
  /// - Parameter what: What there is of it.
  /// - Throws: `DataClientError` of code `unsupported` where there is not.
  private func checkVersion(for what: String) throws(DataClientError) {
    guard version.rules.hasProperties else {
      throw DataClientError(
        .unsupported, "MQTT 3.1.1 has no \(what); make the client with version: .v5_0")
    }
    guard !lacking.contains(.properties) else {
      throw DataClientError(.unsupported, "this broker takes no \(what)")
    }
  }

  private func check(_ properties: ConnectProperties) throws(DataClientError) {
    try checkVersion(for: "properties")
    try check(properties.userProperties)
    guard properties.receiveMaximum != 0, properties.maximumPacketSize != 0 else {
      throw DataClientError(
        .invalidAction, "receiveMaximum and maximumPacketSize are 1 or more, or nil for no limit")
    }
  }

  private func check(
    _ userProperties: [MessageProperties.UserProperty]
  ) throws(DataClientError) {
    for property in userProperties {
      try Mosquitto.check(text: property.name, "the name of a user property")
      try Mosquitto.check(text: property.value, "the user property \(property.name)")
    }
  }

  private func check(_ properties: MessageProperties) throws(DataClientError) {
    try checkVersion(for: "properties")
    if let topic = properties.responseTopic {
      try Mosquitto.check(topic: topic, "the response topic")
    }
    if let type = properties.contentType { try Mosquitto.check(text: type, "the content type") }
    try check(properties.userProperties)
    guard properties.correlationData?.count ?? 0 <= Int(UInt16.max) else {
      throw DataClientError(.invalidAction, "the correlation data has more than 65535 bytes")
    }
  }

  private func check(_ qos: QoS) throws(DataClientError) {
    guard qos < .exactlyOnce || !lacking.contains(.exactlyOnce) else {
      throw DataClientError(.unsupported, "this broker has no QoS 2")
    }
  }

  private func check(filters: [String]) throws(DataClientError) {
    guard !filters.isEmpty else {
      throw DataClientError(.invalidAction, "there is no topic filter")
    }
    var size = 5
    for filter in filters {
      try Mosquitto.check(filter: filter)
      size += 3 + filter.utf8.count
    }
    guard size <= Mosquitto.largestPacket else {
      throw DataClientError(.invalidAction, "the topic filters make a packet of \(size) bytes")
    }
  }
}
