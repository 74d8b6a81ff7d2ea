import RepriseCore

/// What a server said of itself when it accepted a connection (MQTT 5.0 section 3.2.2.3).
struct ServerLimits: Sendable, Hashable {
  /// The highest QoS that it takes.
  var highestQoS = QoS.exactlyOnce
  /// Whether it keeps retained messages.
  var takesRetained = true
  /// How many messages above QoS 0 may be unanswered at a time.
  var receiveMaximum = 20
  /// The largest packet that it takes.
  var largestPacket = Mosquitto.largestPacket
  /// The longest time between two packets that it wants, in seconds; nil leaves that to the client.
  var keepAlive: UInt16?

  /// What a server says of itself.
  init(_ server: ServerProperties = ServerProperties()) {
    highestQoS = server.maximumQoS ?? .exactlyOnce
    takesRetained = server.isRetainAvailable ?? true
    if let count = server.receiveMaximum {
      receiveMaximum = max(1, min(receiveMaximum, Int(count)))
    }
    if let size = server.maximumPacketSize, size > 0 {
      largestPacket = min(largestPacket, Int(size))
    }
    keepAlive = server.keepAlive
  }

  /// What it can't do.
  var missing: Capabilities {
    var missing: Capabilities = []
    if highestQoS < .exactlyOnce { missing.insert(.exactlyOnce) }
    if !takesRetained { missing.insert(.retain) }
    return missing
  }

  /// Checks a message against the limits.
  ///
  /// The library checks too, but later, and it drops a retain flag without a word.
  /// - Parameter message: The message.
  /// - Throws: ``DataClientError`` that names the limit.
  func check(_ message: Message) throws(DataClientError) {
    guard !message.isRetained || takesRetained else {
      throw DataClientError(.unsupported, "the server keeps no retained messages")
    }
    guard message.qos <= highestQoS else {
      throw DataClientError(
        .unsupported, "the server takes messages up to QoS \(highestQoS.rawValue) only")
    }
    // Fixed header, length of the topic, packet identifier, length of the properties.
    let overhead = 5 + 2 + 2 + 1
    let properties = message.hasProperties ? 3 + message.properties.byteCount : 0
    let size = overhead + message.topic.utf8.count + properties + message.payload.count
    try check(size, "the message makes")
  }

  /// Checks topic filters against the limits.
  /// - Parameter filters: The filters of one SUBSCRIBE or UNSUBSCRIBE.
  /// - Throws: ``DataClientError`` that names the limit.
  func check(filters: some Sequence<String>) throws(DataClientError) {
    // Fixed header, packet identifier, length of the properties; of each filter its length and options.
    let size = filters.reduce(5 + 2 + 1) { $0 + 2 + $1.utf8.count + 1 }
    try check(size, "the topic filters make")
  }

  private func check(_ size: Int, _ what: String) throws(DataClientError) {
    guard size <= largestPacket else {
      throw DataClientError(
        .invalidAction, "\(what) a packet of \(size) bytes; \(largestPacket) are allowed")
    }
  }
}
