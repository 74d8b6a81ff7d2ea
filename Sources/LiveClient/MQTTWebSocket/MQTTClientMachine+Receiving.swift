import RepriseCore
import Wire

/// What the server's packets bring about.
extension MQTTClientMachine {
  /// Takes the bytes of a binary message; packets need not be aligned to messages (MQTT-6.0.0-2).
  mutating func receive(_ bytes: [UInt8], _ now: Timestamp) -> [Output] {
    var packets: [Result<MQTTPacket, MQTTFault>] = []
    var outputs: [Output] = []
    let version = version
    let largest = options.properties.maximumPacketSize.map(Int.init) ?? .max
    var oversize: Int?
    do throws(MQTTFramingError) {
      try framer.consume(bytes.span.bytes) { bytes, header, _ in
        guard oversize == nil, header.packetSize <= largest else {
          oversize = oversize ?? header.packetSize
          return
        }
        let view = MQTTPacketView(bytes, header: header, version: version)
        if let fault = view.faults.first, !view.isOfOlderServer {
          packets.append(.failure(fault))
        } else if let packet = MQTTPacket(view) {
          packets.append(.success(packet))
        } else {
          packets.append(.failure(MQTTFault(.reservedType, in: .fixedHeader, at: 0)))
        }
      }
    } catch {
      outputs = take(packets, now)
      return outputs
        + lose("what the server sent is no MQTT: \(error.code.message)", code: 0x81, now)
    }
    outputs = take(packets, now)
    if let oversize {
      let reason = "the server sent a packet of \(oversize) bytes; \(largest) were allowed"
      return outputs + lose(reason, code: 0x95, now)
    }
    return outputs + pump(now)
  }

  private mutating func take(
    _ packets: [Result<MQTTPacket, MQTTFault>], _ now: Timestamp
  ) -> [Output] {
    var outputs: [Output] = []
    for packet in packets {
      // Behind the end of a connection nothing of it is told.
      switch phase {
      case .idle, .opening, .ending: return outputs
      case .greeting, .open, .leaving: break
      }
      switch packet {
      case .success(let packet): outputs += take(packet.content, now)
      case .failure(let fault):
        outputs += lose("the server sent a bad packet: \(fault)", code: 0x81, now)
      }
    }
    return outputs
  }

  private mutating func take(_ content: MQTTPacket.Content, _ now: Timestamp) -> [Output] {
    if case .greeting = phase {
      guard case .connack(let answer) = content else {
        return lose("the server did not answer CONNECT by CONNACK", code: nil, now)
      }
      return accept(answer, now)
    }
    switch content {
    case .publish(let message): return take(message, now)
    case .acknowledgement(let type, let packetID, let reason):
      return take(type, packetID, reason, now)
    case .suback(let packetID, let codes, _):
      guard let subscribe = session.subscribes.removeValue(forKey: packetID) else { return [] }
      let granted = (0..<subscribe.count).map { index in
        codes.indices.contains(index) ? QoS(rawValue: codes[index]) : nil
      }
      return [.tell(.subscribed(subscribe.id, granted))]
    case .unsuback(let packetID, let codes, let properties):
      guard let id = session.unsubscribes.removeValue(forKey: packetID) else { return [] }
      guard let code = codes.first(where: { $0 >= 0x80 }) else { return [.tell(.unsubscribed(id))] }
      let reason = properties.string(.reasonString)
      return [.tell(.failed(id, .refused(code: code, reason: reason)))]
    case .pingresp:
      pingSent = nil
      return []
    case .disconnect(let reason): return take(reason, now)
    case .connect, .connack, .subscribe, .unsubscribe, .pingreq, .auth:
      return lose("the server sent a packet that is not its to send", code: 0x82, now)
    }
  }

  // MARK: The connection

