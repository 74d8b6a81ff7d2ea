/// Short pieces of ASCII, written one after the other: growing an array for each would cost more than
/// writing it.
extension [UInt8] {
  /// How many bytes of a text are escaped at once.
  @inline(__always)
  static var shortTextLimit: Int { 1_024 }

  /// Appends what a closure writes, at the place where it is to stand.
  /// - Parameters:
  ///   - most: How many bytes it may write: room is made for so many.
  ///   - write: Writes them.
  @inline(__always)
  mutating func appendShort(atMost most: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    append(addingCapacity: most) { (text: inout OutputSpan<UInt8>) in write(&text) }
  }

  /// Appends bytes as they are.
  ///
  /// The array's own way takes any sequence, and for a few bytes three times as long.
  @inline(never)
  mutating func append(copying bytes: UnsafeRawBufferPointer) {
    append(addingCapacity: bytes.count) { (text: inout OutputSpan<UInt8>) in
      text.append(copying: bytes)
    }
  }
}

extension OutputSpan<UInt8> {
  @inline(__always)
  mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { append(copying: UnsafeRawBufferPointer($0)) }
  }

  /// Appends bytes there is room for.
  @inline(__always)
  mutating func append(copying bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= freeCapacity, "the text is longer than there is room for")
    withUnsafeMutableBufferPointer { buffer, count in
      // There is room, as was seen: parts of both buffers would look again at what they hold.
      guard let source = bytes.baseAddress, let start = buffer.baseAddress else { return }
      UnsafeMutableRawPointer(start + count).copyMemory(from: source, byteCount: bytes.count)
      count += bytes.count
    }
  }

  /// Appends the last two digits of a number in decimal.
  @inline(__always)
  mutating func append(twoDigits value: UInt64) {
    let rest = UInt8(truncatingIfNeeded: value % 100)
    append(UInt8(ascii: "0") + rest / 10)
    append(UInt8(ascii: "0") + rest % 10)
  }

  /// Appends a whole number in decimal: at most 20 bytes.
  mutating func append(decimal value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(decimal: UInt64(value.magnitude))
  }

  /// Appends a whole number in decimal: at most 20 bytes.
  mutating func append(decimal value: UInt64) {
    if value < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
    // From the last digit on, in room for the longest number.
    var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
    var rest = value
    var first = digits.count
    while rest > 0 {
      first -= 1
      digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    digits.span.bytes.extracting(droppingFirst: first).withUnsafeBytes { append(copying: $0) }
  }

  /// Appends a number as eight hexadecimal digits.
  mutating func append(hexadecimal value: UInt32) {
    for shift: UInt32 in stride(from: 28, through: 0, by: -4) {
      append(JSONEscape.hexDigit(UInt8(truncatingIfNeeded: value >> shift & 0xF)))
    }
  }
}
