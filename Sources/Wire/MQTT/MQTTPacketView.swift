/// A control packet of any version, decoded in place from borrowed bytes.
///
/// Decoding allocates nothing unless the packet has faults. What the packet breaks stands in
/// ``faults``; what could be decoded all the same is there to be judged and shown.
public struct MQTTPacketView: ~Escapable {
  /// The packet from its first byte on; shorter than ``MQTTFixedHeader/packetSize`` when a capture
  /// lost the rest.
  public let bytes: RawSpan
  /// The version whose rules it was decoded by.
  public let version: MQTTVersion
  /// The fixed header.
  public let header: MQTTFixedHeader
  let layout: MQTTPacketLayout

  /// Decodes a packet.
  /// - Parameters:
  ///   - bytes: The packet from its first byte on, and nothing behind it.
  ///   - header: Its fixed header, as ``MQTTFixedHeader/read(_:at:)`` returned it.
  ///   - version: The version whose rules apply; a CONNECT is decoded by the level that it names.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan, header: MQTTFixedHeader, version: MQTTVersion) {
    let bytes = bytes.extracting(first: header.packetSize)
    self.bytes = bytes
    self.header = header
    var decoder = MQTTPacketDecoder(bytes, header: header, version: version)
    decoder.decode()
    // Some rules need a later field than the one that breaks them.
    if decoder.layout.faults.count > 1 { decoder.layout.faults.sort { $0.offset < $1.offset } }
    // A copy would count the references in it.
    var layout = MQTTPacketLayout()
    swap(&layout, &decoder.layout)
    self.layout = layout
    self.version = decoder.version
  }

  /// Shows a packet that was decoded before.
  /// - Parameters:
  ///   - bytes: The same bytes.
  ///   - fields: What they were decoded to.
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan, _ fields: MQTTPacketFields) {
    self.bytes = bytes
    header = fields.header
    version = fields.version
    layout = fields.layout
  }

  /// The packet type.
  public var type: MQTTPacketType { header.type }

  /// The rules that the packet breaks, in the order of their places.
  ///
  /// Of a packet with more than 64 the first 64 are here, and the first of each kind.
  public var faults: [MQTTFault] { layout.faults }

  /// Whether the packet breaks a rule: to know that, ``faults`` need not be copied.
  public var hasFaults: Bool { !layout.faults.isEmpty }

  /// The number of faults that are not in ``faults``, because a packet can have millions.
  public var moreFaults: Int { layout.moreFaults }

  /// The number of bytes at the end of the packet that are not in the capture.
  public var missing: Int { header.packetSize - bytes.byteCount }

  /// The packet identifier, in packets that have one.
  public var packetID: UInt16? { layout.packetID }

  /// The DUP flag of a PUBLISH.
  public var dup: Bool { header.firstByte & 0b1000 != 0 }

  /// The QoS of a PUBLISH, 0...3; 3 is a fault.
  public var qos: UInt8 { header.firstByte >> 1 & 0b11 }

  /// The RETAIN flag of a PUBLISH.
  public var retain: Bool { header.firstByte & 1 != 0 }

  /// The topic name of a PUBLISH; empty in other packets.
  public var topic: RawSpan { @_lifetime(copy self) get { bytes.part(layout.topic) } }

  /// The payload of a PUBLISH as far as it was captured; empty in other packets.
  public var payload: RawSpan {
    @_lifetime(copy self) get { bytes.part(type == .publish ? layout.rest : .empty) }
  }

  /// The properties of the packet itself, not those of a will.
  public var properties: MQTTPropertiesView {
    @_lifetime(copy self) get { MQTTPropertiesView(bytes, in: layout.properties ?? .empty) }
  }

  /// Whether the packet has a property length, be it 0.
  public var hasProperties: Bool { layout.properties != nil }

  /// Which properties the packet itself has, and whether all of them could be read.
  public var propertySet: MQTTPropertySet { layout.propertySet }

  /// The return code of CONNACK or the reason code of an acknowledgement, DISCONNECT or AUTH.
  ///
  /// Where 5.0 lets it be left out it is 0 then (5.0 sections 3.4.2.1, 3.14.2.1).
  public var reasonCode: UInt8? { layout.reasonCode ?? (layout.impliesSuccess ? 0 : nil) }

  /// The reason code only if it stands in the packet.
  public var explicitReasonCode: UInt8? { layout.reasonCode }

  /// The Connect Acknowledge Flags of CONNACK; 0 in other packets.
  public var acknowledgeFlags: UInt8 { layout.acknowledgeFlags }

  /// The Session Present flag of CONNACK.
  public var sessionPresent: Bool { layout.acknowledgeFlags & 1 != 0 }

  /// The codes of SUBACK and, in 5.0, UNSUBACK, one a filter.
  public var reasonCodes: RawSpan {
    @_lifetime(copy self) get {
      bytes.part(type == .suback || type == .unsuback ? layout.rest : .empty)
    }
  }

  /// The filters of SUBSCRIBE or UNSUBSCRIBE.
  public var filters: MQTTFiltersView {
    @_lifetime(copy self) get {
      let isRequest = type == .subscribe || type == .unsubscribe
      return MQTTFiltersView(
        bytes, in: isRequest ? layout.rest : .empty, haveOptions: type == .subscribe)
    }
  }

  /// The fields of a CONNECT; nil in other packets.
  public var connect: MQTTConnectView? {
    @_lifetime(copy self) get {
      guard type == .connect else { return nil }
      return MQTTConnectView(bytes, header: header)
    }
  }
}

