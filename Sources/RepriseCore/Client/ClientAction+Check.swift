extension ClientAction.Kind {
  /// The most bytes of a payload: no packet can hold more (MQTT 3.1.1 section 2.2.3).
  private static let longestPayload = 268_435_455

  /// Says what can't be expressed, or is more than a client can do, before anything is handed over.
  /// - Parameter capabilities: What the client can do.
  /// - Throws: ``DataClientError/Code/invalidAction`` and ``DataClientError/Code/unsupported``.
  package func check(by capabilities: Capabilities) throws(DataClientError) {
    guard !needs.contains(.properties) || capabilities.contains(.properties) else {
      let what = if case .subscribe = self { "options" } else { "properties" }
      throw DataClientError(
        .unsupported,
        "\(name) with \(what) of MQTT 5.0 is not among what this client can do; leave them out")
    }
    guard capabilities.isSuperset(of: needs) else {
      throw DataClientError(.unsupported, "\(name) is not among what this client can do")
    }
    switch self {
    case .connect(let options):
      try options.checkWillDelay()
      guard let will = options.will else { return }
      guard capabilities.contains(.will) else {
        throw DataClientError(.unsupported, "the broker keeps no will")
      }
      try check(will, by: capabilities)
    case .publish(let message): try check(message, by: capabilities)
    case .subscribe(let subscriptions):
      for subscription in subscriptions { try check(subscription.qos, by: capabilities) }
      try check(subscriptions)
    case .unsubscribe(let filters): try check(filters.map { Subscription($0) })
    case .send, .sendText, .sendBinary, .disconnect: return
    }
  }

  private func check(_ message: Message, by capabilities: Capabilities) throws(DataClientError) {
    let topic = message.topic
    let wildcards: [UInt8] = [UInt8(ascii: "+"), UInt8(ascii: "#")]
    guard Subscription(topic).isWellFormed, !topic.utf8.contains(where: wildcards.contains) else {
      throw DataClientError(.invalidAction, "\"\(topic)\" is no topic to send to")
    }
    guard message.payload.count <= Self.longestPayload else {
      throw DataClientError(.invalidAction, "\(message.payload.count) bytes are too many")
    }
    guard !message.isRetained || capabilities.contains(.retain) else {
      throw DataClientError(.unsupported, "the broker retains no messages")
    }
    try check(message.qos, by: capabilities)
  }

  private func check(_ qos: QoS, by capabilities: Capabilities) throws(DataClientError) {
    guard qos < .exactlyOnce || capabilities.contains(.exactlyOnce) else {
      throw DataClientError(.unsupported, "the broker does not know QoS 2")
    }
  }

  private func check(_ subscriptions: [Subscription]) throws(DataClientError) {
    guard !subscriptions.isEmpty else {
      throw DataClientError(.invalidAction, "no topic filter was given")
    }
    for subscription in subscriptions where !subscription.isWellFormed {
      throw DataClientError(.invalidAction, "\"\(subscription.filter)\" is no topic filter")
    }
    for subscription in subscriptions { try subscription.checkOptions() }
  }
}

extension ConnectOptions {
  /// Checks that no delay is named of a will that is not there.
  /// - Throws: ``DataClientError`` of code `invalidAction`.
  package func checkWillDelay() throws(DataClientError) {
    guard will != nil || properties.willDelayInterval == nil else {
      throw DataClientError(.invalidAction, "there is a delay of a will, and no will")
    }
  }
}

extension Subscription {
  /// Checks that its options may stand beside its filter (MQTT 5.0 section 3.8.3.1, MQTT-3.8.3-4).
  /// - Throws: ``DataClientError`` of code `invalidAction`.
  package func checkOptions() throws(DataClientError) {
    guard !options.noLocal || !filter.hasPrefix("$share/") else {
      throw DataClientError(
        .invalidAction, "a shared subscription can't be one of noLocal: \(filter)")
    }
  }
}
