import Wire

/// Writes the events of a session as a recording.
///
/// Every line is complete enough that reading it gives the captured bytes back: where the fields
/// alone would not, the line has them in `bytes`. ``EventJSONWriter`` adds them for what it sees in
/// the packet; this type proves every packet by encoding its fields, and adds them for the rest.
public struct RecordingWriter<Sink: ByteSink>: EventConsumer {
  private var lines: LineBuffer<Sink>
  private let writer: EventJSONWriter

  /// Creates a recording with its header.
  /// - Parameters:
  ///   - sink: Where the recording goes.
  ///   - header: The first line.
  ///   - showsSecrets: Whether secrets are written. Where they are not, ``RecordingReader`` reads
  ///     `***` in their place, and `bytes`, which would tell them, is left out.
  ///   - flushesEveryLine: Whether each event reaches the sink at once, as a live recorder needs.
  /// - Throws: What the sink throws.
  public init(
    _ sink: Sink, header: RecordingHeader, showsSecrets: Bool, flushesEveryLine: Bool = false
  ) throws {
    writer = EventJSONWriter(showsSecrets: showsSecrets)
    lines = LineBuffer(sink, threshold: flushesEveryLine ? 0 : 1 << 16)
    header.append(to: &lines.bytes)
    try lines.endLine()
  }

  /// What the recording goes to; complete only after ``finish()``.
  public var sink: Sink { lines.sink }

  /// Writes one event as a line.
  /// - Throws: What the sink throws.
  public mutating func consume(_ event: borrowing EventView) throws {
    let start = lines.bytes.count
    writer.append(event, to: &lines.bytes)
    let version = event.context.wire.version
    if case .mqtt(let packet) = event.body, !packet.isGivenByFields(as: version) {
      appendBytes(of: packet, lineStart: start)
    }
    try lines.endLine()
  }

  /// Hands the last lines on.
  /// - Throws: What the sink throws.
  public mutating func finish() throws { try lines.flush() }

  /// Puts the key `bytes` in front of the closing brace.
  private mutating func appendBytes(of packet: borrowing MQTTPacketView, lineStart: Int) {
    guard lines.bytes.last == UInt8(ascii: "}"), !hasBytes,
      writer.showsSecrets || !hidesSecret(from: lineStart)
    else { return }
    lines.bytes.removeLast()
    lines.bytes.append(Self.key)
    lines.bytes.append(base64: packet.bytes)
    lines.bytes.append("\"}")
  }

  private static var key: StaticString { ",\"bytes\":\"" }

  /// Whether the line ends with the key `bytes` and its value.
  private var hasBytes: Bool {
    var text = lines.bytes.dropLast()
    guard text.popLast() == UInt8(ascii: "\"") else { return false }
    // Base 64 holds no quotation mark, so the next one opens the value.
    while let last = text.last, last != UInt8(ascii: "\"") { text.removeLast() }
    return Self.key.withUTF8Buffer { text.suffix($0.count).elementsEqual($0) }
  }

  /// Whether the line has the mark of a hidden secret, which the captured bytes would tell.
  private func hidesSecret(from start: Int) -> Bool {
    var stars = 0
    for byte in lines.bytes[start...] {
      stars = byte == UInt8(ascii: "*") ? stars + 1 : 0
      if stars == 3 { return true }
    }
    return false
  }
}

extension MQTTPacketView {
  /// Whether encoding what a recording's line says of the packet gives exactly its bytes.
  /// - Parameter version: The version that the line names.
  /// - Returns: Whether the reader will rebuild the packet without `bytes`.
  func isGivenByFields(as version: MQTTVersion) -> Bool {
    guard missing == 0, faults.isEmpty, header.isShortest else { return false }
    if type == .publish, !hasProperties { return true }
    guard var packet = MQTTPacket(self) else { return false }
    packet.version = version
    packet.lengthSize = 1
    packet.content = packet.content.canonical(in: version)
    guard let encoded = try? packet.encoded() else { return false }
    return bytes.withUnsafeBytes { $0.elementsEqual(encoded) }
  }
}

extension MQTTPacket.Content {
  /// The content as a recording's line keeps it: properties in ascending order of identifiers.
  fileprivate func canonical(in version: MQTTVersion) -> MQTTPacket.Content {
    switch self {
    case .connect(var connect):
      connect.properties = connect.properties.canonical
      if let will = connect.will { connect.will?.properties = will.properties.canonical }
      return .connect(connect)
    case .connack(var connack):
      connack.properties = connack.properties.canonical
      return .connack(connack)
    case .publish(var publish):
      publish.properties = publish.properties.canonical
      return .publish(publish)
    case .acknowledgement(let type, let id, let reason):
      return .acknowledgement(type, packetID: id, reason.canonical)
    case .subscribe(let id, let subscriptions, let properties):
      return .subscribe(packetID: id, subscriptions, properties.canonical)
    case .suback(let id, let codes, let properties):
      return .suback(packetID: id, codes: codes, properties.canonical)
    case .unsubscribe(let id, let filters, let properties):
      return .unsubscribe(packetID: id, filters, properties.canonical)
    case .unsuback(let id, let codes, let properties):
      return .unsuback(packetID: id, codes: codes, properties.canonical)
    case .pingreq, .pingresp: return self
    case .disconnect(let reason): return .disconnect(reason.canonical)
    case .auth(let reason): return .auth(reason.canonical)
    }
  }
}

extension MQTTPacket.Reason {
  fileprivate var canonical: MQTTPacket.Reason {
    MQTTPacket.Reason(code, properties: properties?.canonical)
  }
}

extension [MQTTProperty] {
  /// In ascending order of identifiers; those of one identifier stay in theirs.
  fileprivate var canonical: [MQTTProperty] {
    enumerated().sorted { left, right in
      (left.element.id.rawValue, left.offset) < (right.element.id.rawValue, right.offset)
    }.map(\.element)
  }
}
