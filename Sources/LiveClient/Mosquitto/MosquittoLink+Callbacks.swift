import CMosquitto
import Glibc
import RepriseCore
import Wire

/// Everything here is called by the library, on the link's thread, out of the link's own calls.
extension MosquittoLink {
  /// Makes the library tell the link.
  func setCallbacks() {
    mosquitto_connect_v5_callback_set(handle) { _, user, code, flags, properties in
      MosquittoLink.of(user)?.receivedConnack(code, flags: flags, properties)
    }
    mosquitto_disconnect_v5_callback_set(handle) { _, user, reason, _ in
      MosquittoLink.of(user)?.disconnectReason = reason
    }
    mosquitto_publish_v5_callback_set(handle) { _, user, mid, reason, properties in
      MosquittoLink.of(user)?.published(mid, reason: reason, properties)
    }
    mosquitto_message_v5_callback_set(handle) { _, user, message, properties in
      guard let message else { return }
      MosquittoLink.of(user)?.received(message.pointee, properties)
    }
    mosquitto_subscribe_v5_callback_set(handle) { _, user, mid, count, codes, _ in
      let codes = UnsafeBufferPointer(start: codes, count: max(0, Int(count)))
      MosquittoLink.of(user)?.subscribed(mid, codes)
    }
    mosquitto_unsubscribe_v5_callback_set(handle) { _, user, mid, _ in
      MosquittoLink.of(user)?.unsubscribed(mid)
    }
  }

  /// Makes the library tell what it does when somebody listens; it costs a line a packet.
  ///
  /// These are its complaints until the connection is open, the messages of QoS 2 for the ledger of
  /// a session that can be taken up, and a PINGREQ with its answer.
  /// - Parameter isNeeded: Whether something is done that may send a PINGREQ.
  func setLog(isNeeded: Bool = false) {
    guard isNeeded || limits == nil || isResumable || isPingOpen else {
      mosquitto_log_callback_set(handle, nil)
      return
    }
    mosquitto_log_callback_set(handle) { _, user, level, text in
      guard let text, let link = MosquittoLink.of(user) else { return }
      switch level {
      case MOSQ_LOG_ERR:
        if link.complaints.count < 8 { link.complaints.append(String(cString: text)) }
      case MOSQ_LOG_DEBUG where link.limits != nil: link.noted(String(cString: text))
      default: break
      }
    }
  }

  private func noted(_ line: String) {
    if line.hasSuffix(" sending PINGREQ") { isPingOpen = true }
    if line.hasSuffix(" received PINGRESP") { isPingOpen = false }
    guard
      isResumable,
      let mid = ExactlyOnceLedger.packetIdentifier(in: line, clientID: options.clientID),
      !ledger.received(mid)
    else { return }
    // A message that would be hidden by a copy is not answered, so it comes again.
    drop(
      .lost(
        "\(place): libmosquitto holds an old message under the packet identifier \(mid); connect again"
      ))
  }

  private static func of(_ user: UnsafeMutableRawPointer?) -> MosquittoLink? {
    user.map { Unmanaged<MosquittoLink>.fromOpaque($0).takeUnretainedValue() }
  }

  private func add(_ event: ClientEvent) {
    events.append(event)
    eventBytes += event.weight
  }

  private func receivedConnack(_ code: Int32, flags: Int32, _ properties: OpaquePointer?) {
    guard code == 0 else {
      refusal = UInt8(truncatingIfNeeded: code)
      return
    }
    let server = ServerProperties([MQTTProperty](reading: properties))
    limits = ServerLimits(server)
    setLog()
    let isPresent = flags & 1 != 0
    if hasSession, !isPresent {
      hasLostSession = true
    } else {
      add(.connected(.init(isSessionPresent: isSessionPresent(isPresent), properties: server)))
    }
  }

  private func published(_ mid: Int32, reason: Int32, _ properties: OpaquePointer?) {
    guard let publish = publishes.removeValue(forKey: mid) else { return }
    if publish.qos > .atMostOnce { inFlight -= 1 }
    released.add(publish.message)
    // 0x92 is of PUBCOMP: the server has had the message since its PUBREC (MQTT 5.0 section 3.7.2.1).
    guard let code = UInt8(exactly: reason), code >= 0x80, code != 0x92 else {
      add(.published(publish.id))
      return
    }
    add(.failed(publish.id, .refused(code: code, reason: Self.reasonString(properties))))
  }

  /// The server's reason in its own words (MQTT 5.0 section 3.4.2.2.2).
  private static func reasonString(_ properties: OpaquePointer?) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard
      mosquitto_property_read_string(
        properties, Int32(MQTT_PROP_REASON_STRING.rawValue), &text, false) != nil, let text
    else { return nil }
    defer { free(text) }
    return String(cString: text)
  }

  private func received(_ message: mosquitto_message, _ properties: OpaquePointer?) {
    guard let topic = message.topic, ending == nil else { return }
    if message.qos == 2, !ledger.handsOut(message.mid) { return }
    let payload = UnsafeRawBufferPointer(
      start: message.payload, count: message.payload == nil ? 0 : Int(max(0, message.payloadlen)))
    add(
      .message(
        Message(
          topic: String(cString: topic), payload: [UInt8](payload),
          qos: QoS(rawValue: UInt8(truncatingIfNeeded: message.qos)) ?? .atMostOnce,
          isRetained: message.retain,
          properties: MessageProperties([MQTTProperty](reading: properties)))))
  }

  private func subscribed(_ mid: Int32, _ codes: UnsafeBufferPointer<Int32>) {
    guard
      let subscribe = subscribes.removeValue(forKey: mid), var answer = grants[subscribe.id]
    else { return }
    for (index, code) in zip(subscribe.range, codes) where answer.granted.indices.contains(index) {
      answer.granted[index] = UInt8(exactly: code).flatMap(QoS.init(rawValue:))
    }
    answer.missing -= subscribe.range.count
    grants[subscribe.id] = answer.missing > 0 ? answer : nil
    if answer.missing <= 0 { add(.subscribed(subscribe.id, answer.granted)) }
  }

  private func unsubscribed(_ mid: Int32) {
    if let id = unsubscribes.removeValue(forKey: mid) { add(.unsubscribed(id)) }
  }
}
