/// How many frames a pcapng file says to have lost while it was captured (draft-ietf-opsawg-pcapng, sections 4.3 and 4.6).
struct PcapngDrops {
  /// The block in which an interface says what became of its packets.
  static let interfaceStatistics: UInt32 = 5

  /// What was lost in the sections before this, and between frames.
  private var settled: UInt64 = 0
  /// What the interfaces of this section lost, by their numbers: a later block counts all from the beginning again.
  private var interfaces: [UInt32: UInt64] = [:]

  /// All that was lost.
  var total: Int { Int(clamping: interfaces.values.reduce(settled) { $0.addingUpToMost($1) }) }

  /// Begins a section, in which interfaces are numbered anew.
  mutating func beginSection() {
    settled = UInt64(total)
    interfaces = [:]
  }

  /// Takes an Interface Statistics Block: what the interface itself and what the system had no room for.
  mutating func take(statistics block: RawSpan, _ order: ByteOrder) {
    guard let interface = block.uint32(at: 8, order),
      interfaces.count < PcapngReader.maximumInterfaces || interfaces[interface] != nil
    else { return }
    var lost: UInt64 = 0
    Self.forEachNumber(in: block, from: 20, order) { code, number in
      if code == 5 || code == 7 { lost = lost.addingUpToMost(number) }
    }
    interfaces[interface] = max(lost, interfaces[interface] ?? 0)
  }

  /// Takes the options of an Enhanced Packet Block: what was lost in front of its frame.
  mutating func take(packet block: RawSpan, optionsAt start: Int, _ order: ByteOrder) {
    var lost: UInt64 = 0
    Self.forEachNumber(in: block, from: start, order) { code, number in
      if code == 4 { lost = lost.addingUpToMost(number) }
    }
    settled = settled.addingUpToMost(lost)
  }

  /// Calls a closure with the options that are numbers of 64 bits; options that reach past the block end them.
  private static func forEachNumber(
    in block: RawSpan, from start: Int, _ order: ByteOrder, _ body: (UInt16, UInt64) -> Void
  ) {
    var position = start
    let end = block.byteCount - 4
    while position + 4 <= end, let code = block.uint16(at: position, order), code != 0,
      let length = block.uint16(at: position + 2, order)
    {
      guard position + 4 + Int(length) <= end else { return }
      if length == 8, let number = block.uint64(at: position + 4) {
        body(code, order == .big ? number : number.byteSwapped)
      }
      position += 4 + (Int(length) + 3) & ~3
    }
  }
}

extension UInt64 {
  fileprivate func addingUpToMost(_ more: UInt64) -> UInt64 {
    let (sum, isTooMuch) = addingReportingOverflow(more)
    return isTooMuch ? .max : sum
  }
}
