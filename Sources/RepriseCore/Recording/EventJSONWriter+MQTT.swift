import Wire

extension EventJSONWriter {
  /// Appends the fields of a packet of a connection, the type's name first.
  func appendPacket(
    _ packet: borrowing MQTTPacketView, as version: MQTTVersion?, to buffer: inout [UInt8]
  ) {
    let type = packet.type
    let start = buffer.count
    buffer.append(type.name)
    buffer.append("\",\"length\":")
    buffer.append(decimal: packet.header.remainingLength)
    if let id = packet.packetID {
      buffer.append(",\"packetID\":")
      buffer.append(decimal: Int(id))
    }
    switch type {
    case .publish: appendPublish(packet, to: &buffer)
    case .connect: appendConnect(packet, to: &buffer)
    case .connack: appendConnack(packet, to: &buffer)
    case .subscribe, .unsubscribe: appendFilters(packet, to: &buffer)
    case .suback, .unsuback: append(codes: packet.reasonCodes, to: &buffer)
    case .puback, .pubrec, .pubrel, .pubcomp, .disconnect, .auth:
      if let code = packet.reasonCode { append(code: code, to: &buffer) }
    case .pingreq, .pingresp, .reserved: break
    }
    if type != .publish, packet.dup, !packet.version.rules.fixesHeaderFlags {
      buffer.append(",\"dup\":true")
    }
    append(packet.properties, of: packet, name: ",\"properties\":{", to: &buffer)
    appendExceptions(packet, as: version, fieldsStart: start, to: &buffer)
  }

  private func appendPublish(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    buffer.append(",\"qos\":")
    buffer.append(UInt8(ascii: "0") + packet.qos)
    switch (packet.retain, packet.dup) {
    case (false, false): buffer.append(",\"retain\":false,\"dup\":false,\"topic\":")
    case (true, false): buffer.append(",\"retain\":true,\"dup\":false,\"topic\":")
    case (false, true): buffer.append(",\"retain\":false,\"dup\":true,\"topic\":")
    case (true, true): buffer.append(",\"retain\":true,\"dup\":true,\"topic\":")
    }
    buffer.append(quoted: packet.topic, hiding: redaction)
    buffer.append(",\"payload\":")
    append(payload: packet.payload, on: packet.topic, to: &buffer)
  }

  func appendConnect(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    guard let connect = packet.connect else { return }
    buffer.append(",\"clientID\":")
    buffer.append(quoted: connect.clientID, hiding: redaction)
    buffer.append(",\"cleanStart\":")
    buffer.append(connect.cleanStart)
    buffer.append(",\"keepAlive\":")
    buffer.append(decimal: Int(connect.keepAlive))
    if connect.isBridge { buffer.append(",\"bridge\":true") }
    if connect.hasWill { appendWill(connect, of: packet, to: &buffer) }
    if connect.hasUsername {
      buffer.append(",\"username\":")
      append(username: connect.username, to: &buffer)
    }
    if connect.hasPassword {
      buffer.append(",\"password\":")
      appendSecret(connect.password, to: &buffer)
    }
  }

  private func appendWill(
    _ connect: borrowing MQTTConnectView, of packet: borrowing MQTTPacketView,
    to buffer: inout [UInt8]
  ) {
    buffer.append(",\"will\":{\"topic\":")
    buffer.append(quoted: connect.willTopic, hiding: redaction)
    buffer.append(",\"payload\":")
    append(payload: connect.willPayload, on: connect.willTopic, to: &buffer)
    buffer.append(",\"qos\":")
    buffer.append(decimal: Int(connect.willQoS))
    buffer.append(",\"retain\":")
    buffer.append(connect.willRetain)
    append(connect.willProperties, of: packet, name: ",\"properties\":{", to: &buffer)
    buffer.append("}")
  }

  private func appendConnack(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    buffer.append(",\"sessionPresent\":")
    buffer.append(packet.sessionPresent)
    guard let code = packet.reasonCode else { return }
    buffer.append(",\"returnCode\":")
    buffer.append(decimal: Int(code))
    if packet.version.rules.hasProperties { append(code: code, to: &buffer) }
  }

  private func appendFilters(_ packet: borrowing MQTTPacketView, to buffer: inout [UInt8]) {
    buffer.append(",\"filters\":[")
    var filters = packet.filters
    var isFirst = true
    while let filter = filters.next() {
      buffer.append(isFirst ? "{\"filter\":" : ",{\"filter\":" as StaticString)
      isFirst = false
      buffer.append(quoted: filter.text, hiding: redaction)
      if packet.type == .subscribe {
        buffer.append(",\"qos\":")
        buffer.append(decimal: Int(filter.qos))
        if packet.version.rules.hasProperties {
          buffer.append(",\"noLocal\":")
          buffer.append(filter.noLocal)
          buffer.append(",\"retainAsPublished\":")
          buffer.append(filter.retainAsPublished)
          buffer.append(",\"retainHandling\":")
          buffer.append(decimal: Int(filter.retainHandling))
        }
      }
      buffer.append("}")
    }
    buffer.append("]")
  }

