package import RepriseCore

/// Makes the blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian and with nanoseconds.
///
/// Blocks gather in ``bytes`` until somebody takes them, so that one call of the system writes many packets; whatever
/// is taken ends at the end of a block.
package struct PcapngWriter {
  /// The blocks that nobody has taken yet.
  package private(set) var bytes: [UInt8] = []
  private var interfaces: UInt32 = 0

  /// The largest text of an option, in bytes: its length has 16 bits.
  package static let longestText = Int(UInt16.max)
  /// How much memory is kept for the next blocks.
  private static let spare = 1 << 20

  /// Begins a file with its section header.
  /// - Parameters:
  ///   - application: What writes the file, with its version.
  ///   - comments: What is said of the whole file, at most 65,535 bytes each; the rest is left out.
  package init(application: String, comments: [String] = []) {
    block(PcapngReader.sectionHeader) { bytes in
      Self.put(UInt32(0x1A2B_3C4D), &bytes)
      Self.put(UInt16(1), &bytes)
      Self.put(UInt16(0), &bytes)
      // How long the section is, is not known.
      Self.put(UInt64.max, &bytes)
      Self.putComments(comments, &bytes)
      Self.putOption(4, Array(application.utf8), &bytes)
      Self.endOptions(&bytes)
    }
  }

  /// Adds an interface, which packets are then said to have come through.
  /// - Parameters:
  ///   - linkType: What its packets begin with.
  ///   - name: What it is called.
  ///   - description: What it is.
  ///   - snapLength: The most bytes of a packet that are captured; 0 is no limit.
  ///   - filter: What was captured of it, in libpcap's language; nil where that is everything.
  /// - Returns: Its number, from 0.
  package mutating func addInterface(
    _ linkType: LinkType, name: String, description: String, snapLength: Int = 0,
    filter: String? = nil
  ) -> UInt32 {
    block(1) { bytes in
      Self.put(linkType.rawValue, &bytes)
      Self.put(UInt16(0), &bytes)
      Self.put(UInt32(clamping: snapLength), &bytes)
      Self.putOption(2, Array(name.utf8), &bytes)
      Self.putOption(3, Array(description.utf8), &bytes)
      // Ticks are nanoseconds.
      Self.putOption(9, [9], &bytes)
      // The first byte tells the language.
      if let filter { Self.putOption(11, [0] + Array(filter.utf8), &bytes) }
      Self.endOptions(&bytes)
    }
    defer { interfaces &+= 1 }
    return interfaces
  }

  /// Adds a packet.
  /// - Parameters:
  ///   - interface: The interface's number.
  ///   - time: When it was seen; before 1970 is taken for 1970.
  ///   - comments: What is said of it, at most 65,535 bytes each; the rest is left out.
  ///   - header: Its first bytes.
  ///   - payload: Its other bytes; with the first ones at most `UInt32.max`.
  ///   - wireLength: How many bytes it had on the wire; nil where that is all of these.
  package mutating func addPacket(
    on interface: UInt32, at time: Timestamp, comments: [String] = [], _ header: RawSpan,
    _ payload: RawSpan, wireLength: Int? = nil
  ) {
    let length = UInt32(clamping: header.byteCount + payload.byteCount)
    block(6) { bytes in
      Self.put(interface, &bytes)
      Self.putTime(time, &bytes)
      Self.put(length, &bytes)
      Self.put(wireLength.map { UInt32(clamping: $0) } ?? length, &bytes)
      header.withUnsafeBytes { bytes.append(contentsOf: $0) }
      payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
      Self.pad(Int(length), &bytes)
      guard !comments.isEmpty else { return }
      Self.putComments(comments, &bytes)
      Self.endOptions(&bytes)
    }
  }

  /// Says at the end of a file what became of an interface's packets.
  /// - Parameters:
  ///   - interface: The interface's number.
  ///   - start: When the file was begun.
  ///   - end: When it was ended.
  ///   - counts: How many packets there were.
  package mutating func addStatistics(
    of interface: UInt32, from start: Timestamp, to end: Timestamp, _ counts: InterfaceCounts
  ) {
    block(5) { bytes in
      Self.put(interface, &bytes)
      Self.putTime(end, &bytes)
      for (code, time) in [(UInt16(2), start), (3, end)] {
        var value: [UInt8] = []
        Self.putTime(time, &value)
        Self.putOption(code, value, &bytes)
      }
      let numbers: [(code: UInt16, count: UInt64?)] = [
        (4, counts.received), (5, counts.droppedByInterface), (7, counts.droppedBySystem),
        (8, counts.delivered),
      ]
      for (code, count) in numbers {
        guard let count else { continue }
        var value: [UInt8] = []
        Self.put(count, &value)
        Self.putOption(code, value, &bytes)
      }
      Self.endOptions(&bytes)
    }
  }

  /// Forgets the blocks that were taken: all that there are.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= Self.spare)
  }

  // MARK: Parts of blocks

  /// Writes a block's type, its body, and its length on both sides of that.
  private mutating func block(_ type: UInt32, _ body: (inout [UInt8]) -> Void) {
    let start = bytes.count
    Self.put(type, &bytes)
    Self.put(UInt32(0), &bytes)
    body(&bytes)
    let length = UInt32(truncatingIfNeeded: bytes.count - start + 4)
    Self.put(length, &bytes)
    withUnsafeBytes(of: length.littleEndian) {
      bytes.replaceSubrange(start + 4..<start + 8, with: $0)
    }
  }

  private static func putComments(_ comments: [String], _ bytes: inout [UInt8]) {
    for comment in comments { putOption(1, Array(comment.utf8), &bytes) }
  }

  private static func putOption(_ code: UInt16, _ value: [UInt8], _ bytes: inout [UInt8]) {
    var value = value[...]
    if value.count > longestText {
      value = value.prefix(longestText)
      // A text is not cut in the middle of a character.
      while value.last.map({ $0 & 0xC0 == 0x80 }) == true { value.removeLast() }
      value.removeLast()
    }
    put(code, &bytes)
    put(UInt16(truncatingIfNeeded: value.count), &bytes)
    bytes.append(contentsOf: value)
    pad(value.count, &bytes)
  }

  private static func endOptions(_ bytes: inout [UInt8]) { put(UInt32(0), &bytes) }

  private static func pad(_ count: Int, _ bytes: inout [UInt8]) {
    for _ in 0..<(-count & 3) { bytes.append(0) }
  }

  /// A moment in two halves, the higher one first.
  private static func putTime(_ time: Timestamp, _ bytes: inout [UInt8]) {
    let ticks = UInt64(clamping: time.nanoseconds)
    put(UInt32(truncatingIfNeeded: ticks >> 32), &bytes)
    put(UInt32(truncatingIfNeeded: ticks), &bytes)
  }

  private static func put(_ value: some FixedWidthInteger, _ bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }
}

/// What became of an interface's packets.
package struct InterfaceCounts: Sendable, Hashable {
  /// How many came that were to be captured.
  package var received: UInt64
  /// How many of them the interface or its driver dropped; nil where nobody tells.
  package var droppedByInterface: UInt64?
  /// How many of them the system dropped, because nobody took them in time; nil where nobody tells.
  package var droppedBySystem: UInt64?
  /// How many are in the file; nil where that is all of them.
  package var delivered: UInt64?

  /// Creates counts.
  package init(
    received: UInt64, droppedByInterface: UInt64? = nil, droppedBySystem: UInt64? = nil,
    delivered: UInt64? = nil
  ) {
    self.received = received
    self.droppedByInterface = droppedByInterface
    self.droppedBySystem = droppedBySystem
    self.delivered = delivered
  }

  /// How many are missing.
  package var dropped: UInt64 { (droppedByInterface ?? 0) &+ (droppedBySystem ?? 0) }
}
