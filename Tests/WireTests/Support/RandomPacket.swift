import TestSupport
import Wire

/// Makes faultless packets of all types and versions, whatever fields and encodings they may have.
struct RandomPacket {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func packet(_ version: MQTTVersion) -> MQTTPacket {
    var content = content(random.int(1...15), version)
    while content == nil { content = self.content(random.int(1...15), version) }
    guard let content else { preconditionFailure() }
    var packet = MQTTPacket(content, version: version, dup: mayBeDup(content) && random.bool())
    if version != .v5_0, random.int(0...3) == 0 { packet.lengthSize = random.int(2...4) }
    return packet
  }

  private func mayBeDup(_ content: MQTTPacket.Content) -> Bool {
    guard case .publish(let publish) = content else { return false }
    return publish.qos > 0
  }

  private mutating func content(_ type: Int, _ version: MQTTVersion) -> MQTTPacket.Content? {
    let has = version == .v5_0
    let id = UInt16(random.int(1...65_535))
    switch MQTTPacketType(rawValue: UInt8(type)) ?? .reserved {
    case .reserved: return nil
    case .connect: return .connect(connect(version))
    case .connack:
      let codes: [UInt8] = has ? [0, 0x80, 0x87, 0x9F] : [0, 1, 2, 3, 4, 5]
      let code = random.pick(codes)
      return .connack(
        .init(
          sessionPresent: code == 0 && version != .v3_1 && random.bool(), code: code,
          properties: has ? properties(.connack) : []))
    case .publish: return .publish(publish(version, id))
    case .puback: return .acknowledgement(.puback, packetID: id, reason(.puback, [0, 0x10], has))
    case .pubrec: return .acknowledgement(.pubrec, packetID: id, reason(.pubrec, [0, 0x97], has))
    case .pubrel: return .acknowledgement(.pubrel, packetID: id, reason(.pubrel, [0, 0x92], has))
    case .pubcomp:
      return .acknowledgement(.pubcomp, packetID: id, reason(.pubcomp, [0, 0x92], has))
    case .subscribe:
      let options: [UInt8] = has ? [0, 1, 2, 0x08, 0x1A, 0x29] : [0, 1, 2]
      let filters = filters().map { MQTTPacket.Subscription($0, options: random.pick(options)) }
      return .subscribe(packetID: id, filters, has ? properties(.subscribe) : [])
    case .suback:
      let codes: [UInt8] =
        has ? [0, 1, 2, 0x80, 0xA2] : version == .v3_1 ? [0, 1, 2] : [0, 2, 0x80]
      return .suback(packetID: id, codes: some { $0.pick(codes) }, has ? properties(.suback) : [])
    case .unsubscribe:
      return .unsubscribe(packetID: id, filters(), has ? properties(.unsubscribe) : [])
    case .unsuback:
      return .unsuback(
        packetID: id, codes: has ? some { $0.pick([0, 0x11, 0x80]) } : [],
        has ? properties(.unsuback) : [])
    case .pingreq: return .pingreq
    case .pingresp: return .pingresp
    case .disconnect: return .disconnect(reason(.disconnect, [0, 4, 0x8E, 0xA2], has))
    case .auth: return has ? .auth(reason(.auth, [0, 0x18, 0x19], has)) : nil
    }
  }

  private mutating func connect(_ version: MQTTVersion) -> MQTTPacket.Connect {
    let has = version == .v5_0
    let username = random.bool() ? text(0...20) : nil
    let clientID = version == .v3_1 ? "c" + ascii(0...20) : text(0...30)
    var will: MQTTPacket.Will?
    if random.bool() {
      will = .init(
        topic: topic(), payload: random.bytes(0...40), qos: UInt8(random.int(0...2)),
        retain: random.bool(), properties: has ? properties(.will) : [])
    }
    return .init(
      clientID: clientID, cleanStart: clientID.isEmpty || random.bool(),
      keepAlive: UInt16(random.int(0...65_535)), will: will, username: username,
      password: (username != nil || has) && random.bool() ? random.bytes(0...20) : nil,
      properties: has ? properties(.connect) : [], isBridge: !has && random.int(0...4) == 0)
  }