  private func append(codes: RawSpan, to buffer: inout [UInt8]) {
    guard !codes.isEmpty else { return }
    buffer.append(",\"reasonCodes\":[")
    codes.withUnsafeBytes { codes in
      for (index, code) in codes.enumerated() {
        if index > 0 { buffer.append(UInt8(ascii: ",")) }
        buffer.append(decimal: Int(code))
      }
    }
    buffer.append("]")
  }

  private func append(code: UInt8, to buffer: inout [UInt8]) {
    buffer.append(",\"reasonCodes\":[")
    buffer.append(decimal: Int(code))
    buffer.append("]")
  }

  /// Appends what is wrong with a packet or lacking of it, and its bytes where the fields don't tell.
  private func appendExceptions(
    _ packet: borrowing MQTTPacketView, as version: MQTTVersion?, fieldsStart: Int,
    to buffer: inout [UInt8]
  ) {
    let faults = packet.faults
    if !faults.isEmpty {
      buffer.append(",\"errors\":[")
      for (index, fault) in faults.enumerated() {
        if index > 0 { buffer.append(UInt8(ascii: ",")) }
        append(fault, to: &buffer)
      }
      buffer.append("]")
    }
    if packet.moreFaults > 0 {
      buffer.append(",\"moreErrors\":")
      buffer.append(decimal: packet.moreFaults)
    }
    let missing = packet.missing
    if missing > 0 {
      buffer.append(",\"missing\":")
      buffer.append(decimal: missing)
    }
    guard !packet.isGivenByFields(as: version) else { return }
    guard mayTell(packet, beside: buffer[fieldsStart...]) else { return }
    buffer.append(",\"bytes\":\"")
    buffer.append(base64: packet.bytes)
    buffer.append("\"")
  }

  /// Whether the bytes of a packet tell nothing that the fields hide, or could not read.
  func mayTell(
    _ packet: borrowing MQTTPacketView, beside fields: ArraySlice<UInt8>
  ) -> Bool {
    guard !redaction.hidesNothing else { return true }
    guard !Self.isSecretHidden(in: fields), !redaction.mayStand(in: packet.bytes) else {
      return false
    }
    switch packet.type {
    case .connect, .auth: return !redaction.hidesSecrets
    default: return true
    }
  }

  /// Whether `***` stands in the place of something.
  static func isSecretHidden(in fields: ArraySlice<UInt8>) -> Bool {
    let star = UInt8(ascii: "*")
    return zip(fields, zip(fields.dropFirst(), fields.dropFirst(2))).contains {
      $0 == star && $1.0 == star && $1.1 == star
    }
  }

  private func append(_ fault: MQTTFault, to buffer: inout [UInt8]) {
    buffer.append("{\"code\":\"")
    buffer.append(contentsOf: fault.code.rawValue.utf8)
    buffer.append("\",\"field\":\"")
    buffer.append(contentsOf: fault.field.rawValue.utf8)
    buffer.append("\",\"offset\":")
    buffer.append(decimal: fault.offset)
    buffer.append(",\"message\":")
    buffer.append(quoted: fault.code.message)
    buffer.append("}")
  }

  // MARK: Values

  /// Appends a payload as events have it: `{"utf8":…}` if it is UTF-8, `{"base64":…}` if not, and `"***"`
  /// for one that is not and tells a secret.
  /// - Parameters:
  ///   - data: The payload.
  ///   - buffer: Where to append UTF-8.
  public func append(data: RawSpan, to buffer: inout [UInt8]) {
    guard UTF8Text.isWellFormed(data) else {
      // Text of another encoding tells its secrets by its bytes, of which none could be left out.
      guard !redaction.findSecret(in: data) else { return buffer.append("\"***\"") }
      buffer.append("{\"base64\":\"")
      buffer.append(base64: data)
      buffer.append("\"}")
      return
    }
    buffer.append("{\"utf8\":\"")
    buffer.append(escaped: data, hiding: redaction)
    buffer.append("\"}")
  }

  /// Appends the payload of a message, unless its topic hides it.
  private func append(payload: RawSpan, on topic: RawSpan, to buffer: inout [UInt8]) {
    if payload.isEmpty || !redaction.hidesPayload(on: topic) {
      append(data: payload, to: &buffer)
    } else {
      buffer.append("\"***\"")
    }
  }

  private func append(username: RawSpan, to buffer: inout [UInt8]) {
    if redaction.hidesUsernames {
      buffer.append("\"***\"")
    } else {
      buffer.append(quoted: username, hiding: redaction)
    }
  }

  func appendSecret(_ data: RawSpan, to buffer: inout [UInt8]) {
    if redaction.hidesSecrets {
      buffer.append("\"***\"")
    } else {
      append(data: data, to: &buffer)
    }
  }
}
