import Wire

/// Reads pcapng files (draft-ietf-opsawg-pcapng), section by section.
///
/// Sections may differ in byte order, interfaces in link type and clock. Blocks that carry no frame
/// are stepped over without being held in memory, whatever their type and length.
struct PcapngReader {
  /// The type of a section header block; the same number in either byte order.
  static let sectionHeader: UInt32 = 0x0a0d_0d0a
  /// The most interfaces of a section.
  static let maximumInterfaces = 1 << 16
  private static let interfaceDescription: UInt32 = 1
  private static let packet: UInt32 = 2
  private static let simplePacket: UInt32 = 3
  private static let enhancedPacket: UInt32 = 6
  private static let decryptionSecrets: UInt32 = 10

  private var order = ByteOrder.little
  private var interfaces: [PcapngInterface] = []
  /// What it says to have lost.
  private(set) var drops = PcapngDrops()
  /// The secrets found so far.
  let secrets: EmbeddedSecrets
  /// Takes the blocks that carry no frame, each as it stands in the file, with its type and its order; longer ones
  /// than a frame may be are left out.
  var keep: ((RawSpan, UInt32, ByteOrder) -> Void)?

  /// Prepares to read a file from its start.
  /// - Parameter secrets: Where secrets are kept: those of files before it may be of connections that go on.
  init(keeping secrets: EmbeddedSecrets = EmbeddedSecrets()) { self.secrets = secrets }

  /// Looks at the next block with a frame.
  ///
  /// - Parameters:
  ///   - source: The file, at the beginning of a block.
  ///   - framesRead: How many frames have been read.
  /// - Returns: The record, all of whose bytes can be peeked; nil at the end of the file.
  /// - Throws: `CaptureError` if a block is cut or impossible.
  mutating func next(
    _ source: inout ByteSource, framesRead: Int
  ) throws(CaptureError) -> FrameRecord? {
    while true {
      let present = source.load(12)
      guard let head = BlockHead(source.loaded(12), order) else {
        if present == 0, source.failure == nil { return nil }
        throw source.cut(in: "a block", has: present, of: 12)
      }
      if head.type == Self.sectionHeader {
        try beginSection(head.mark, at: source.offset)
      }
      if keep != nil { try keepBlock(&source, head) }
      let length = Int(order == head.order ? head.length : head.length.byteSwapped)
      guard length >= 12, length % 4 == 0 else {
        throw Self.malformed("a block claims the length \(length)", source.offset + 4)
      }
      switch head.type {
      case Self.enhancedPacket, Self.packet:
        try checkWhole(&source, length)
        return try packet(source.loaded(length), head.type, at: source.offset)
      case Self.simplePacket:
        try checkWhole(&source, length)
        return try simplePacket(source.loaded(length), at: source.offset)
      case Self.interfaceDescription:
        try checkWhole(&source, length)
        try addInterface(source.loaded(length), at: source.offset)
        source.consume(length)
      case Self.decryptionSecrets where length <= EmbeddedSecrets.mostBytes:
        try checkWhole(&source, length)
        keepSecrets(source.loaded(length), framesRead)
        source.consume(length)
      case PcapngDrops.interfaceStatistics where length <= EmbeddedSecrets.mostBytes:
        try checkWhole(&source, length)
        drops.take(statistics: source.loaded(length), order)
        source.consume(length)
      case Self.sectionHeader:
        let present = source.load(16)
        guard present == 16 else { throw source.cut(in: "a section header", has: present, of: 28) }
        try checkVersion(source.loaded(16), at: source.offset)
        try stepOver(&source, length)
      default:
        if head.type == Self.decryptionSecrets { secrets.dropped += 1 }
        try stepOver(&source, length)
      }
    }
  }

  /// Hands on a block without a frame.
  @inline(never)
  private func keepBlock(_ source: inout ByteSource, _ head: BlockHead) throws(CaptureError) {
    let length = Int(order == head.order ? head.length : head.length.byteSwapped)
    switch head.type {
    case Self.enhancedPacket, Self.packet, Self.simplePacket: return
    default: break
    }
    guard length >= 12, length % 4 == 0, length <= CaptureReader.maximumFrameLength else { return }
    try checkWhole(&source, length)
    keep?(source.loaded(length), head.type, order)
  }

  /// The first bytes of any block.
  private struct BlockHead {
    let order: ByteOrder
    let type: UInt32
    let length: UInt32
    /// What follows the length: the byte-order magic, if it is a section header.
    let mark: UInt32

    init?(_ bytes: RawSpan, _ order: ByteOrder) {
      guard
        let type = bytes.uint32(at: 0, order), let length = bytes.uint32(at: 4, order),
        let mark = bytes.uint32(at: 8)
      else { return nil }
      self.order = order
      self.type = type
      self.length = length
      self.mark = mark
    }
  }

  private static func malformed(_ message: String, _ offset: Int) -> CaptureError {
    CaptureError(
      .malformedRecord, message, offset: offset,
      remedy: "what came before was read; the file is damaged here")
  }
}

