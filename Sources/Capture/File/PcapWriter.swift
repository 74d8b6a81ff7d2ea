package import RepriseCore

/// Makes a file of pcap (draft-ietf-opsawg-pcap) with packets of raw IP, little-endian and with nanoseconds.
package struct PcapWriter {
  /// The records that nobody has taken yet, first with the header of the file.
  package private(set) var bytes: [UInt8] = []

  /// Begins a file.
  package init() {
    put(UInt32(0xA1B2_3C4D))
    put(UInt16(2))
    put(UInt16(4))
    put(UInt64(0))
    put(UInt32(262_144))
    put(UInt32(LinkType.raw.rawValue))
  }

  /// Adds a packet.
  /// - Parameters:
  ///   - time: When it was seen; what pcap can't say is taken for the nearest moment that it can.
  ///   - header: Its first bytes.
  ///   - payload: Its other bytes.
  package mutating func addPacket(at time: Timestamp, _ header: RawSpan, _ payload: RawSpan) {
    let nanoseconds = max(0, time.nanoseconds)
    put(UInt32(clamping: nanoseconds / 1_000_000_000))
    put(UInt32(clamping: nanoseconds % 1_000_000_000))
    let length = UInt32(clamping: header.byteCount + payload.byteCount)
    put(length)
    put(length)
    header.withUnsafeBytes { bytes.append(contentsOf: $0) }
    payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
  }

  /// Forgets what was taken.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  private mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }
}
