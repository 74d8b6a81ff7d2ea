import Wire

/// Which names of JSON members and user properties stand for secrets.
enum SecretKeys {
  /// Tells whether a name ends as the names of secrets do, whatever its case.
  ///
  /// Endings, because names are put together: `iotToken`, `access_token`, `deviceSecret`.
  static func contain(_ name: UnsafeRawBufferPointer) -> Bool {
    guard let last = name.last else { return false }
    switch last | 0x20 {
    case UInt8(ascii: "n"):
      return hasEnding("token", name) || hasEnding("sign", name) || hasEnding("authorization", name)
    case UInt8(ascii: "d"): return hasEnding("password", name) || hasEnding("passwd", name)
    case UInt8(ascii: "t"): return hasEnding("secret", name)
    case UInt8(ascii: "e"): return hasEnding("signature", name) || hasEnding("cookie", name)
    case UInt8(ascii: "y"): return hasEnding("apikey", name) || hasEnding("api-key", name)
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

  /// Tells whether a name ends so; from the last letter on, as most names do not.
  private static func hasEnding(_ ending: StaticString, _ name: UnsafeRawBufferPointer) -> Bool {
    let count = ending.utf8CodeUnitCount
    guard name.count >= count else { return false }
    return ending.withUTF8Buffer { ending in
      for offset in 1...count
      where ending[count - offset] != name[name.count - offset] | 0x20 {
        return false
      }
      return true
    }
  }
}

extension [UInt8] {
  /// Appends well-formed UTF-8 as ``append(escaped:)`` does, with `***` for the values of JSON
  /// members whose names are those of secrets.
  mutating func append(escapedHidingSecrets bytes: RawSpan) {
    bytes.withUnsafeBytes { bytes in
      var secrets = SecretValues(bytes)
      var start = 0
      while let secret = secrets.next() {
        append(escaped: UnsafeRawBufferPointer(rebasing: bytes[start..<secret.lowerBound]))
        append("***")
        start = secret.upperBound
      }
      append(escaped: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
  }
}

/// Where the values of secrets stand in JSON, one after the other.
private struct SecretValues {
  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  /// The index after the last quote; -1 before the first.
  private var quote = -1

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Returns where the next secret's value stands, without its quotes.
  mutating func next() -> Range<Int>? {
    while index < bytes.count {
      index += 1
      guard bytes[index - 1] == UInt8(ascii: "\"") else { continue }
      let secret = secretValue(ofNameBefore: index - 1)
      index = secret?.upperBound ?? index
      quote = index
      if let secret { return secret }
    }
    return nil
  }

  /// Returns where the value of the member stands whose name ends with the quote at an index, if it
  /// is the name of a secret.
  private func secretValue(ofNameBefore end: Int) -> Range<Int>? {
    guard quote >= 0, let value = valueStart(after: end + 1) else { return nil }
    // JSON in a string of JSON has a backslash before its quotes.
    let escapes = backslashes(before: end, from: quote)
    guard SecretKeys.contain(UnsafeRawBufferPointer(rebasing: bytes[quote..<end - escapes])) else {
      return nil
    }
    return memberValue(at: value, escapes: escapes)
  }

  /// How many backslashes stand right before an index, looked for back to another one.
  private func backslashes(before index: Int, from start: Int) -> Int {
    var first = index
    while first > max(0, start), bytes[first - 1] == UInt8(ascii: "\\") { first -= 1 }
    return index - first
  }

  /// Returns where a value begins when what stands before an index is the name of a member.
  private func valueStart(after index: Int) -> Int? {
    var index = index
    func skipSpace() {
      while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
    }
    skipSpace()
    guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
    index += 1
    skipSpace()
    return index < bytes.count ? index : nil
  }

  /// Returns the extent of the value of a member; without its quotes if it is a string, nil if it is
  /// not a simple one.
  ///
  /// `escapes` is the number of backslashes before each quote that ends a name or a string there: 0, or in
  /// JSON that stands in a string itself 1, 3, 7 and so on.
  private func memberValue(at index: Int, escapes: Int) -> Range<Int>? {
    var index = index
    let opening = index + escapes
    let isString =
      opening < bytes.count && bytes[opening] == UInt8(ascii: "\"")
      && backslashes(before: opening, from: index) == escapes
    if isString { index = opening + 1 }
    let start = index
    while index < bytes.count {
      let byte = bytes[index]
      if isString {
        if byte == UInt8(ascii: "\""), endsString(at: index, from: start, escapes) {
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
  private func endsString(at index: Int, from start: Int, _ escapes: Int) -> Bool {
    backslashes(before: index, from: start) % (2 * (escapes + 1)) == escapes
  }
}
