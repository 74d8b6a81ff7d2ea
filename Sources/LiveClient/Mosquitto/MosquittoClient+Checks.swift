import DataClient

/// What is wrong with an action is said before it is handed over.
extension MosquittoClient {
  func check(_ options: ConnectOptions) throws(DataClientError) {
    guard options.keepAlive == 0 || options.keepAlive >= 5 else {
      throw DataClientError(
        .invalidAction, "libmosquitto takes a keep-alive time of 0, or of 5 seconds and more.")
    }
    guard options.cleanStart || !options.clientID.isEmpty else {
      throw DataClientError(
        .invalidAction, "A session can't be taken up without a client identifier.")
    }
    try Mosquitto.check(text: options.clientID, "The client identifier")
    let (username, password) = options.credentials(or: setup.url)
    if let username { try Mosquitto.check(text: username, "The user name") }
    if let password {
      guard username != nil || setup.version == .v5_0 else {
        throw DataClientError(.invalidAction, "MQTT 3.1.1 takes no password without a user name.")
      }
      guard password.count <= Int(UInt16.max), !password.contains(0) else {
        throw DataClientError(
          .invalidAction,
          "The password has more than 65535 bytes, or a byte 0, which libmosquitto can't send.")
      }
    }
    if let will = options.will {
      guard !lacking.contains(.will) else {
        throw DataClientError(.unsupported, "This broker takes no will.")
      }
      try check(will, "The will's topic")
      guard will.payload.count <= Int(UInt16.max) else {
        throw DataClientError(.invalidAction, "The will has more than 65535 bytes.")
      }
    }
  }

  func check(_ message: Message, _ name: String) throws(DataClientError) {
    try check(qos: message.qos)
    guard !message.isRetained || !lacking.contains(.retain) else {
      throw DataClientError(.unsupported, "This broker keeps no retained messages.")
    }
    try Mosquitto.check(topic: message.topic, name)
  }

  func check(qos: QoS) throws(DataClientError) {
    guard qos < .exactlyOnce || !lacking.contains(.exactlyOnce) else {
      throw DataClientError(.unsupported, "This broker has no QoS 2.")
    }
  }

  func check(filters: [String]) throws(DataClientError) {
    guard !filters.isEmpty else {
      throw DataClientError(.invalidAction, "There is no topic filter.")
    }
    var size = 5
    for filter in filters {
      try Mosquitto.check(filter: filter)
      size += 3 + filter.utf8.count
    }
    guard size <= Mosquitto.largestPacket else {
      throw DataClientError(.invalidAction, "The topic filters make a packet of \(size) bytes.")
    }
  }
}