extension PcapngReader {
  /// Checks that a block is there from its length to the copy of its length.
  @inline(__always)
  private func checkWhole(_ source: inout ByteSource, _ length: Int) throws(CaptureError) {
    guard length <= CaptureReader.maximumFrameLength + 4_096 else {
      throw CaptureError(
        .recordTooLarge, "a block claims \(length) bytes, no frame has as many",
        offset: source.offset + 4, remedy: "what came before was read; the file is damaged here")
    }
    let present = source.load(length)
    let copy = source.loaded(length).uint32(at: length &- 4, order)
    guard present == length else { throw source.cut(in: "a block", has: present, of: length) }
    guard let copy, Int(copy) == length else {
      throw Self.malformed(
        "a block of \(length) bytes ends with the length \(copy ?? 0)", source.offset + length - 4)
    }
  }

  /// Steps over a block of any length, and checks the copy of its length.
  private func stepOver(_ source: inout ByteSource, _ length: Int) throws(CaptureError) {
    let skipped = source.skip(length - 4)
    guard skipped == length - 4 else {
      throw source.cut(in: "a block", has: skipped, of: length)
    }
    let present = source.load(4)
    guard let copy = source.loaded(4).uint32(at: 0, order) else {
      throw source.cut(in: "a block", has: length - 4 + present, of: length)
    }
    guard Int(copy) == length else {
      throw Self.malformed("a block of \(length) bytes ends with the length \(copy)", source.offset)
    }
    source.consume(4)
  }

  /// Section 4.1: the byte-order magic tells how the section's numbers are written.
  private mutating func beginSection(_ mark: UInt32, at place: Int) throws(CaptureError) {
    switch mark {
    case 0x1a2b_3c4d: order = .big
    case 0x4d3c_2b1a: order = .little
    default:
      throw Self.malformed("a section header has no byte-order magic", place + 8)
    }
    // Interfaces belong to their section and are numbered in it from 0.
    interfaces.removeAll(keepingCapacity: true)
    drops.beginSection()
  }

  private func checkVersion(_ head: RawSpan, at place: Int) throws(CaptureError) {
    guard
      let length = head.uint32(at: 4, order), length >= 28,
      let major = head.uint16(at: 12, order), let minor = head.uint16(at: 14, order)
    else { throw Self.malformed("a section header block is too short", place) }
    guard major == 1 else {
      throw CaptureError(
        .unsupportedVersion, "pcapng version \(major).\(minor) is unknown, only 1 is",
        offset: place + 12, remedy: "convert it with the tool that wrote it")
    }
  }

  private mutating func addInterface(_ block: RawSpan, at place: Int) throws(CaptureError) {
    guard interfaces.count < Self.maximumInterfaces else {
      throw Self.malformed("a section has more than \(Self.maximumInterfaces) interfaces", place)
    }
    interfaces.append(try PcapngInterface(block, order, at: place))
  }

  private func keepSecrets(_ block: RawSpan, _ framesRead: Int) {
    guard let type = block.uint32(at: 8, order), let length = block.uint32(at: 12, order) else {
      secrets.dropped += 1
      return
    }
    let data = block.clamped(16, Swift.min(16 + Int(length), block.byteCount - 4))
    secrets.add(SecretsBlock(type: type, bytes: Array(copying: data), frame: framesRead))
  }

  /// Sections 4.3 and, for the obsolete block, A.1: they differ in the width of the interface.
  @inline(__always)
  private mutating func packet(
    _ block: RawSpan, _ type: UInt32, at place: Int
  ) throws(CaptureError) -> FrameRecord {
    guard
      let wide = block.uint32(at: 8, order), let narrow = block.uint16(at: 8, order),
      let high = block.uint32(at: 12, order), let low = block.uint32(at: 16, order),
      let captured = block.uint32(at: 20, order), let wire = block.uint32(at: 24, order),
      Int(captured) <= block.byteCount &- 32
    else { throw Self.malformed("a frame does not fit in its block", place + 20) }
    let number = type == Self.packet ? Int(narrow) : Int(wide)
    guard number < interfaces.count else {
      throw Self.malformed(
        "a frame names interface \(number), the section has \(interfaces.count)", place + 8)
    }
    let options = 28 + (Int(captured) + 3) & ~3
    if type == Self.enhancedPacket, options + 8 < block.byteCount {
      drops.take(packet: block, optionsAt: options, order)
    }
    return FrameRecord(
      time: interfaces[number].time(high, low), linkType: interfaces[number].linkType,
      interfaceID: number, length: block.byteCount, dataOffset: 28,
      capturedLength: Int(captured), wireLength: Int(wire))
  }

  /// Section 4.4: interface 0, no time, and a length that follows from the snapshot length.
  private func simplePacket(
    _ block: RawSpan, at place: Int
  ) throws(CaptureError) -> FrameRecord {
    guard let wire = block.uint32(at: 8, order), block.byteCount >= 16 else {
      throw Self.malformed("a simple packet block is too short", place)
    }
    guard let interface = interfaces.first else {
      throw Self.malformed("a frame precedes the description of its interface", place)
    }
    let limit = interface.snapshotLength == 0 ? Int.max : interface.snapshotLength
    return FrameRecord(
      time: nil, linkType: interface.linkType, length: block.byteCount, dataOffset: 12,
      capturedLength: Swift.min(Int(wire), limit, block.byteCount - 16), wireLength: Int(wire))
  }
}
