/// Appends numbers in one byte order.
struct ByteWriter {
  var bytes: [UInt8] = []
  let isBigEndian: Bool

  init(isBigEndian: Bool = true) { self.isBigEndian = isBigEndian }

  mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: isBigEndian ? value.bigEndian : value.littleEndian) {
      bytes.append(contentsOf: $0)
    }
  }

  mutating func put(_ more: [UInt8]) { bytes.append(contentsOf: more) }

  mutating func pad(to multiple: Int) {
    while bytes.count % multiple != 0 { bytes.append(0) }
  }
}

/// Makes pcap files, well-formed and otherwise.
struct PcapBuilder {
  struct Record {
    var seconds: UInt32 = 1
    var fraction: UInt32 = 2
    var captured: UInt32?
    var wire: UInt32?
    var data: [UInt8] = []
  }

  var magic: UInt32 = 0xa1b2_c3d4
  var isBigEndian = false
  var recordHeaderLength = 16
  var major: UInt16 = 2
  var minor: UInt16 = 4
  var snapshotLength: UInt32 = 65_535
  var linkType: UInt32 = 1
  var records: [Record] = []

  var bytes: [UInt8] {
    var file = ByteWriter(isBigEndian: isBigEndian)
    file.put(magic)
    file.put(major)
    file.put(minor)
    file.put(UInt64(0))
    file.put(snapshotLength)
    file.put(linkType)
    for record in records {
      file.put(record.seconds)
      file.put(record.fraction)
      file.put(record.captured ?? UInt32(record.data.count))
      file.put(record.wire ?? UInt32(record.data.count))
      if recordHeaderLength == 24 {
        // Interface index, protocol, direction, padding.
        file.put(UInt32(2))
        file.put(UInt16(0x0800))
        file.put([4, 0xee])
      }
      file.put(record.data)
    }
    return file.bytes
  }
}

extension ByteWriter {
  /// Appends options that are numbers of 64 bits, and the end of options.
  fileprivate mutating func put(_ options: [(code: UInt16, number: UInt64)]) {
    for (code, number) in options {
      put(code)
      put(UInt16(8))
      put(number)
    }
    put(UInt32(0))
  }
}

/// Makes pcapng files block by block.
struct PcapngBuilder {
  var bytes: [UInt8] = []
  var isBigEndian = false

  /// Appends a block; `length` and `copy` overrule what its two lengths say.
  mutating func block(
    _ type: UInt32, _ body: [UInt8], length: UInt32? = nil, copy: UInt32? = nil
  ) {
    var block = ByteWriter(isBigEndian: isBigEndian)
    let size = UInt32(12 + (body.count + 3) / 4 * 4)
    block.put(type)
    block.put(length ?? size)
    block.put(body)
    block.pad(to: 4)
    block.put(copy ?? length ?? size)
    bytes += block.bytes
  }

  mutating func section(isBigEndian: Bool = false, major: UInt16 = 1) {
    self.isBigEndian = isBigEndian
    var body = ByteWriter(isBigEndian: isBigEndian)
    body.put(UInt32(0x1a2b_3c4d))
    body.put(major)
    body.put(UInt16(0))
    body.put(UInt64.max)
    block(0x0a0d_0d0a, body.bytes)
  }

  mutating func interface(
    linkType: UInt16 = 1, snapshotLength: UInt32 = 0, resolution: UInt8? = nil,
    offset: Int64? = nil
  ) {
    var body = ByteWriter(isBigEndian: isBigEndian)
    body.put(linkType)
    body.put(UInt16(0))
    body.put(snapshotLength)
    if let resolution {
      body.put(UInt16(9))
      body.put(UInt16(1))
      body.put([resolution, 0, 0, 0])
    }
    if let offset {
      body.put(UInt16(14))
      body.put(UInt16(8))
      body.put(offset)
    }
    if resolution != nil || offset != nil { body.put(UInt32(0)) }
    block(1, body.bytes)
  }

  mutating func enhancedPacket(
    interface: UInt32 = 0, ticks: UInt64 = 0, _ data: [UInt8], captured: UInt32? = nil,
    wire: UInt32? = nil, options: [(code: UInt16, number: UInt64)] = []
  ) {
    var body = ByteWriter(isBigEndian: isBigEndian)
    body.put(interface)
    body.put(UInt32(ticks >> 32))
    body.put(UInt32(ticks & 0xffff_ffff))
    body.put(captured ?? UInt32(data.count))
    body.put(wire ?? UInt32(data.count))
    body.put(data)
    body.pad(to: 4)
    if !options.isEmpty { body.put(options) }
    block(6, body.bytes)
  }

  /// An Interface Statistics Block.
  mutating func statistics(of interface: UInt32, _ options: [(code: UInt16, number: UInt64)]) {
    var body = ByteWriter(isBigEndian: isBigEndian)
    body.put(interface)
    body.put(UInt64(0))
    body.put(options)
    block(5, body.bytes)
  }

  mutating func obsoletePacket(interface: UInt16, ticks: UInt64, _ data: [UInt8]) {
    var body = ByteWriter(isBigEndian: isBigEndian)
    body.put(interface)
    body.put(UInt16(7))
    body.put(ticks.word(high: true))
    body.put(ticks.word(high: false))
    body.put(UInt32(data.count))
    body.put(UInt32(data.count))
    body.put(data)
    block(2, body.bytes)
  }

  mutating func simplePacket(_ data: [UInt8], wire: UInt32) {
    var body = ByteWriter(isBigEndian: isBigEndian)
    body.put(wire)
    body.put(data)
    block(3, body.bytes)
  }

  mutating func secrets(type: UInt32, _ data: [UInt8]) {
    var body = ByteWriter(isBigEndian: isBigEndian)
    body.put(type)
    body.put(UInt32(data.count))
    body.put(data)
    block(10, body.bytes)
  }
}

extension UInt64 {
  fileprivate func word(high: Bool) -> UInt32 {
    UInt32(truncatingIfNeeded: high ? self >> 32 : self)
  }
}

/// Makes gzip members whose data is stored, not compressed (RFC 1951 section 3.2.4).
enum GzipBuilder {
  static func member(_ data: [UInt8]) -> [UInt8] {
    var file = ByteWriter(isBigEndian: false)
    file.put([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
    var rest = data[...]
    repeat {
      let part = rest.prefix(65_535)
      rest = rest.dropFirst(65_535)
      file.put([rest.isEmpty ? 1 : 0])
      file.put(UInt16(part.count))
      file.put(~UInt16(part.count))
      file.put(Array(part))
    } while !rest.isEmpty
    file.put(checksum(data))
    file.put(UInt32(data.count))
    return file.bytes
  }

  private static func checksum(_ data: [UInt8]) -> UInt32 {
    var value: UInt32 = 0xffff_ffff
    for byte in data {
      value ^= UInt32(byte)
      for _ in 0..<8 { value = value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }
    return ~value
  }
}
