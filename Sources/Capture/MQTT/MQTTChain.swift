import Wire

/// The versions by whose layout some bytes make sense; 3.1 is laid out as 3.1.1 is.
struct MQTTLayouts: OptionSet, Sendable, Hashable {
  let rawValue: UInt8

  static let v3 = MQTTLayouts(rawValue: 1)
  static let v5 = MQTTLayouts(rawValue: 2)
  static let both: MQTTLayouts = [.v3, .v5]

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ version: MQTTVersion) { self = version == .v5_0 ? .v5 : .v3 }
}

/// A run of control packets without a fault, from a place in some bytes as far as it proves something.
///
/// It is what tells MQTT from other traffic, and the start of a packet from its middle: random bytes
/// hardly ever make one faultless packet after another.
struct MQTTChain: StreamChain {
  /// The number of complete packets.
  private(set) var packets = 0
  /// How much the packets prove: a ping hardly anything, a message with a topic a good deal.
  private(set) var weight = 0
  /// Where the run ends: at a packet that is not complete, or that can't be one.
  private(set) var end: Int
  /// Whether what stands at the end can't be a packet.
  private(set) var isBroken = false
  /// The layouts by which all packets are faultless.
  private(set) var layouts: MQTTLayouts
  /// The first packet that only one layout fits.
  private(set) var deciding: MQTTPacketType?
  /// What the packets that fit both layouts weigh for 5.0, and where the first of it stands.
  private(set) var lean = 0
  private(set) var leaning: MQTTEvidence.Place?
  /// Whether a packet says who sent it: only clients subscribe, only servers answer that.
  private(set) var isFromClient = false
  private(set) var isFromServer = false
  /// The latest acknowledgement of four bytes, and whether the next packet was the same: four bytes over and over, as in
  /// many payloads, prove nothing.
  private var acknowledgement: UInt32?
  private var isPeriodic = false

  /// No packet larger than this is believed where none is expected.
  static let largest = 16 << 20
  /// More packets than this prove no more, and hostile bytes could make the walk long.
  private static let mostPackets = 16

  /// Walks along packets.
  /// - Parameters:
  ///   - bytes: The bytes of one direction.
  ///   - start: Where the first packet would start.
  ///   - layouts: The layouts that come into question.
  ///   - isSearch: Whether each byte is tried, which changes nothing: the first packet breaks most runs.
  init(
    _ bytes: RawSpan, from start: Int, hint layouts: MQTTLayouts = .both, isSearch: Bool = false
  ) {
    end = start
    self.layouts = layouts
    while end < bytes.byteCount, !isBroken, packets < Self.mostPackets, step(bytes) {}
  }

  var units: Int { packets }

  func isExact(_ bytes: RawSpan) -> Bool { !isBroken && end == bytes.byteCount }

  func needed(behind bytes: RawSpan) -> Int {
    guard end < bytes.byteCount, case .header(let header) = MQTTFixedHeader.read(bytes, at: end)
    else { return bytes.byteCount + 1 }
    return end + header.packetSize
  }

  func proves(isExact: Bool) -> Bool { weight >= 3 || (weight >= 1 && isExact) }

  var provesAnywhere: Bool {
    !isPeriodic && (packets >= 3 || (packets == 2 && weight >= 6))
  }

  /// Takes the packet at the end; false when there is no complete one.
  private mutating func step(_ bytes: RawSpan) -> Bool {
    switch MQTTFixedHeader.read(bytes, at: end) {
    case .needMore:
      isBroken = !Self.mayBegin(bytes.unsafeLoad(fromByteOffset: end, as: UInt8.self))
      return false
    case .malformedLength:
      isBroken = true
      return false
    case .header(let header):
      guard Self.isPlausible(header) else {
        isBroken = true
        return false
      }
      guard header.packetSize <= bytes.byteCount - end else { return false }
      return take(bytes.extracting(end..<(end + header.packetSize)), header)
    }
  }

  private mutating func take(_ packet: RawSpan, _ header: MQTTFixedHeader) -> Bool {
    var fitting: MQTTLayouts = []
    if layouts.contains(.v3), Self.isFaultless(packet, header, .v3_1_1) { fitting.insert(.v3) }
    if layouts.contains(.v5), Self.isFaultless(packet, header, .v5_0) { fitting.insert(.v5) }
    guard !fitting.isEmpty else {
      isBroken = true
      return false
    }
    if fitting == .both, header.type == .publish {
      let view = MQTTPacketView(packet, header: header, version: .v5_0)
      let evidence = MQTTEvidence(view, fitting: .both)
      lean += evidence.weight
      leaning = leaning ?? evidence.place
    }
    if fitting != layouts { deciding = deciding ?? header.type }
    layouts = fitting
    packets += 1
    weight += Self.weight(of: header.type)
    compare(packet, header.type)
    end += header.packetSize
    switch header.type {
    case .connect, .subscribe, .unsubscribe, .pingreq: isFromClient = true
    case .connack, .suback, .unsuback, .pingresp: isFromServer = true
    default: break
    }
    return true
  }

  /// Looks whether an acknowledgement is the one before it.
  private mutating func compare(_ packet: RawSpan, _ type: MQTTPacketType) {
    let isAcknowledgement =
      switch type {
      case .puback, .pubrec, .pubrel, .pubcomp, .unsuback: packet.byteCount == 4
      default: false
      }
    let bytes = isAcknowledgement ? packet.unsafeLoadUnaligned(as: UInt32.self) : nil
    if bytes != nil, bytes == acknowledgement { isPeriodic = true }
    acknowledgement = bytes
    if isPeriodic { weight = 0 }
  }

  private static func isFaultless(
    _ packet: RawSpan, _ header: MQTTFixedHeader, _ version: MQTTVersion
  ) -> Bool {
    let view = MQTTPacketView(packet, header: header, version: version)
    guard view.faults.isEmpty else { return false }
    guard header.type == .publish else { return true }
    // The standard allows control characters in topics, but nobody uses them.
    return view.topic.withUnsafeBytes { topic in topic.allSatisfy { $0 >= 0x20 } }
  }

  /// Whether a packet may begin with a byte.
  static func mayBegin(_ firstByte: UInt8) -> Bool {
    let type = MQTTPacketType(firstByte: firstByte)
    let flags = firstByte & 0x0F
    if type == .publish { return flags & 0b0110 != 0b0110 && flags & 0b1110 != 0b1000 }
    // The requests of MQTT 3.1 may have DUP set.
    let isDup = flags == 0b1010 && type.requiredFlags == 0b0010
    return type != .reserved && (flags == type.requiredFlags || isDup)
  }

  private static func isPlausible(_ header: MQTTFixedHeader) -> Bool {
    guard mayBegin(header.firstByte), header.remainingLength <= largest else { return false }
    switch header.type {
    case .reserved: return false
    case .connect: return header.remainingLength >= 10
    case .connack, .puback, .pubrec, .pubrel, .pubcomp, .unsuback:
      return header.remainingLength >= 2
    case .publish, .suback: return header.remainingLength >= 3
    case .subscribe, .unsubscribe: return header.remainingLength >= 5
    case .pingreq, .pingresp: return header.remainingLength == 0
    case .disconnect, .auth: return true
    }
  }

  private static func weight(of type: MQTTPacketType) -> Int {
    switch type {
    case .connect: 8
    case .publish, .subscribe, .unsubscribe: 3
    case .connack, .suback, .unsuback, .puback, .pubrec, .pubrel, .pubcomp: 2
    case .reserved, .pingreq, .pingresp, .disconnect, .auth: 1
    }
  }
}
