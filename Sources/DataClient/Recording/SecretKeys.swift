import Wire

/// Which names of JSON members and user properties stand for secrets.
enum SecretKeys {
  /// The endings of names whose values are hidden, in lower case.
  ///
  /// Endings, because names are put together: `iotToken`, `access_token`, `deviceSecret`.
  private static let endings: [StaticString] = [
    "token", "password", "passwd", "secret", "signature", "sign", "authorization", "apikey",
    "api-key", "cookie",
  ]

  /// Tells whether a name ends as the names of secrets do, whatever its case.
  static func contain(_ name: UnsafeRawBufferPointer) -> Bool {
    guard let last = name.last else { return false }
    switch last | 0x20 {
    // The last letters of the endings: most names are done with here.
    case UInt8(ascii: "n"), UInt8(ascii: "d"), UInt8(ascii: "t"), UInt8(ascii: "e"),
      UInt8(ascii: "y"):
      return endings.contains { hasEnding($0, name) }
    default: return false
    }
  }

  /// Tells whether a name of a secret stands anywhere in some bytes, whatever its case.
  static func stand(in bytes: RawSpan) -> Bool {
    bytes.withUnsafeBytes { bytes in
      for end in bytes.indices {
        switch bytes[end] | 0x20 {
        case UInt8(ascii: "n"), UInt8(ascii: "d"), UInt8(ascii: "t"), UInt8(ascii: "e"),
          UInt8(ascii: "y"):
          if contain(UnsafeRawBufferPointer(rebasing: bytes[...end])) { return true }
        default: continue
        }
      }
      return false
    }
  }

  private static func hasEnding(_ ending: StaticString, _ name: UnsafeRawBufferPointer) -> Bool {
    let count = ending.utf8CodeUnitCount
    guard name.count >= count else { return false }
    return ending.withUTF8Buffer { ending in
      zip(ending, name.suffix(count)).allSatisfy { $0 == $1 | 0x20 }
    }
  }
}

extension [UInt8] {
  /// Appends well-formed UTF-8 as ``append(escaped:)`` does, with `***` for the values of JSON
  /// members whose names are those of secrets.
  mutating func append(escapedHidingSecrets bytes: RawSpan) {
    bytes.withUnsafeBytes { bytes in
      var start = 0
      var index = 0
      var quote = -1
      while index < bytes.count {
        let byte = bytes[index]
        guard JSONEscape.isNeeded(byte) else {
          index += 1
          continue
        }
        append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
        append(escape: byte)
        index += 1
        start = index
        guard byte == UInt8(ascii: "\"") else { continue }
        if quote >= 0,
          SecretKeys.contain(UnsafeRawBufferPointer(rebasing: bytes[quote..<index - 1])),
          let value = Self.memberValue(bytes, at: index)
        {
          append(escaped: UnsafeRawBufferPointer(rebasing: bytes[index..<value.lowerBound]))
          append("***")
          index = value.upperBound
          start = index
        }
        quote = index
      }
      append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
  }

  /// Returns where the value of a member stands whose name ends before `index`; without its quotes
  /// if it is a string, nil if it is no member or its value is not a simple one.
  private static func memberValue(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Range<Int>? {
    var index = index
    func skipSpace() {
      while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    }
    skipSpace()
    guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
    index += 1
    skipSpace()
    guard index < bytes.count else { return nil }
    let isString = bytes[index] == UInt8(ascii: "\"")
    if isString { index += 1 }
    let start = index
    while index < bytes.count {
      let byte = bytes[index]
      if isString {
        if byte == UInt8(ascii: "\"") { break }
        if byte == UInt8(ascii: "\\") { index += 1 }
      } else if [",", "}", "]", "{", "[", " "].contains(Unicode.Scalar(byte)) {
        break
      }
      index += 1
    }
    let end = Swift.min(index, bytes.count)
    return end > start ? start..<end : nil
  }
}