/// What a packet was decoded to, apart from its bytes: for another thread, which has them elsewhere.
package struct MQTTPacketFields: Sendable {
  let header: MQTTFixedHeader
  let version: MQTTVersion
  let layout: MQTTPacketLayout

  /// Takes the fields of a packet.
  package init(_ packet: borrowing MQTTPacketView) {
    header = packet.header
    version = packet.version
    layout = packet.layout
  }
}

/// Where the fields of a packet stand, and what is wrong with them.
struct MQTTPacketLayout: Sendable {
  var topic = ByteRange.empty
  /// What follows the variable header: a payload, filters or codes.
  var rest = ByteRange.empty
  var properties: ByteRange?
  var propertySet = MQTTPropertySet()
  var packetID: UInt16?
  var reasonCode: UInt8?
  var impliesSuccess = false
  var acknowledgeFlags: UInt8 = 0
  var faults: [MQTTFault] = []
  /// How many faults there are besides.
  var moreFaults = 0

  /// So many faults are kept of a packet, and the first of each kind.
  static let mostFaults = 64
}

/// The filters of a SUBSCRIBE or UNSUBSCRIBE, read one by one.
public struct MQTTFiltersView: ~Escapable {
  private var cursor: ByteCursor
  private let haveOptions: Bool

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, in range: ByteRange, haveOptions: Bool) {
    let bounds = range.bounds
    cursor = ByteCursor(bytes, from: bounds.lowerBound, to: bounds.upperBound)
    self.haveOptions = haveOptions
  }

  /// Returns the next filter, or nil at the end or at one that is cut.
  @_lifetime(copy self)
  public mutating func next() -> MQTTFilterView? {
    guard let range = cursor.readPrefixed() else { return nil }
    let options: UInt8? = haveOptions ? cursor.readByte() : 0
    guard let options else { return nil }
    return MQTTFilterView(
      text: cursor.bytes.part(range), options: options, offset: Int(range.start))
  }
}

/// A topic filter with the options that stand behind it in SUBSCRIBE.
public struct MQTTFilterView: ~Escapable {
  /// The filter's UTF-8.
  public let text: RawSpan
  /// The options byte; 0 in UNSUBSCRIBE.
  public let options: UInt8
  /// Where the text begins, in bytes from the first byte of the packet.
  public let offset: Int

  @_lifetime(copy text)
  init(text: RawSpan, options: UInt8, offset: Int) {
    self.text = text
    self.options = options
    self.offset = offset
  }

  /// The requested QoS, 0...3; 3 is a fault.
  public var qos: UInt8 { options & 0b11 }
  /// No Local (5.0 section 3.8.3.1).
  public var noLocal: Bool { options & 0b100 != 0 }
  /// Retain As Published (5.0 section 3.8.3.1).
  public var retainAsPublished: Bool { options & 0b1000 != 0 }
  /// Retain Handling, 0...3; 3 is a fault (5.0 section 3.8.3.1).
  public var retainHandling: UInt8 { options >> 4 & 0b11 }
}
