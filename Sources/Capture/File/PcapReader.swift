import RepriseCore
import Wire

/// Reads pcap files (draft-ietf-opsawg-pcap), with the variants that tools have really written.
///
/// Besides the standard file there are those with nanoseconds, with the record headers of 24 bytes
/// of a patched libpcap under a magic number of their own, and, by Red Hat 6.1, those same headers
/// under the standard magic number, with or without anything in their extra bytes; only the records
/// themselves betray the last.
struct PcapReader {
  private static let microseconds: UInt32 = 0xa1b2_c3d4
  private static let nanoseconds: UInt32 = 0xa1b2_3c4d
  private static let patched: UInt32 = 0xa1b2_cd34
  static let fileHeaderLength = 24

  let header: FileHeader
  private let recordHeaderLength: Int

  /// Returns whether four bytes, in network byte order, begin a pcap file.
  static func isMagic(_ value: UInt32) -> Bool {
    isBigEndian(value) || isBigEndian(value.byteSwapped)
  }

  /// Reads the file header.
  ///
  /// - Parameter source: The file, at its beginning.
  /// - Throws: `CaptureError` if the header is cut or its version unknown.
  init(_ source: inout ByteSource) throws(CaptureError) {
    let length = Self.fileHeaderLength
    let present = source.load(length)
    guard let header = FileHeader(source.loaded(length)) else {
      throw source.cut(in: "the file header", has: present, of: length)
    }
    // 543.0 is what DG/UX wrote; libpcap takes it, too.
    guard header.major == 2 && header.minor <= 4 || header.major == 543 && header.minor == 0 else {
      throw CaptureError(
        .unsupportedVersion,
        "pcap version \(header.major).\(header.minor) is unknown, only 2.0 to 2.4 are",
        offset: 4, remedy: "convert it with the tool that wrote it")
    }
    self.header = header
    recordHeaderLength = header.recordHeaderLength(&source)
    source.consume(length)
  }

  private static func isBigEndian(_ magic: UInt32) -> Bool {
    magic == microseconds || magic == nanoseconds || magic == patched
  }

  /// Looks at the next record.
  ///
  /// - Parameter source: The file, at the beginning of a record.
  /// - Returns: The record, all of whose bytes can be peeked; nil at the end of the file.
  /// - Throws: `CaptureError` if the record is cut or impossible.
  @inline(__always)
  func next(_ source: inout ByteSource) throws(CaptureError) -> FrameRecord? {
    let present = source.load(recordHeaderLength)
    guard
      present == recordHeaderLength, let record = header.record(source.loaded(present))
    else {
      if present == 0, source.failure == nil { return nil }
      throw source.cut(in: "a record header", has: present, of: recordHeaderLength)
    }
    guard record.captured <= CaptureReader.maximumFrameLength else {
      throw CaptureError(
        .recordTooLarge, "a record claims \(record.captured) bytes, no frame has as many",
        offset: source.offset + 8, remedy: "what came before was read; the file is damaged here")
    }
    let length = recordHeaderLength &+ record.captured
    let available = source.load(length)
    guard available == length else {
      throw source.cut(in: "a record", has: available, of: length)
    }
    return FrameRecord(
      time: header.time(record), linkType: header.linkType, length: length,
      dataOffset: recordHeaderLength, capturedLength: record.captured, wireLength: record.wire)
  }
}

extension PcapReader {
  /// What a record header says.
  struct RecordHeader {
    let seconds: UInt32
    let ticks: UInt32
    let captured: Int
    let wire: Int
  }

  /// What the file header says, and how it makes its records be read.
  struct FileHeader {
    let order: ByteOrder
    let isPatched: Bool
    let countsNanoseconds: Bool
    let major: UInt16
    let minor: UInt16
    let linkType: LinkType
    /// The most bytes captured of a frame; 0 if there is no limit.
    let snapshotLength: UInt32
    /// The header as it stands in the file.
    let bytes: [UInt8]

    /// Reads the header; nil if there are too few bytes.
    init?(_ bytes: RawSpan) {
      guard
        let magic = bytes.uint32(at: 0),
        case let order = PcapReader.isBigEndian(magic) ? ByteOrder.big : .little,
        let base = bytes.uint32(at: 0, order), let major = bytes.uint16(at: 4, order),
        let minor = bytes.uint16(at: 6, order), let snapshot = bytes.uint32(at: 16, order),
        let link = bytes.uint32(at: 20, order)
      else { return nil }
      self.bytes = Array(copying: bytes.extracting(first: PcapReader.fileHeaderLength))
      snapshotLength = snapshot
      self.order = order
      isPatched = base == PcapReader.patched
      countsNanoseconds = base == PcapReader.nanoseconds
      self.major = major
      self.minor = minor
      // The upper half says how long a frame check sequence is, and is otherwise reserved.
      linkType = LinkType(rawValue: UInt16(truncatingIfNeeded: link))
    }

    /// Reads the header of a record; nil if there are too few bytes.
    @inline(__always)
    func record(_ bytes: RawSpan, at offset: Int = 0) -> RecordHeader? {
      guard
        let seconds = bytes.uint32(at: offset, order),
        let ticks = bytes.uint32(at: offset &+ 4, order),
        var captured = bytes.uint32(at: offset &+ 8, order),
        var wire = bytes.uint32(at: offset &+ 12, order)
      else { return nil }
      // Before version 2.3, and in some files of 2.3, the two stand the other way round.
      if minor <= 3, captured > wire { swap(&captured, &wire) }
      return RecordHeader(
        seconds: seconds, ticks: ticks, captured: Int(captured), wire: Int(wire))
    }

    /// Returns the moment of a record.
    @inline(__always)
    func time(_ record: RecordHeader) -> Timestamp {
      // No overflow: 2^32 seconds and 2^32 microseconds are far from 2^63 nanoseconds.
      let ticks = Int64(record.ticks) &* (countsNanoseconds ? 1 : 1_000)
      return Timestamp(nanoseconds: Int64(record.seconds) &* 1_000_000_000 &+ ticks)
    }
  }
}
