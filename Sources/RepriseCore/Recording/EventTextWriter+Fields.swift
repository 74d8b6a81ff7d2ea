import Wire

extension EventTextWriter {
  /// Appends the fields of a packet that matter to a reader.
  mutating func appendFields(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    switch packet.type {
    case .publish: appendPublish(packet, to: &buffer)
    case .connect: appendConnect(packet, to: &buffer)
    case .connack: appendConnack(packet, to: &buffer)
    case .subscribe, .unsubscribe:
      appendID(packet, to: &buffer)
      appendFilters(packet, to: &buffer)
    case .suback, .unsuback:
      appendID(packet, to: &buffer)
      appendCodes(packet, to: &buffer)
    case .puback, .pubrec, .pubrel, .pubcomp:
      appendID(packet, to: &buffer)
      if let code = packet.explicitReasonCode { append(code: code, of: packet.type, to: &buffer) }
    case .disconnect, .auth:
      if let code = packet.explicitReasonCode { append(code: code, of: packet.type, to: &buffer) }
    case .pingreq, .pingresp, .reserved: break
    }
    if packet.type != .publish, packet.dup, !packet.version.rules.fixesHeaderFlags {
      buffer.append("dup  ")
    }
    append(packet.properties, of: packet, to: &buffer)
  }

  private mutating func appendPublish(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8])
  {
    append(text: packet.topic, to: &buffer)
    buffer.append("  qos ")
    buffer.append(UInt8(ascii: "0") + packet.qos)
    buffer.append("  ")
    appendID(packet, to: &buffer)
    if packet.retain { buffer.append("retain  ") }
    if packet.dup { buffer.append("dup  ") }
    buffer.append(decimal: packet.payload.byteCount)
    buffer.append(" B  ")
    append(payload: packet.payload, on: packet.topic, to: &buffer)
    buffer.append("  ")
  }

  mutating func appendConnect(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    guard let connect = packet.connect else { return }
    append(text: connect.clientID, to: &buffer)
    buffer.append("  ")
    buffer.append(WireProtocol.mqtt(packet.version).name)
    if connect.isBridge { buffer.append("  bridge") }
    if connect.cleanStart { buffer.append("  clean") }
    buffer.append("  keep-alive ")
    buffer.append(decimal: Int(connect.keepAlive))
    buffer.append(" s  ")
    if connect.hasUsername {
      buffer.append("user ")
      if redaction.hidesUsernames {
        buffer.append("***")
      } else {
        append(text: connect.username, to: &buffer)
      }
      buffer.append("  ")
    }
    if connect.hasPassword {
      buffer.append("password ")
      if redaction.hidesSecrets {
        buffer.append("***")
      } else {
        append(payload: connect.password, to: &buffer)
      }
      buffer.append("  ")
    }
    guard connect.hasWill else { return }
    buffer.append("will ")
    append(text: connect.willTopic, to: &buffer)
    buffer.append(" qos ")
    buffer.append(decimal: Int(connect.willQoS))
    buffer.append(connect.willRetain ? " retain " : " ")
    append(payload: connect.willPayload, on: connect.willTopic, to: &buffer)
    buffer.append("  ")
    append(connect.willProperties, of: packet, to: &buffer)
  }

  private func appendConnack(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    if packet.reasonCode == 0 {
      buffer.append("accepted  ")
    } else if let code = packet.reasonCode {
      buffer.append("refused  ")
      append(code: code, of: packet.type, to: &buffer)
    }
    if packet.sessionPresent { buffer.append("session present  ") }
  }

  private func appendFilters(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    var filters = packet.filters
    var count = 0
    while let filter = filters.next() {
      count += 1
      // A line stays a line; jsonl has them all.
      guard count <= 10 else { continue }
      append(text: filter.text, to: &buffer)
      if packet.type == .subscribe {
        buffer.append(" qos ")
        buffer.append(decimal: Int(filter.qos))
        if filter.noLocal { buffer.append(" no-local") }
        if filter.retainAsPublished { buffer.append(" retain-as-published") }
        if filter.retainHandling > 0 {
          buffer.append(" retain-handling ")
          buffer.append(decimal: Int(filter.retainHandling))
        }
      }
      buffer.append("  ")
    }
    guard count > 10 else { return }
    buffer.append("and ")
    buffer.append(decimal: count - 10)
    buffer.append(" more  ")
  }

  private func appendCodes(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    let codes = packet.reasonCodes
    for offset in 0..<min(codes.byteCount, 20) {
      let code = codes.byte(at: offset)
      if packet.type == .suback, code <= 2 {
        buffer.append("qos ")
        buffer.append(decimal: Int(code))
        buffer.append("  ")
      } else {
        append(code: code, of: packet.type, to: &buffer)
      }
    }
    guard codes.byteCount > 20 else { return }
    buffer.append("and ")
    buffer.append(decimal: codes.byteCount - 20)
    buffer.append(" more  ")
  }

  // MARK: Parts

  private func appendID(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    guard let id = packet.packetID else { return }
    buffer.append("id ")
    buffer.append(decimal: Int(id))
    buffer.append("  ")
  }

  private func append(
    code: UInt8, of type: MQTTPacketType, to buffer: inout [UInt8]
  ) {
    buffer.append("code 0x")
    buffer.append(JSONEscape.hexDigit(code >> 4))
    buffer.append(JSONEscape.hexDigit(code & 0xF))
    if let name = ServerReason.name(code, in: type) {
      buffer.append(" (")
      buffer.append(contentsOf: name.utf8)
      buffer.append(")")
    }
    buffer.append("  ")
  }

  /// Appends a topic, a filter or an identifier; in quotes where its ends would not be seen.
  private func append(text: RawSpan, to buffer: inout [UInt8]) {
    let needsQuotes =
      text.isEmpty
      || text.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\"") }
    if needsQuotes { buffer.append("\"") }
    redaction.withShown(text) { TerminalText.append($0, to: &buffer, limit: 250) }
    if needsQuotes { buffer.append("\"") }
  }
}
