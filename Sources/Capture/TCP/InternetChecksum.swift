/// The checksum of the headers of IP, TCP and others (RFC 1071).
struct InternetChecksum {
  /// The sum of the 16-bit words as they lie in memory: their order is made up for at the end (section 2 (B)).
  private var sum: UInt64 = 0

  /// Adds bytes, whose number is even unless they are the last ones.
  mutating func add(_ bytes: RawSpan) {
    var sum = sum
    bytes.withUnsafeBytes { bytes in
      // Halves of 32 bits, of which as many as there are in any packet fit into 64.
      let whole = bytes.count & ~3
      for offset in stride(from: 0, to: whole, by: 4) {
        sum &+= UInt64(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      }
      var rest = (UInt8(0), UInt8(0), UInt8(0), UInt8(0))
      withUnsafeMutableBytes(of: &rest) { rest in
        for offset in whole..<bytes.count { rest[offset - whole] = bytes[offset] }
        sum &+= UInt64(rest.loadUnaligned(as: UInt32.self))
      }
    }
    self.sum = Self.fold(sum)
  }

  /// The checksum, as its two bytes stand in a header.
  var bytes: [UInt8] {
    let value = ~UInt16(truncatingIfNeeded: Self.fold(Self.fold(sum)))
    return withUnsafeBytes(of: value) { Array($0) }
  }

  /// Adds the carries to what they were carried from.
  private static func fold(_ sum: UInt64) -> UInt64 {
    var sum = sum
    while sum > 0xFFFF { sum = sum & 0xFFFF &+ sum >> 16 }
    return sum
  }
}
