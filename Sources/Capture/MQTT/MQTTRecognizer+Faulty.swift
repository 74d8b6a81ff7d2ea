import Wire

// MQTT that breaks its own rules, and is to be told with its faults all the same.
extension MQTTRecognizer {
  /// Takes a CONNECT that is faultless but for the name of its protocol for one, where something
  /// besides says that this is MQTT: the server, its answer, or what the client goes on with.
  /// - Returns: Nil if no side begins with such a packet.
  func unknownName(_ pieces: HeldPieces, isFinal: Bool) -> Verdict? {
    guard opening.isFromStart else { return nil }
    for side in [Side.first, .second] {
      let held = pieces[side]
      let bytes = held.bytes.span.bytes.extracting(held.start)
      guard let connect = Self.unknownConnect(bytes) else { continue }
      let other = pieces[side.other]
      let answer = MQTTChain(other.bytes.span.bytes.extracting(other.start), from: 0)
      let rest = MQTTChain(bytes, from: connect.size)
      let isAnswered = answer.packets > 0 && answer.isFromServer
      let isContinued = rest.packets > 0 && rest.isFromClient && rest.weight >= 2
      if isPortKnown || isServerKnown || isAnswered || isContinued || rule != nil {
        return .mqtt(
          client: side, wire: wire(connect.level, isNamed: false),
          evidence: "CONNECT with a protocol name that nobody knows")
      }
      return isFinal ? nil : .undecided
    }
    return nil
  }

  /// Reads the level and the size of a whole CONNECT that is faultless but for its protocol name.
  private static func unknownConnect(_ bytes: RawSpan) -> (level: UInt8, size: Int)? {
    guard case .header(let header) = MQTTFixedHeader.read(bytes), header.type == .connect,
      header.packetSize <= bytes.byteCount, header.remainingLength <= mostBytes
    else { return nil }
    let packet = bytes.extracting(first: header.packetSize)
    let view = MQTTPacketView(packet, header: header, version: .v3_1_1)
    guard view.faults.map(\.code) == [.unknownProtocolName], let connect = view.connect,
      MQTTVersion(rawValue: connect.protocolLevel) != nil
    else { return nil }
    let isName = connect.protocolName.withUnsafeBytes { name in
      (1...32).contains(name.count) && name.allSatisfy { (0x21...0x7E).contains($0) }
    }
    guard isName else { return nil }
    return (connect.protocolLevel, header.packetSize)
  }

  /// Whether a piece begins with a packet whose fields fill it, whatever else is wrong with it.
  static func resemble(_ pieces: HeldPieces) -> Bool {
    for side in [Side.first, .second] {
      let held = pieces[side]
      for stretch in held.stretches {
        let bytes = held.bytes.span.bytes.extracting(stretch.range)
        for start in stretch.starts where isPacket(bytes, at: start) { return true }
      }
    }
    return false
  }

  private static func isPacket(_ bytes: RawSpan, at start: Int) -> Bool {
    guard start < bytes.byteCount, case .header(let header) = MQTTFixedHeader.read(bytes, at: start)
    else { return false }
    let part = bytes.extracting(start..<min(bytes.byteCount, start + header.packetSize))
    // Of a packet that goes on beyond the bytes enough must be here to be one.
    guard part.byteCount == header.packetSize || part.byteCount >= 16 else { return false }
    let telling: [MQTTFault.Code] = [
      .fieldCut, .trailingBytes, .reservedType, .reservedFlags, .unknownReasonCode,
      .unknownProperty, .noPropertyLength, .propertyCut,
    ]
    for version in [MQTTVersion.v3_1_1, .v5_0] {
      let view = MQTTPacketView(part, header: header, version: version)
      if view.faults.contains(where: { telling.contains($0.code) }) { continue }
      let hasTopic = !view.topic.isEmpty
      let hasFields = hasTopic || view.packetID != nil || header.type == .connect
      if hasFields, hasTopic || part.byteCount == header.packetSize { return true }
    }
    return false
  }
}
