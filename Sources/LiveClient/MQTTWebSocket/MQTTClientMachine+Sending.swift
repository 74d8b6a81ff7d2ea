import RepriseCore
import Wire

/// What goes out, and when.
extension MQTTClientMachine {
  /// Sends what waits, as far as the server takes it.
  mutating func pump(_ now: Timestamp) -> [Output] {
    switch phase {
    case .idle, .opening, .greeting, .ending: return []
    case .open, .leaving: break
    }
    var outputs: [Output] = []
    while let action = session.waiting.first {
      if case .publish(let message) = action.kind, message.qos > .atMostOnce,
        session.inFlight.count >= limits.receiveMaximum
      {
        break
      }
      guard let sent = transmit(action, now) else { break }
      _ = session.waiting.popFirst()
      outputs += sent
    }
    guard case .leaving = phase, session.waiting.isEmpty,
      session.inFlight.isEmpty || !options.cleanStart
    else { return outputs }
    outputs += send(.disconnect(.init()), now) + [.close]
    phase = .ending(.byUser)
    return outputs
  }

  /// Sends an action's packet; nil when there is no packet identifier for it now.
  private mutating func transmit(_ action: ClientAction, _ now: Timestamp) -> [Output]? {
    switch action.kind {
    case .publish(let message):
      guard message.qos > .atMostOnce else {
        session.release(message)
        return send(packet(message, 0), now) + [.tell(.published(action.id))]
      }
      guard let packetID = session.makePacketID() else { return nil }
      session.begin(action.id, message, as: packetID)
      return send(packet(message, packetID), now)
    case .subscribe(let subscriptions):
      guard let packetID = session.makePacketID() else { return nil }
      session.subscribes[packetID] = (action.id, subscriptions.count)
      let filters = subscriptions.map {
        MQTTPacket.Subscription($0.filter, options: $0.qos.rawValue | $0.options.bits)
      }
      return send(.subscribe(packetID: packetID, filters, []), now)
    case .unsubscribe(let filters):
      guard let packetID = session.makePacketID() else { return nil }
      session.unsubscribes[packetID] = action.id
      return send(.unsubscribe(packetID: packetID, filters, []), now)
    case .connect, .disconnect, .send, .sendText, .sendBinary: return []
    }
  }

  func packet(_ message: Message, _ packetID: UInt16) -> MQTTPacket.Content {
    .publish(
      .init(
        topic: message.topic, payload: message.payload, qos: message.qos.rawValue,
        retain: message.isRetained, packetID: packetID, properties: message.properties.ofPackets))
  }

  /// Sends a packet; what is no packet was refused when it was handed over.
  mutating func send(
    _ content: MQTTPacket.Content, dup: Bool = false, _ now: Timestamp
  ) -> [Output] {
    do {
      let bytes = try MQTTPacket(content, version: version, dup: dup).encoded()
      lastSent = now
      return [.send(bytes)]
    } catch { return fail(error) }
  }

  /// Gives the connection up because of what the server did, or did not do; how one ends that is ending already was
  /// decided before.
  /// - Parameters:
  ///   - reason: What it did, for people.
  ///   - code: The reason code for the server, which 5.0 wants (section 4.13); nil says nothing.
  ///   - now: The time.
  /// - Returns: What to do, in this order.
  mutating func lose(_ reason: String, code: UInt8?, _ now: Timestamp) -> [Output] {
    var outputs: [Output] = []
    if let code, version.rules.hasProperties, !isEnding {
      outputs = send(.disconnect(.init(code)), now)
    }
    return outputs + giveUp(.lost("\(server): \(reason)"))
  }

  /// Closes the connection, and tells why; how one ends that is ending already was decided before.
  mutating func giveUp(_ ending: ClientEvent.Closed) -> [Output] {
    guard !isEnding else { return [] }
    phase = .ending(ending)
    return [.close]
  }

  private var isEnding: Bool {
    switch phase {
    case .idle, .ending: true
    case .opening, .greeting, .open, .leaving: false
    }
  }
}
