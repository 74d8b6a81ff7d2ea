/// An IPv4 or IPv6 address, as two words that compare and hash fast.
public struct IPAddress: Sendable, Hashable {
  /// The first eight bytes of an IPv6 address; 0 for IPv4.
  public let high: UInt64
  /// The last eight bytes of an IPv6 address; for IPv4 `::ffff:` and the address (RFC 4291).
  public let low: UInt64
  /// Whether it was in an IPv4 packet; `::ffff:1.2.3.4` in an IPv6 packet is another address.
  public let isIPv4: Bool

  /// Creates an IPv4 address.
  ///
  /// - Parameter ipv4: The four bytes as a number, the first one highest.
  @inline(__always)
  public init(ipv4: UInt32) {
    high = 0
    low = 0xffff_0000_0000 | UInt64(ipv4)
    isIPv4 = true
  }

  /// Creates an IPv6 address.
  ///
  /// - Parameters:
  ///   - high: The first eight bytes as a number.
  ///   - low: The last eight bytes as a number.
  @inline(__always)
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
    isIPv4 = false
  }
}

extension IPAddress {
  /// Whether it is of the host itself: 127.0.0.0/8 (RFC 1122 section 3.2.1.3) or `::1` (RFC 4291 section 2.5.3).
  var isLoopback: Bool {
    high == 0 && (low == 1 && !isIPv4 || low >> 32 == 0xffff && low >> 24 & 0xff == 127)
  }
}

extension IPAddress: CustomStringConvertible {
  /// The address as RFC 5952 recommends: lower case, the longest run of zeroes left out.
  public var description: String {
    if isIPv4 { return dotted }
    if high == 0, low >> 32 == 0xffff { return "::ffff:" + dotted }
    let groups = (0..<8).map { index in
      let half = index < 4 ? high : low
      return UInt16(truncatingIfNeeded: half >> UInt64(48 - index % 4 * 16))
    }
    let run = Self.longestZeroRun(groups)
    guard !run.isEmpty else { return Self.text(groups[...]) }
    return Self.text(groups[..<run.lowerBound]) + "::" + Self.text(groups[run.upperBound...])
  }

  private static func text(_ groups: ArraySlice<UInt16>) -> String {
    groups.map { String($0, radix: 16) }.joined(separator: ":")
  }

  private var dotted: String {
    "\(low >> 24 & 0xff).\(low >> 16 & 0xff).\(low >> 8 & 0xff).\(low & 0xff)"
  }

  /// The first longest run of at least two zero groups (section 4.2); empty if there is none.
  private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int> {
    var longest = 0..<0
    var start = 0
    for (index, group) in groups.enumerated() {
      if group != 0 {
        start = index + 1
      } else if index + 1 - start > Swift.max(longest.count, 1) {
        longest = start..<(index + 1)
      }
    }
    return longest
  }
}
