package import Wire

// A connection's options as those of its CONNECT.
extension ConnectOptions {
  /// Reads the options of a CONNECT.
  init(_ connect: MQTTPacket.Connect) {
    let will = connect.will.map { will in
      Message(
        topic: will.topic, payload: will.payload, qos: QoS(rawValue: will.qos) ?? .exactlyOnce,
        isRetained: will.retain, properties: MessageProperties(will.properties))
    }
    self.init(
      clientID: connect.clientID, cleanStart: connect.cleanStart, keepAlive: connect.keepAlive,
      username: connect.username, password: connect.password, will: will,
      properties: ConnectProperties(connect.properties, ofWill: connect.will?.properties ?? []))
  }

  /// How long the server is asked to keep the session, in seconds; nil is not at all.
  package var sessionExpiry: UInt32? {
    // As in 3.1.1, where a session that is kept is kept for good.
    properties.sessionExpiryInterval ?? (cleanStart ? nil : .max)
  }

  /// The CONNECT of a version.
  package func packet(in version: MQTTVersion) -> MQTTPacket.Connect {
    let hasProperties = version.rules.hasProperties
    let will = will.map { will in
      MQTTPacket.Will(
        topic: will.topic, payload: will.payload, qos: will.qos.rawValue, retain: will.isRetained,
        properties: (hasProperties ? properties.ofWill : []) + will.properties.ofPackets)
    }
    return MQTTPacket.Connect(
      clientID: clientID, cleanStart: cleanStart, keepAlive: keepAlive, will: will,
      username: username, password: password, properties: hasProperties ? ofConnect : [])
  }

  private var ofConnect: [MQTTProperty] {
    let numbers: [(MQTTPropertyID, Int?)] = [
      (.sessionExpiryInterval, sessionExpiry.map(Int.init)),
      (.receiveMaximum, properties.receiveMaximum.map(Int.init)),
      (.maximumPacketSize, properties.maximumPacketSize.map(Int.init)),
    ]
    return numbers.compactMap { id, value in value.map { MQTTProperty(id, .integer($0)) } }
      + properties.userProperties.map { MQTTProperty(.userProperty, .pair($0.name, $0.value)) }
  }
}

extension ConnectProperties {
  fileprivate init(_ properties: [MQTTProperty], ofWill: [MQTTProperty]) {
    self.init()
    for property in properties {
      switch (property.id, property.value) {
      case (.sessionExpiryInterval, .integer(let seconds)):
        sessionExpiryInterval = UInt32(clamping: seconds)
      case (.receiveMaximum, .integer(let count)): receiveMaximum = UInt16(clamping: count)
      case (.maximumPacketSize, .integer(let size)): maximumPacketSize = UInt32(clamping: size)
      case (.userProperty, .pair(let name, let value)):
        userProperties.append(MessageProperties.UserProperty(name, value))
      default: continue
      }
    }
    for property in ofWill {
      if case (.willDelayInterval, .integer(let seconds)) = (property.id, property.value) {
        willDelayInterval = UInt32(clamping: seconds)
      }
    }
  }

  fileprivate var ofWill: [MQTTProperty] {
    willDelayInterval.map { [MQTTProperty(.willDelayInterval, .integer(Int($0)))] } ?? []
  }
}