  private mutating func publish(_ version: MQTTVersion, _ id: UInt16) -> MQTTPacket.Publish {
    let qos = UInt8(random.int(0...2))
    let properties = version == .v5_0 ? properties(.publish) : []
    let hasAlias = properties.contains { $0.id == .topicAlias }
    return .init(
      topic: hasAlias && random.bool() ? "" : topic(), payload: random.bytes(0...200), qos: qos,
      retain: random.bool(), packetID: qos > 0 ? id : 0, properties: properties)
  }

  /// No code, a code, a code and an empty list, or a code and properties.
  private mutating func reason(
    _ place: MQTTPropertyID.Places, _ codes: [UInt8], _ has: Bool
  ) -> MQTTPacket.Reason {
    guard has, random.int(0...3) > 0 else { return .init() }
    let code = random.pick(codes)
    switch random.int(0...2) {
    case 0: return .init(code)
    case 1: return .init(code, properties: [])
    default: return .init(code, properties: properties(place))
    }
  }

  private mutating func properties(_ place: MQTTPropertyID.Places) -> [MQTTProperty] {
    guard random.bool() else { return [] }
    var result: [MQTTProperty] = []
    for id in MQTTPropertyID.allCases.shuffled(using: &random) where id.places.contains(place) {
      guard random.bool() else { continue }
      let count = id.mayRepeat(in: place) ? random.int(1...3) : 1
      for _ in 0..<count { result.append(.init(id, value(of: id))) }
    }
    return result
  }

  private mutating func value(of id: MQTTPropertyID) -> MQTTProperty.Value {
    switch id.kind {
    case .byte: .integer(random.int(0...1))
    case .twoByteInteger: .integer(random.int(1...65_535))
    case .fourByteInteger: .integer(random.int(1...0xFFFF_FFFF))
    case .variableByteInteger: .integer(1 + random.int(0...268_435_454) >> random.int(0...27))
    case .string: .string(id == .responseTopic ? topic() : text(0...20))
    case .binary: .binary(random.bytes(0...20))
    case .stringPair: .pair(text(0...9), text(0...9))
    }
  }

  private mutating func some<Element>(_ make: (inout SplitMix64) -> Element) -> [Element] {
    let count = random.int(1...5)
    return (0..<count).map { _ in make(&random) }
  }

  private mutating func filters() -> [String] {
    let count = random.int(1...4)
    return (0..<count).map { _ in topic() + random.pick(["", "/#", "/+", "/+/b", "/"]) }
  }

  private mutating func topic() -> String { "t" + text(0...20) }

  private mutating func ascii(_ counts: ClosedRange<Int>) -> String {
    String(repeating: random.pick(["a", "B", "7", "_"]), count: random.int(counts))
  }

  /// Text of one to four bytes a character, with what is allowed though rare.
  private mutating func text(_ counts: ClosedRange<Int>) -> String {
    let choices = [
      "a", "/", " ", "é", "e\u{301}", "\u{FEFF}", "\u{FFFE}", "\u{2A6D4}", "\u{1}", "世",
    ]
    let count = random.int(counts)
    return (0..<count).map { _ in random.pick(choices) }.joined()
  }
}

extension RandomPacket {
  /// Faultless packets in bytes: the written ones and some random ones, of every version.
  static let corpus: [(bytes: [UInt8], version: MQTTVersion)] = {
    var result = PacketVector.all.map { (bytes: $0.bytes, version: $0.version) }
    for version in MQTTVersion.allCases {
      var maker = RandomPacket(seed: 40 + UInt64(version.rawValue))
      for _ in 0..<60 {
        guard let bytes = try? maker.packet(version).encoded() else { continue }
        result.append((bytes, version))
      }
    }
    return result
  }()
}
