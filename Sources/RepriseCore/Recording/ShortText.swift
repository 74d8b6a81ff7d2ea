/// Short pieces of ASCII, written one after the other and appended at once: growing an array for
/// each would cost more than writing it.
extension [UInt8] {
  /// How many bytes ``appendShort(_:)`` has room for; it is on the stack.
  @inline(__always)
  static var shortTextLimit: Int { 1_024 }

  /// Appends what a closure writes.
  /// - Parameter write: Writes at most ``shortTextLimit`` bytes.
  @inline(__always)
  mutating func appendShort(_ write: (inout OutputSpan<UInt8>) -> Void) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.shortTextLimit) { room in
      var text = OutputSpan(buffer: room, initializedCount: 0)
      write(&text)
      let count = text.finalize(for: room)
      append(contentsOf: UnsafeMutableBufferPointer(rebasing: room[..<count]))
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
      UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
        .copyMemory(from: bytes)
      count += bytes.count
    }
  }

  /// Appends the last two digits of a number in decimal.
  @inline(__always)
  mutating func append(twoDigits value: UInt64) {
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10 % 10))
    append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
  }

  /// Appends a whole number in decimal: at most 20 bytes.
  mutating func append(decimal value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(decimal: UInt64(value.magnitude))
  }

  /// Appends a whole number in decimal: at most 20 bytes.
  mutating func append(decimal value: UInt64) {
    if value < 10 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
    var digits = 1
    var bound: UInt64 = 10
    while value >= bound {
      digits += 1
      let (next, isOver) = bound.multipliedReportingOverflow(by: 10)
      if isOver { break }
      bound = next
    }
    append(repeating: UInt8(ascii: "0"), count: digits)
    var rest = value
    var index = count - 1
    while rest > 0 {
      self[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
      index -= 1
    }
  }

  /// Appends a number as eight hexadecimal digits.
  mutating func append(hexadecimal value: UInt32) {
    for shift: UInt32 in stride(from: 28, through: 0, by: -4) {
      append(JSONEscape.hexDigit(UInt8(truncatingIfNeeded: value >> shift & 0xF)))
    }
  }
}
