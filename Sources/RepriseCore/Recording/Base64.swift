/// The digits of base 16.
enum Hexadecimal {
  /// Returns the value of a digit in either case.
  static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// Base 64 with padding (RFC 4648 section 4).
enum Base64 {
  /// Returns the bytes that a text encodes; nil when it is not canonical base 64.
  static func decode(_ text: String) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count / 4 * 3)
    var group: UInt32 = 0
    var count = 0
    var padding = 0
    for byte in text.utf8 {
      if byte == UInt8(ascii: "=") {
        padding += 1
        group <<= 6
      } else {
        guard padding == 0, let value = value(of: byte) else { return nil }
        group = group << 6 | UInt32(value)
      }
      count += 1
      guard count == 4 else { continue }
      guard padding <= 2, group & ((1 << UInt32(8 * padding)) - 1) == 0 else { return nil }
      for index in 0..<(3 - padding) {
        result.append(UInt8(group >> UInt32(16 - 8 * index) & 0xFF))
      }
      group = 0
      count = 0
    }
    // Bits that a padded group does not use must be 0, or two texts would mean the same bytes.
    return count == 0 ? result : nil
  }

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

extension RawSpan {
  /// Returns the byte at an offset that the caller has checked; out of bounds is a bug of the caller.
  @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
