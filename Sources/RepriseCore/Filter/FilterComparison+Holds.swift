package import Wire

extension FilterComparison {
  /// Compares two values that have an order.
  func holds<Value: Comparable>(_ actual: Value, _ wanted: Value) -> Bool {
    switch self {
    case .equal: actual == wanted
    case .notEqual: actual != wanted
    case .less: actual < wanted
    case .atMost: actual <= wanted
    case .greater: actual > wanted
    case .atLeast: actual >= wanted
    case .matches, .contains: false
    }
  }

  /// Compares two texts.
  func holds(_ actual: RawSpan, _ wanted: RawSpan) -> Bool {
    switch self {
    case .equal: actual.isEqual(to: wanted)
    case .notEqual: !actual.isEqual(to: wanted)
    case .matches: MQTTTopicFilter.matches(wanted, topic: actual)
    case .contains: actual.contains(wanted)
    case .less, .atMost, .greater, .atLeast: false
    }
  }
}

extension RawSpan {
  /// Whether two spans hold the same bytes.
  func isEqual(to other: RawSpan) -> Bool {
    guard byteCount == other.byteCount else { return false }
    var offset = 0
    while offset &+ 8 <= byteCount {
      let word = unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard word == other.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self) else {
        return false
      }
      offset &+= 8
    }
    while offset < byteCount {
      guard byte(at: offset) == other.byte(at: offset) else { return false }
      offset &+= 1
    }
    return true
  }

  /// Whether the bytes of another span stand somewhere in this one.
  func contains(_ part: RawSpan) -> Bool {
    guard part.byteCount > 0 else { return true }
    guard part.byteCount <= byteCount else { return false }
    let first = part.byte(at: 0)
    for start in 0...(byteCount - part.byteCount) where byte(at: start) == first {
      if extracting(start..<(start + part.byteCount)).isEqual(to: part) { return true }
    }
    return false
  }

  /// Whether a byte of the span meets a condition.
  func contains(where isWanted: (UInt8) -> Bool) -> Bool {
    for offset in 0..<byteCount where isWanted(byte(at: offset)) { return true }
    return false
  }
}

extension Timestamp {
  /// Nanoseconds since midnight UTC.
  var nanosecondsOfDay: Int64 {
    let day: Int64 = 86_400_000_000_000
    let rest = nanoseconds % day
    return rest < 0 ? rest + day : rest
  }
}

extension EventView {
  /// The value of a field that is a number; nil where the event has none.
  func number(_ field: FilterField) -> Int? {
    switch field {
    case .connection: return context.connection
    case .frame: return context.frame
    default: break
    }
    switch body {
    case .webSocket(let frame):
      if field == .length { return Int(clamping: frame.header.payloadLength) }
      return field == .code ? frame.closeCode.map(Int.init) : nil
    case .handshake(.response(let response)): return field == .code ? response.status : nil
    case .tls(.alert(let alert)): return field == .code ? Int(alert.code) : nil
    case .http(let part):
      switch field {
      case .length: return part.message?.length
      case .code: return part.message?.status
      case .id: return part.exchange
      default: return nil
      }
    default: break
    }
    guard case .mqtt(let packet) = body else { return nil }
    switch field {
    case .qos: return packet.type == .publish ? Int(packet.qos) : nil
    case .id: return packet.packetID.map(Int.init)
    case .length: return packet.header.remainingLength
    case .code: return packet.reasonCode.map(Int.init)
    default: return nil
    }
  }

  /// Whether the event shows something that is wrong or missing.
  package var hasFault: Bool {
    switch body {
    case .opened, .closed, .attempted: false
    case .tls(.handshake(let hellos)): hellos.obstacle != nil
    case .tls(.alert(let alert)): alert.isFatal
    case .gap, .malformed: true
    case .mqtt(let packet): packet.hasFaults || packet.missing > 0
    case .webSocket(let frame): !frame.faults.isEmpty || frame.missing > 0
    case .handshake(let handshake): !handshake.faults.isEmpty
    case .http(.unanswered): true
    case .http(let part):
      part.message.map { $0.missing > 0 || !$0.head.faults.isEmpty } ?? false
    }
  }
}

extension MQTTPacketView {
  /// The Topic Alias of a PUBLISH.
  package var topicAlias: Int? {
    guard type == .publish, hasProperties else { return nil }
    return properties.integer(.topicAlias)
  }

  /// The client identifier that a CONNACK assigns (5.0 section 3.2.2.3.7).
  package var assignedClientID: [UInt8]? {
    var rest = properties
    while let property = rest.next() {
      if property.id == .assignedClientIdentifier {
        return Array(copying: property.bytes(in: bytes))
      }
    }
    return nil
  }
}
