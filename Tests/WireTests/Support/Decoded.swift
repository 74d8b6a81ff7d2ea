import Wire

/// All there is to know of a packet's bytes, as a test can keep it.
struct Decoded {
  var version: MQTTVersion
  var faults: [MQTTFault]
  var packet: MQTTPacket?
  var missing: Int
  /// What encoding ``packet`` gives; nil when it can't be encoded.
  var encoded: [UInt8]?

  /// Decodes bytes that start with a whole fixed header, as far as they were captured; nil for others.
  init?(_ bytes: [UInt8], _ version: MQTTVersion, kept: Int? = nil) {
    let span = bytes.span.bytes
    guard case .header(let header) = MQTTFixedHeader.read(span) else { return nil }
    let view = MQTTPacketView(
      span.extracting(first: kept ?? bytes.count), header: header, version: version)
    self.version = view.version
    faults = view.faults
    missing = view.missing
    packet = MQTTPacket(view)
    encoded = try? packet?.encoded()
    Self.touchAll(view)
  }

  /// Reads every field, so that a trap in any of them would end the test.
  private static func touchAll(_ view: borrowing MQTTPacketView) {
    var sum = view.topic.byteCount + view.payload.byteCount + view.reasonCodes.byteCount
    sum += Int(view.reasonCode ?? 0) + Int(view.packetID ?? 0) + Int(view.qos)
    var filters = view.filters
    while let filter = filters.next() {
      sum += filter.text.byteCount + Int(filter.qos + filter.retainHandling)
    }
    var properties = view.properties
    while let property = properties.next() {
      sum += property.integer & 0xFF + property.bytes(in: view.bytes).byteCount
      sum += property.secondBytes(in: view.bytes).byteCount
    }
    guard let connect = view.connect else { return }
    sum += connect.clientID.byteCount + connect.willTopic.byteCount + connect.username.byteCount
    sum += connect.willPayload.byteCount + connect.password.byteCount
    sum += connect.protocolName.byteCount + Int(connect.protocolLevel) + Int(connect.keepAlive)
    var will = connect.willProperties
    while let property = will.next() { sum += property.offset }
    precondition(sum >= 0)
  }
}

extension MQTTFixedHeader {
  /// The whole header of some bytes, or nil.
  init?(of bytes: [UInt8]) {
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else { return nil }
    self = header
  }
}

/// The questions of the module that take borrowed bytes, asked of an array: what is borrowed can't
/// stand inside an expectation.
extension [UInt8] {
  func header(at offset: Int = 0) -> MQTTFixedHeader.Reading {
    MQTTFixedHeader.read(span.bytes, at: offset)
  }

  func variableByteInteger(at offset: Int = 0, end: Int? = nil) -> VariableByteInteger.Reading {
    VariableByteInteger.read(span.bytes, at: offset, end: end ?? count)
  }

  var isWellFormed: Bool { UTF8Text.isWellFormed(span.bytes) }
}