  private mutating func accept(_ answer: MQTTPacket.Connack, _ now: Timestamp) -> [Output] {
    guard answer.code == 0 else {
      let isOlder = version.rules.hasProperties && answer.code == MQTTPacketView.unknownVersion
      phase = .ending(.refused(code: isOlder ? 0x84 : answer.code))
      return [.close]
    }
    phase = .open
    let server = ServerProperties(answer.properties)
    limits = ServerLimits(server)
    if let seconds = server.keepAlive { keepAlive = seconds }
    var outputs: [Output] = [
      .tell(.connected(.init(isSessionPresent: answer.sessionPresent, properties: server)))
    ]
    guard answer.sessionPresent else {
      session.forgetExchanges()
      return outputs
    }
    for (packetID, exchange) in session.unsettled {
      outputs +=
        exchange.isReceived
        ? send(.acknowledgement(.pubrel, packetID: packetID, .init()), now)
        : send(packet(exchange.message, packetID), dup: true, now)
    }
    return outputs
  }

  private mutating func take(_ reason: MQTTPacket.Reason, _ now: Timestamp) -> [Output] {
    guard version.rules.serverMayDisconnect else {
      return lose("the server sent a packet that is not its to send", code: nil, now)
    }
    let code = reason.code ?? 0
    let why = code == 0 ? "" : ": \(ServerReason(code).text())"
    return giveUp(
      .byServer(code: code == 0 ? nil : code, "\(server): the server disconnected\(why)"))
  }

  // MARK: Messages

  private mutating func take(_ publish: MQTTPacket.Publish, _ now: Timestamp) -> [Output] {
    guard let qos = QoS(rawValue: publish.qos) else {
      return lose("the server sent a message of QoS \(publish.qos)", code: 0x81, now)
    }
    let message = Message(
      topic: publish.topic, payload: publish.payload, qos: qos, isRetained: publish.retain,
      properties: MessageProperties(publish.properties))
    // No alias was allowed, so it stands for no topic (5.0 section 3.3.2.3.4).
    guard publish.properties.integer(.topicAlias) == nil else {
      return lose("the server sent a topic alias that it may not", code: 0x94, now)
    }
    switch qos {
    case .atMostOnce: return [.tell(.message(message))]
    case .atLeastOnce:
      return [.tell(.message(message))]
        + send(.acknowledgement(.puback, packetID: publish.packetID, .init()), now)
    case .exactlyOnce:
      let isNew = session.came(publish.packetID)
      if let most = options.properties.receiveMaximum, session.unreleasedCount > Int(most) {
        return lose("the server sent more than \(most) messages at a time", code: 0x93, now)
      }
      return (isNew ? [.tell(.message(message))] : [])
        + send(.acknowledgement(.pubrec, packetID: publish.packetID, .init()), now)
    }
  }

  private mutating func take(
    _ type: MQTTPacketType, _ packetID: UInt16, _ reason: MQTTPacket.Reason, _ now: Timestamp
  ) -> [Output] {
    switch type {
    case .puback: return settle(packetID, .atLeastOnce, reason)
    case .pubrec:
      if let code = reason.code, code >= 0x80 { return settle(packetID, .exactlyOnce, reason) }
      // PUBREL answers even what is unknown here (5.0 section 3.6.2.1 has a code for it).
      let isKnown = session.received(packetID)
      let code: UInt8? = isKnown || !version.rules.hasProperties ? nil : 0x92
      return send(.acknowledgement(.pubrel, packetID: packetID, .init(code)), now)
    case .pubcomp:
      // The server has had the message since its PUBREC, whatever the code.
      return settle(packetID, .exactlyOnce, .init())
    case .pubrel:
      session.released(packetID)
      return send(.acknowledgement(.pubcomp, packetID: packetID, .init()), now)
    default: return []
    }
  }

  private mutating func settle(
    _ packetID: UInt16, _ qos: QoS, _ reason: MQTTPacket.Reason
  ) -> [Output] {
    guard let id = session.settle(packetID, qos) else { return [] }
    guard let code = reason.code, code >= 0x80 else { return [.tell(.published(id))] }
    let text = reason.properties?.string(.reasonString)
    return [.tell(.failed(id, .refused(code: code, reason: text)))]
  }
}

extension MQTTPacketView {
  /// The return code of a server that does not know the version (MQTT 3.1.1 section 3.2.2.3).
  fileprivate static let unknownVersion: UInt8 = 1

  /// Whether it is how a server that knows no 5.0 refuses it: by a CONNACK of 3.1.1 (3.1.1 section 3.1.2.2).
  fileprivate var isOfOlderServer: Bool {
    type == .connack && version.rules.hasProperties && header.packetSize == 4
      && reasonCode == Self.unknownVersion
  }
}
