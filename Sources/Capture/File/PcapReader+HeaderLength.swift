// How long the headers of a file's records are: the magic number does not always tell.
extension PcapReader.FileHeader {
  /// How well the first records go with headers of some length.
  private enum Fit {
    case whole
    /// There is only one, and the file ends behind it.
    case single
    /// They make sense as far as the file goes, which ends inside of them.
    case cut
    case contradicted
  }

  /// The length of a record header in the standard, and in the patched libpcap.
  private static let standard = 16
  private static let patched = 24

  /// Records that are looked at for what Red Hat 6.1 left blank.
  private static let mostBlankRecords = 16
  /// Bytes that are looked at for that, the most that are held before the first record is read.
  private static let mostBlankBytes = 1 << 20

  /// Returns the length of the headers before the records, from what the first of them say.
  ///
  /// - Parameter source: The file, at its beginning.
  /// - Returns: 16 or 24.
  func recordHeaderLength(_ source: inout ByteSource) -> Int {
    let usual = isPatched ? Self.patched : Self.standard
    let usualFit = fit(&source, usual)
    guard usualFit != .whole else { return usual }
    let other = isPatched ? Self.standard : Self.patched
    let otherFit = fit(&source, other)
    if isPatched {
      return usualFit != .single && (otherFit == .whole || otherFit == .single) ? other : usual
    }
    guard otherFit != .contradicted else { return usual }
    if otherFit == .whole || otherFit == .single, namesInterface(&source) { return other }
    return holdsFrames(&source) ? other : usual
  }

  /// Tells whether the first records make sense with headers of a length.
  ///
  /// Two are enough: read eight bytes too early, a time is taken for a length. No more is read, so
  /// that a pipe is not waited for without need.
  private func fit(_ source: inout ByteSource, _ length: Int) -> Fit {
    var offset = PcapReader.fileHeaderLength
    for count in 0..<2 {
      let end = offset + length
      let present = source.load(end)
      if present == offset { return count == 0 ? .whole : .single }
      guard present == end else { return .cut }
      guard let record = record(source.loaded(end), at: offset), isPlausible(record) else {
        return .contradicted
      }
      offset = end + record.captured
    }
    return .whole
  }

  private func isPlausible(_ record: PcapReader.RecordHeader) -> Bool {
    record.ticks < (countsNanoseconds ? 1_000_000_000 : 1_000_000)
      && record.captured <= record.wire && record.wire <= 1 << 24 && record.captured <= 1 << 18
  }

  /// Returns whether the first record header goes on with an interface index, a protocol, and the
  /// direction of the packet, as the patched one does.
  ///
  /// Lengths alone do not tell: a standard file cut eight bytes behind a record would fit, too.
  private func namesInterface(_ source: inout ByteSource) -> Bool {
    let offset = PcapReader.fileHeaderLength
    let end = offset + Self.patched
    guard source.load(end) == end else { return false }
    return namesInterface(source.loaded(end), at: offset)
  }

  private func namesInterface(_ file: RawSpan, at offset: Int) -> Bool {
    guard
      let index = file.uint32(at: offset + 16, order), (1...0xffff).contains(index),
      let number = file.uint16(at: offset + 20), let direction = file.uint8(at: offset + 22)
    else { return false }
    // IPv4, ARP or IPv6; in which byte order was left to the kernel.
    let protocols: [UInt16] = [0x0800, 0x0806, 0x86dd]
    return direction <= 7 && (protocols.contains(number) || protocols.contains(number.byteSwapped))
  }

  /// Returns whether frames begin behind headers of 24 bytes and none behind 16, in a file whose
  /// extra bytes are blank or name an interface.
  ///
  /// Blank bytes alone do not tell: a frame from the loopback interface begins with twelve of them.
  private func holdsFrames(_ source: inout ByteSource) -> Bool {
    var offset = PcapReader.fileHeaderLength
    var isFound = false
    for _ in 0..<Self.mostBlankRecords {
      let start = offset + Self.patched
      guard start <= Self.mostBlankBytes, source.load(start) == start,
        let record = record(source.loaded(start), at: offset), isPlausible(record),
        isBlank(source.loaded(start), at: offset)
          || namesInterface(source.loaded(start), at: offset)
      else { return isFound }
      let end = start + record.captured
      _ = source.load(end)
      let file = source.loaded(end)
      if beginsFrame(file, at: offset + Self.standard, record) { return false }
      if beginsFrame(file, at: start, record) { isFound = true }
      offset = end
    }
    return isFound
  }

  private func isBlank(_ file: RawSpan, at offset: Int) -> Bool {
    file.uint64(at: offset + 16) == 0
  }

  /// Returns whether a frame begins at a place that carries IP, of a length that fits, or ARP.
  private func beginsFrame(
    _ file: RawSpan, at offset: Int, _ record: PcapReader.RecordHeader
  ) -> Bool {
    let frame = file.clamped(offset, offset + record.captured)
    switch LinkLayer.content(of: frame, linkType) {
    case .ip(let start):
      let room = record.wire - start
      let header = try? InternetHeader(frame.clamped(start, frame.byteCount), wireLength: room)
      return header.map { $0.payloadEnd <= room } ?? false
    case .other:
      // ARP on Ethernet for IPv4 (RFC 826).
      return linkType == .ethernet && frame.uint16(at: 12) == 0x0806
        && frame.uint32(at: 14) == 0x0001_0800 && frame.uint16(at: 18) == 0x0604
    default: return false
    }
  }
}
