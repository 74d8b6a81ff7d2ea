import Wire

/// Makes packets, header by header from the inside out; checksums stay 0.
enum PacketBuilder {
  static let payload: [UInt8] = Array("hello".utf8)

  /// A TCP segment from port 1000 to 1883.
  static func tcp(
    _ payload: [UInt8] = payload, sequence: UInt32 = 7, dataOffset: UInt8 = 5,
    flags: UInt8 = 0x18, options: [UInt8] = []
  ) -> [UInt8] {
    var segment = ByteWriter()
    segment.put(UInt16(1_000))
    segment.put(UInt16(1_883))
    segment.put(sequence)
    segment.put(UInt32(9))
    segment.put([(dataOffset + UInt8(options.count / 4)) << 4, flags])
    segment.put(UInt16(512))
    segment.put(UInt32(0))
    segment.put(options)
    segment.put(payload)
    return segment.bytes
  }

  /// An IPv4 packet from 10.0.0.1 to 10.0.0.2.
  static func ipv4(
    _ payload: [UInt8] = tcp(), protocolNumber: UInt8 = 6, totalLength: UInt16? = nil,
    identification: UInt16 = 0, fragment: UInt16 = 0, options: [UInt8] = [], version: UInt8 = 4
  ) -> [UInt8] {
    var packet = ByteWriter()
    let headerLength = 20 + options.count
    packet.put([version << 4 | UInt8(headerLength / 4), 0])
    packet.put(totalLength ?? UInt16(truncatingIfNeeded: headerLength + payload.count))
    packet.put(identification)
    packet.put(fragment)
    packet.put([64, protocolNumber, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2])
    packet.put(options)
    packet.put(payload)
    return packet.bytes
  }

  /// An IPv6 packet from fe80::1 to fe80::2.
  static func ipv6(
    _ payload: [UInt8] = tcp(), next: UInt8 = 6, length: UInt16? = nil
  ) -> [UInt8] {
    var packet = ByteWriter()
    packet.put(UInt32(0x6000_0000))
    packet.put(length ?? UInt16(truncatingIfNeeded: payload.count))
    packet.put([next, 64])
    for last: UInt64 in 1...2 {
      packet.put(UInt64(0xfe80) << 48)
      packet.put(last)
    }
    packet.put(payload)
    return packet.bytes
  }

  /// An extension header of eight bytes.
  static func extensionHeader(next: UInt8, _ rest: [UInt8] = [0, 1, 4, 0, 0, 0, 0]) -> [UInt8] {
    [next] + rest
  }

  static func fragmentHeader(
    next: UInt8, offset: UInt16, more: Bool, identification: UInt32 = 5
  ) -> [UInt8] {
    var header = ByteWriter()
    header.put([next, 0])
    header.put(offset | (more ? 1 : 0))
    header.put(identification)
    return header.bytes
  }

  static func ethernet(_ type: UInt16, _ payload: [UInt8], tags: [UInt16] = []) -> [UInt8] {
    var frame = ByteWriter()
    frame.put([UInt8](repeating: 2, count: 12))
    for tag in tags {
      frame.put(tag)
      frame.put(UInt16(100))
    }
    frame.put(type)
    frame.put(payload)
    return frame.bytes
  }

  /// A PUBLISH of 3.1.1 with a payload of so many bytes.
  static func publish(_ topic: String, _ count: Int) -> [UInt8] {
    let packet = MQTTPacket(
      .publish(.init(topic: topic, payload: Array(repeating: 0x78, count: count))), version: .v3_1_1
    )
    return (try? packet.encoded()) ?? []
  }
}
