package import RepriseCore
import Wire

/// Writes frames of a capture as a capture of the same format or of the other one.
///
/// What is copied into the same format keeps every byte: headers, options, blocks that carry no frame. From pcap to
/// pcapng nothing is lost; the other way round what pcap has no place for is, and ``lost`` says so.
package final class CaptureCopier {
  /// What a file of pcap has no place for, or what it can't say.
  package struct Lost: Equatable {
    /// How many blocks were left out that carry no frame: names, statistics, secrets, comments on a section.
    package var blocks = 0
    /// How many frames have a moment that pcap can't say, or none.
    package var times = 0
    /// How many blocks of secrets were left out on purpose.
    package var secrets = 0
  }

  /// What else is done while frames are copied.
  package struct Options {
    /// What writes the file, with its version.
    package var application: String
    /// Whether something is added or left out, so that what a section says of its own length is wrong.
    package var isChanged = false
    /// Whether packets of another link type than the frames' are added: those of decrypted connections.
    package var addsPackets = false
    /// What is hidden in the text of blocks and options; nothing where those stay as they are.
    ///
    /// With it secrets of TLS and blocks of unknown kinds are left out.
    package var hidden: RedactionRules?
    /// A key log to be embedded; empty for none.
    package var secrets: [UInt8] = []
    /// The randoms of the clients whose secrets are copied; nil copies all that there are.
    package var randoms: Set<[UInt8]>?

    /// Creates options.
    package init(application: String) { self.application = application }
  }

  private let target: CaptureFormat
  private let options: Options
  private var sink: any ByteSink
  private var buffer: [UInt8] = []
  /// The order of the section.
  private var order = ByteOrder.little
  /// The order of the file of pcap that is made of sections: that of the first one with a frame.
  private var recordOrder = ByteOrder.little
  private var pcap: PcapReader.FileHeader?
  /// The link type and the resolution that a file of pcap was begun with; nil before its first frame.
  private var begun: (linkType: LinkType, isNano: Bool)?
  /// The interfaces of the section, for frames that become records of pcap.
  private var interfaces: [PcapngInterface] = []
  private var hasEmbedded = false
  /// What could not be written.
  package private(set) var lost = Lost()
  /// How many frames were written.
  package private(set) var frames = 0

  private static let largestBuffer = 1 << 18
  /// What tools take for the longest snapshot.
  private static let largestSnapshot: UInt32 = 262_144
  private static let interfaceDescription: UInt32 = 1
  private static let obsoletePacket: UInt32 = 2
  private static let simplePacket: UInt32 = 3
  private static let statistics: UInt32 = 5
  private static let enhancedPacket: UInt32 = 6
  private static let decryptionSecrets: UInt32 = 10
  /// The kinds of blocks without a frame whose parts are known, and where their lists of options begin, or that of names.
  private static let listStarts: [UInt32: Int] = [
    PcapngReader.sectionHeader: 24, interfaceDescription: 16, 4: 8, statistics: 20,
  ]

  /// Prepares to write a file.
  /// - Parameters:
  ///   - target: ``CaptureFormat/pcap`` or ``CaptureFormat/pcapng``.
  ///   - options: What else is done.
  ///   - sink: Takes the file.
  package init(to target: CaptureFormat, _ options: Options, _ sink: any ByteSink) {
    self.target = target
    self.options = options
    self.sink = sink
  }

  /// Copies what a reader reads.
  /// - Parameters:
  ///   - reader: The capture, at its beginning.
  ///   - choose: Returns what is written of a frame: itself, nothing, or other bytes, as many or fewer.
  /// - Throws: What `choose` throws, what the sink throws, and ``CaptureError``.
  package func copy(
    _ reader: inout CaptureReader, _ choose: (borrowing Frame) throws -> Choice
  ) throws {
    begin(reader)
    if reader.format == .pcapng { reader.keepBlocks { self.take(block: $0, type: $1, $2) } }
    var failure: (any Error)?
    while true {
      let hasMore = try reader.nextRecord { frame, record in
        do {
          switch try choose(frame) {
          case .copied: try add(frame, record, frame.bytes)
          case .leftOut: break
          case .changed(let bytes): try add(frame, record, bytes.span.bytes)
          }
        } catch { failure = error }
      }
      if let failure { throw failure }
      guard hasMore else { break }
      try flush(ifAtLeast: Self.largestBuffer)
    }
  }

  /// What becomes of a frame.
  package enum Choice {
    /// It is written as it is.
    case copied
    /// It is not written.
    case leftOut
    /// It is written with other bytes, as many as were captured of it or fewer.
    case changed([UInt8])
  }

  /// Writes what is left.
  /// - Throws: What the sink throws.
  package func finish() throws {
    // A file of pcap without frames has a header, too.
    if target == .pcap, begun == nil {
      beginPcap(interfaces.first?.linkType ?? .ethernet, interfaces.first)
    }
    try flush(ifAtLeast: 0)
  }

  private func flush(ifAtLeast size: Int) throws {
    guard buffer.count >= max(size, 1) else { return }
    // Not kept: the capacity goes with the bytes that are written.
    let bytes = exchange(&buffer, with: [])
    try sink.write(bytes.span.bytes)
  }

  // MARK: The beginning

  private func begin(_ reader: borrowing CaptureReader) {
    guard let header = reader.pcapHeader else { return }
    pcap = header
    order = header.order
    switch target {
    case .pcap:
      begun = (header.linkType, header.countsNanoseconds)
      buffer += header.bytes
    case .pcapng, .recording: beginSection(header)
    }
  }

  /// A section for the frames of a file of pcap.
  private func beginSection(_ header: PcapReader.FileHeader) {
    var section = PcapngBlock(PcapngReader.sectionHeader, order)
    section.put(UInt32(0x1A2B_3C4D))
    section.put(UInt16(1))
    section.put(UInt16(0))
    section.put(UInt64.max)
    section.putOption(4, Array(options.application.utf8))
    section.endOptions()
    buffer += section.finished()
    beginInterfaces()
    var interface = PcapngBlock(Self.interfaceDescription, order)
    interface.put(header.linkType.rawValue)
    interface.put(UInt16(0))
    interface.put(header.snapshotLength)
    interface.putOption(9, [header.countsNanoseconds ? 9 : 6])
    interface.endOptions()
    buffer += interface.finished()
  }

  /// What stands in front of a section's own interfaces.
  private func beginInterfaces() {
    if options.addsPackets {
      var interface = PcapngBlock(Self.interfaceDescription, order)
      interface.put(LinkType.raw.rawValue)
      interface.put(UInt16(0))
      interface.put(UInt32(0))
      interface.putOption(2, Array("decrypted".utf8))
      interface.putOption(3, Array("What TLS carried, written as plain TCP".utf8))
      interface.putOption(9, [9])
      interface.endOptions()
      buffer += interface.finished()
    }
    guard !options.secrets.isEmpty, !hasEmbedded else { return }
    hasEmbedded = true
    embed(options.secrets)
  }

  /// Writes a block with a key log.
  private func embed(_ secrets: [UInt8]) {
    var block = PcapngBlock(Self.decryptionSecrets, order)
    block.put(SecretsBlock.tlsKeyLog)
    block.put(UInt32(clamping: secrets.count))
    block.put(padded: secrets.span.bytes)
    buffer += block.finished()
  }

  /// Copies those secrets of a block that are of connections which are written.
  private func copySecrets(_ block: RawSpan, for randoms: Set<[UInt8]>) {
    guard block.uint32(at: 8, order) == SecretsBlock.tlsKeyLog,
      let size = block.uint32(at: 12, order), Int(size) <= block.byteCount - 20
    else {
      lost.secrets += 1
      return
    }
    let log = Array(copying: block.extracting(16..<(16 + Int(size))))
    let excerpt = KeyLogExcerpt.of(log, for: randoms)
    if !excerpt.isEmpty { embed(excerpt) }
  }

  // MARK: Blocks without a frame

  private func take(block: RawSpan, type: UInt32, _ order: ByteOrder) {
    if type == PcapngReader.sectionHeader {
      self.order = order
      interfaces = []
    }
    if type == Self.interfaceDescription, let interface = try? PcapngInterface(block, order, at: 0)
    {
      interfaces.append(interface)
    }
    if options.hidden != nil, Self.listStarts[type] == nil {
      if type == Self.decryptionSecrets { lost.secrets += 1 } else { lost.blocks += 1 }
      return
    }
    guard target == .pcapng else {
      let isTold = [PcapngReader.sectionHeader, Self.interfaceDescription].contains(type)
      if !isTold { lost.blocks += 1 }
      return
    }
    if type == Self.decryptionSecrets, let randoms = options.randoms {
      return copySecrets(block, for: randoms)
    }
    var bytes = Array(copying: block)
    let isSection = type == PcapngReader.sectionHeader
    if isSection, options.isChanged { bytes.put(UInt64.max, at: 16, order) }
    if type == Self.statistics { shiftInterface(&bytes, order) }
    hideText(of: &bytes, from: Self.listStarts[type] ?? bytes.count)
    buffer += bytes
    if isSection { beginInterfaces() }
  }

  /// Overwrites what looks like a secret in the options of a block, which begin at a place, or in its names.
  private func hideText(of block: inout [UInt8], from start: Int) {
    guard let hidden = options.hidden else { return }
    var start = start
    while start + 4 <= block.count - 4, let size = block.span.bytes.uint16(at: start + 2, order) {
      let end = start + 4 + Int(size)
      guard end <= block.count - 4 else { return }
      // Names end with a zero.
      for text in block[(start + 4)..<end].split(separator: 0) {
        for place in hidden.places(in: text.span.bytes).places {
          let first = text.startIndex + place.offset
          block.replaceSubrange(first..<(first + place.bytes.count), with: place.bytes)
        }
      }
      start = (end + 3) & ~3
    }
  }

  /// Raises the number of an interface, where there is one of ours in front of the others.
  private func shiftInterface(_ block: inout [UInt8], _ order: ByteOrder) {
    let number = block.span.bytes.uint32(at: 8, order)
    if options.addsPackets, let number { block.put(number &+ 1, at: 8, order) }
  }

  // MARK: Frames

  private func add(_ frame: borrowing Frame, _ record: RawSpan, _ bytes: RawSpan) throws {
    frames += 1
    switch (pcap, target) {
    case (.some, .pcap), (nil, .pcapng): addRecord(record, frame.bytes, bytes)
    case (.some(let header), _): addBlock(frame, bytes, header)
    case (nil, _): try addPcapRecord(frame, bytes)
    }
  }

  /// A record of the same format, in which the bytes of the frame may be others, or fewer.
  private func addRecord(_ record: RawSpan, _ old: RawSpan, _ new: RawSpan) {
    let isChanged = !areSame(old, new)
    guard isChanged || options.addsPackets && pcap == nil || options.hidden != nil else {
      record.withUnsafeBytes { buffer.append(contentsOf: $0) }
      return
    }
    var bytes = Array(copying: record)
    if isChanged, let start = old.place(in: record) {
      bytes = changed(bytes, at: start, from: old.byteCount, new)
    }
    if options.addsPackets, pcap == nil { bytes = shifted(bytes, new) }
    if pcap == nil { hideText(of: &bytes, from: Self.optionsStart(of: bytes, order)) }
    buffer += bytes
  }

  /// Where the options of a block with a frame begin; the block's end where it has none.
  private static func optionsStart(of block: [UInt8], _ order: ByteOrder) -> Int {
    let bytes = block.span.bytes
    guard let type = bytes.uint32(at: 0, order), [enhancedPacket, obsoletePacket].contains(type),
      let captured = bytes.uint32(at: 20, order).flatMap({ Int(exactly: $0) })
    else { return block.count }
    return min(block.count, 28 + (captured + 3) & ~3)
  }

  /// A record whose frame has other bytes.
  private func changed(_ record: [UInt8], at start: Int, from count: Int, _ new: RawSpan)
    -> [UInt8]
  {
    var record = record
    if new.byteCount == count {
      new.withUnsafeBytes { record.replaceSubrange(start..<start + count, with: $0) }
      return record
    }
    if pcap != nil {
      record.put(UInt32(clamping: new.byteCount), at: 8, order)
      return record.prefix(start) + Array(copying: new)
    }
    let type = record.span.bytes.uint32(at: 0, order) ?? Self.enhancedPacket
    guard type != Self.simplePacket else { return enhanced(record, new) }
    var block = PcapngBlock(type, order)
    block.put(padded: record[8..<20].span.bytes)
    block.put(UInt32(clamping: new.byteCount))
    block.put(padded: record[24..<28].span.bytes)
    block.put(padded: new)
    let options = start + (count + 3) & ~3
    if options < record.count - 4 {
      block.put(padded: record[options..<(record.count - 4)].span.bytes)
    }
    return block.finished()
  }

  /// A simple packet as one that says how much of it was captured.
  private func enhanced(_ block: [UInt8], _ frame: RawSpan) -> [UInt8] {
    var packet = PcapngBlock(Self.enhancedPacket, order)
    // It is always of the first interface.
    packet.put(UInt32(options.addsPackets ? 1 : 0))
    packet.put(ticks: 0)
    packet.put(UInt32(clamping: frame.byteCount))
    packet.put(block.span.bytes.uint32(at: 8, order) ?? 0)
    packet.put(padded: frame)
    return packet.finished()
  }

  private func shifted(_ block: [UInt8], _ frame: RawSpan) -> [UInt8] {
    var shifted = block
    switch block.span.bytes.uint32(at: 0, order) {
    case Self.enhancedPacket: shiftInterface(&shifted, order)
    case Self.obsoletePacket:
      let number = block.span.bytes.uint16(at: 8, order)
      if let number { shifted.put(number &+ 1, at: 8, order) }
    default:
      return enhanced(block, frame)
    }
    return shifted
  }

  private func addBlock(
    _ frame: borrowing Frame, _ bytes: RawSpan, _ header: PcapReader.FileHeader
  ) {
    let nanoseconds = UInt64(clamping: frame.time?.nanoseconds ?? 0)
    var block = PcapngBlock(Self.enhancedPacket, order)
    block.put(UInt32(options.addsPackets ? 1 : 0))
    block.put(ticks: header.countsNanoseconds ? nanoseconds : nanoseconds / 1_000)
    block.put(UInt32(clamping: bytes.byteCount))
    block.put(UInt32(clamping: frame.wireLength))
    block.put(padded: bytes)
    buffer += block.finished()
  }

  /// Adds a packet of a decrypted connection, in raw IP.
  /// - Parameters:
  ///   - time: When it was seen.
  ///   - comments: What is said of it.
  ///   - header: Its first bytes.
  ///   - payload: Its other bytes.
  package func addPacket(
    at time: Timestamp, comments: [String] = [], _ header: RawSpan, _ payload: RawSpan
  ) {
    let packet = Array(copying: header) + Array(copying: payload)
    var block = PcapngBlock(Self.enhancedPacket, order)
    block.put(UInt32(0))
    block.put(ticks: UInt64(clamping: time.nanoseconds))
    block.put(UInt32(clamping: packet.count))
    block.put(UInt32(clamping: packet.count))
    block.put(padded: packet.span.bytes)
    block.putComments(comments)
    buffer += block.finished()
  }

  // MARK: From pcapng to pcap

  private func addPcapRecord(_ frame: borrowing Frame, _ bytes: RawSpan) throws {
    let interface =
      frame.interfaceID < interfaces.count ? interfaces[frame.interfaceID] : nil
    if begun == nil {
      beginPcap(frame.linkType, interface)
    }
    guard let begun, begun.linkType == frame.linkType else {
      throw CaptureError(
        .unsupportedLinkType,
        "frames of \(begun?.linkType.description ?? "") and of \(frame.linkType) are in it, a file of pcap holds one kind",
        frame: frame.number, remedy: "name a file of pcapng: -o FILE.pcapng")
    }
    let time = frame.time?.nanoseconds ?? 0
    let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000)
    let isSaid =
      frame.time != nil && time >= 0 && seconds <= Int64(UInt32.max)
      && (begun.isNano || rest % 1_000 == 0)
    if !isSaid { lost.times += 1 }
    for value in [
      UInt32(clamping: seconds), UInt32(clamping: begun.isNano ? rest : rest / 1_000),
      UInt32(clamping: bytes.byteCount), UInt32(clamping: frame.wireLength),
    ] { put(value) }
    bytes.withUnsafeBytes { buffer.append(contentsOf: $0) }
  }

  private func beginPcap(_ linkType: LinkType, _ interface: PcapngInterface?) {
    let isNano = interface?.isFinerThanMicroseconds ?? false
    begun = (linkType, isNano)
    recordOrder = order
    let snapshot = UInt32(clamping: interface?.snapshotLength ?? 0)
    put(isNano ? UInt32(0xA1B2_3C4D) : 0xA1B2_C3D4)
    put(UInt16(2))
    put(UInt16(4))
    put(UInt64(0))
    put(snapshot == 0 ? Self.largestSnapshot : snapshot)
    put(UInt32(linkType.rawValue))
  }

  private func put(_ value: some FixedWidthInteger) {
    let ordered = recordOrder == .big ? value.bigEndian : value.littleEndian
    withUnsafeBytes(of: ordered) { buffer.append(contentsOf: $0) }
  }

  // MARK: Bytes

  private func areSame(_ one: RawSpan, _ other: RawSpan) -> Bool {
    one.withUnsafeBytes { one in
      other.withUnsafeBytes { one.count == $0.count && one.baseAddress == $0.baseAddress }
    }
  }
}
