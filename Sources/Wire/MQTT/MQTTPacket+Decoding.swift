extension MQTTPacket {
  /// Copies a packet out of borrowed bytes.
  ///
  /// A packet with faults, or with bytes missing, comes as near as a packet can: text that is not
  /// UTF-8 has U+FFFD in it, and what is not there is empty. Returns nil for a reserved type.
  public init?(_ view: borrowing MQTTPacketView) {
    guard let content = Content(view) else { return nil }
    let isRequest = [.pubrel, .subscribe, .unsubscribe].contains(view.type)
    let mayBeDup = view.type == .publish || (isRequest && !view.version.rules.fixesHeaderFlags)
    self.init(
      content, version: view.version, dup: mayBeDup && view.dup,
      lengthSize: view.header.size - 1)
  }
}

extension MQTTPacket.Content {
  init?(_ view: borrowing MQTTPacketView) {
    let id = view.packetID ?? 0
    switch view.type {
    case .reserved: return nil
    case .connect:
      guard let connect = MQTTPacket.Connect(view) else { return nil }
      self = .connect(connect)
    case .connack:
      self = .connack(
        .init(
          sessionPresent: view.sessionPresent, code: view.reasonCode ?? 0,
          properties: view.copiedProperties))
    case .publish:
      self = .publish(
        .init(
          topic: String(copying: view.topic), payload: Array(copying: view.payload), qos: view.qos,
          retain: view.retain, packetID: id, properties: view.copiedProperties))
    case .puback, .pubrec, .pubrel, .pubcomp:
      self = .acknowledgement(view.type, packetID: id, .init(view))
    case .subscribe:
      self = .subscribe(packetID: id, view.copiedSubscriptions, view.copiedProperties)
    case .suback:
      self = .suback(
        packetID: id, codes: Array(copying: view.reasonCodes), view.copiedProperties)
    case .unsubscribe:
      self = .unsubscribe(
        packetID: id, view.copiedSubscriptions.map(\.filter), view.copiedProperties)
    case .unsuback:
      self = .unsuback(
        packetID: id, codes: Array(copying: view.reasonCodes), view.copiedProperties)
    case .pingreq: self = .pingreq
    case .pingresp: self = .pingresp
    case .disconnect: self = .disconnect(.init(view))
    case .auth: self = .auth(.init(view))
    }
  }
}

extension MQTTPacket.Reason {
  init(_ view: borrowing MQTTPacketView) {
    self.init(
      view.explicitReasonCode, properties: view.hasProperties ? view.copiedProperties : nil)
  }
}

extension MQTTPacket.Connect {
  init?(_ view: borrowing MQTTPacketView) {
    guard let connect = view.connect else { return nil }
    var will: MQTTPacket.Will?
    if connect.hasWill {
      will = MQTTPacket.Will(
        topic: String(copying: connect.willTopic), payload: Array(copying: connect.willPayload),
        qos: connect.willQoS, retain: connect.willRetain,
        properties: connect.willProperties.copied(from: view.bytes))
    }
    self.init(
      clientID: String(copying: connect.clientID), cleanStart: connect.cleanStart,
      keepAlive: connect.keepAlive, will: will,
      username: connect.hasUsername ? String(copying: connect.username) : nil,
      password: connect.hasPassword ? Array(copying: connect.password) : nil,
      properties: view.copiedProperties, isBridge: connect.isBridge)
  }
}

extension MQTTPacketView {
  var copiedProperties: [MQTTProperty] { properties.copied(from: bytes) }

  var copiedSubscriptions: [MQTTPacket.Subscription] {
    var filters = filters
    var result: [MQTTPacket.Subscription] = []
    while let filter = filters.next() {
      result.append(.init(String(copying: filter.text), options: filter.options))
    }
    return result
  }
}
