import Wire

/// The server's side of the machine: what its packets, and the ends of connections, are for the user.
extension ReplayMachine {
  mutating func take(_ closing: ConnectionClosing, _ context: EventContext) -> ClientEvent? {
    let peer = context.sender
    let isLeaving = link == .leaving
    // The end of a capture does not end the connection.
    if closing.how == .endOfCapture, !isLeaving { return nil }
    close()
    if isLeaving, peer == .client || closing.reason == nil { return .closed(.byUser) }
    guard closing.how == .fin else {
      return .closed(.lost(closing.reason ?? "the connection was reset"))
    }
    let text = closing.reason ?? "the peer closed the connection"
    // Good order is a Close frame there (RFC 6455 section 7.1.4), unless a client has said that it was.
    let isInOrder = peer == .server && (context.wire != .webSocket || closing.reason != nil)
    return .closed(isInOrder ? .byServer(code: nil, text) : .lost(text))
  }

  mutating func take(_ attempt: ConnectionAttempt) -> ClientEvent? {
    let isLeaving = link == .leaving
    // How it would have gone on nobody knows.
    if attempt.how == .endOfCapture, !isLeaving { return nil }
    close()
    if isLeaving, attempt.how != .failed { return .closed(.byUser) }
    return .closed(
      .unreached(attempt.reason ?? "there was no connection", cause: attempt.cause))
  }

  mutating func close() {
    link = .closed
    if let openConnection { over.insert(openConnection) }
    openConnection = nil
  }

  mutating func take(_ packet: borrowing MQTTPacketView) -> ClientEvent? {
    switch packet.type {
    case .publish: return takeMessage(packet)
    case .connack:
      let code = packet.reasonCode ?? 0
      guard code == 0 else {
        close()
        return .closed(.refused(code: code))
      }
      if !packet.sessionPresent {
        open.removeAll()
        unreleased.removeAll()
      }
      if link == .connecting { link = .open }
      return .connected(
        .init(
          isSessionPresent: packet.sessionPresent,
          properties: ServerProperties(packet.properties, in: packet.bytes)))
    case .suback:
      guard let id = takeOpen(packet) else { return nil }
      return .subscribed(id, Array(copying: packet.reasonCodes).map(QoS.init(rawValue:)))
    case .unsuback:
      guard let id = takeOpen(packet) else { return nil }
      return packet.refusal.map { .failed(id, $0) } ?? .unsubscribed(id)
    case .puback, .pubcomp:
      guard let id = takeOpen(packet) else { return nil }
      return packet.refusal.map { .failed(id, $0) } ?? .published(id)
    case .pubrec:
      guard let failure = packet.refusal, let id = takeOpen(packet) else { return nil }
      return .failed(id, failure)
    case .pubrel:
      if let id = packet.packetID { unreleased.remove(id) }
      return nil
    case .disconnect:
      close()
      let reason = packet.reasonCode ?? 0
      let why = reason == 0 ? "" : ": \(ServerReason(reason).text())"
      return .closed(
        .byServer(code: reason == 0 ? nil : reason, "the server disconnected\(why)"))
    case .reserved, .connect, .subscribe, .unsubscribe, .pingreq, .pingresp, .auth:
      return nil
    }
  }

  /// The open action that the packet answers; none is open under its identifier any more.
  private mutating func takeOpen(_ packet: borrowing MQTTPacketView) -> ClientAction.ID? {
    packet.packetID.flatMap { open.removeValue(forKey: $0) }
  }

  private mutating func takeMessage(_ packet: borrowing MQTTPacketView) -> ClientEvent? {
    let topic = serverAliases.topic(of: packet)
    if packet.qos == 2, let id = packet.packetID, !unreleased.insert(id).inserted { return nil }
    var message = Message(topic: topic, packet)
    bindings.rewrite(&message, by: options.roles, at: position)
    return .message(message)
  }
}
