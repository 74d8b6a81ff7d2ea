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
        // JSON in a string of JSON has a backslash before its quotes.
        let escapes = Self.backslashes(bytes, before: index - 1, from: quote)
        if quote >= 0,
          SecretKeys.contain(UnsafeRawBufferPointer(rebasing: bytes[quote..<index - 1 - escapes])),
          let value = Self.memberValue(bytes, at: index, escapes: escapes)
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

  /// How many backslashes stand right before an index, looked for back to another one.
  private static func backslashes(
    _ bytes: UnsafeRawBufferPointer, before index: Int, from start: Int
  ) -> Int {
    var first = index
    while first > Swift.max(0, start), bytes[first - 1] == UInt8(ascii: "\\") { first -= 1 }
    return index - first
  }

  /// Returns where the value of a member stands whose name ends before `index`; without its quotes
  /// if it is a string, nil if it is no member or its value is not a simple one.
  ///
  /// `escapes` is the number of backslashes before each quote that ends a name or a string there: 0, or in
  /// JSON that stands in a string itself 1, 3, 7 and so on.
  private static func memberValue(
    _ bytes: UnsafeRawBufferPointer, at index: Int, escapes: Int
  ) -> Range<Int>? {
    var index = index
    func skipSpace() {
      while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    }
    skipSpace()
    guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
    index += 1
    skipSpace()
    guard index < bytes.count else { return nil }
    let opening = index + escapes
    let isString =
      opening < bytes.count && bytes[opening] == UInt8(ascii: "\"")
      && backslashes(bytes, before: opening, from: index) == escapes
    if isString { index = opening + 1 }
    let start = index
    while index < bytes.count {
      let byte = bytes[index]
      if isString {
        if byte == UInt8(ascii: "\""), endsString(bytes, at: index, from: start, escapes) {
          return index - escapes > start ? start..<index - escapes : nil
        }
      } else if [",", "}", "]", "{", "[", " "].contains(Unicode.Scalar(byte)) {
        break
      }
      index += 1
    }
    return index > start ? start..<index : nil
  }

  /// Whether a quote ends the string that began before `start`, and is no character of it.
  ///
  /// Where the ending quote has n backslashes, a backslash of the string's own is written by n + 1 of them, and
  /// comes in pairs, but for the one before a quote that is a character.
  private static func endsString(
    _ bytes: UnsafeRawBufferPointer, at index: Int, from start: Int, _ escapes: Int
  ) -> Bool {
    backslashes(bytes, before: index, from: start) % (2 * (escapes + 1)) == escapes
  }
}
