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
    bytes.withUnsafeBytes { SecretValues.hide(in: $0) { append(escaped: $0) } }
  }
}

extension String {
  /// The text with `***` for the values of JSON members in it whose names are those of secrets; it may be JSON
  /// or contain it, also as a string of JSON.
  package var hidingSecrets: String {
    guard SecretKeys.stand(in: utf8Span.span.bytes) else { return self }
    var hidden: [UInt8] = []
    Array(utf8).withUnsafeBytes { SecretValues.hide(in: $0) { hidden.append(contentsOf: $0) } }
    return String(decoding: hidden, as: UTF8.self)
  }
}

/// Where the values of secrets stand in JSON, one after the other.
private struct SecretValues {
  /// The value of a secret.
  struct Secret {
    /// Where it stands, without its quotes.
    let extent: Range<Int>
    /// The quote that has to stand on both sides of what takes its place; empty when it has its own.
    var lackingQuote: [UInt8] = []
  }

  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  /// The index after the last quote; -1 before the first.
  private var quote = -1

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Hands on some bytes in pieces, with `***` in the place of secrets.
  static func hide(in bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Void) {
    var secrets = SecretValues(bytes)
    var start = 0
    while let secret = secrets.next() {
      take(UnsafeRawBufferPointer(rebasing: bytes[start..<secret.extent.lowerBound]))
      (secret.lackingQuote + Array(RedactionRules.mark.utf8) + secret.lackingQuote)
        .withUnsafeBytes { take($0) }
      start = secret.extent.upperBound
    }
    take(UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  /// Returns the next secret's value.
  mutating func next() -> Secret? {
    while index < bytes.count {
      index += 1
      guard bytes[index - 1] == UInt8(ascii: "\"") else { continue }
      let secret = secretValue(ofNameBefore: index - 1)
      index = secret?.extent.upperBound ?? index
      quote = index
      if let secret { return secret }
    }
    return nil
  }

  /// Returns the value of the member whose name ends with the quote at an index, if it is the name of a
  /// secret.
  private func secretValue(ofNameBefore end: Int) -> Secret? {
    guard quote >= 0 else { return nil }
    // JSON in a string of JSON has a backslash before its quotes.
    let escapes = backslashes(before: end, from: quote)
    guard let value = valueStart(after: end + 1, escapes) else { return nil }
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
  private func valueStart(after index: Int, _ escapes: Int) -> Int? {
    var index = endOfSpace(from: index, escapes)
    guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
    index = endOfSpace(from: index + 1, escapes)
    return index < bytes.count ? index : nil
  }

  /// Returns the index behind white space (RFC 8259 section 2), of which JSON in a string has all but the space
  /// in letters behind half of the backslashes that its quotes have.
  private func endOfSpace(from start: Int, _ escapes: Int) -> Int {
    let count = (escapes + 1) / 2
    var index = start
    while index < bytes.count {
      if count == 0 || bytes[index] == UInt8(ascii: " ") {
        guard [" ", "\t", "\n", "\r"].contains(Unicode.Scalar(bytes[index])) else { return index }
        index += 1
        continue
      }
      let letter = index + count
      guard letter < bytes.count, backslashes(before: letter, from: index) == count,
        ["t", "n", "r"].contains(Unicode.Scalar(bytes[letter]))
      else { return index }
      index = letter + 1
    }
    return index
  }

  /// Returns the value of a member; nil if it is none that could be a secret.
  ///
  /// `escapes` is the number of backslashes before each quote that ends a name or a string there: 0, or in
  /// JSON that stands in a string itself 1, 3, 7 and so on.
  private func memberValue(at index: Int, escapes: Int) -> Secret? {
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
          return index - escapes > start ? Secret(extent: start..<index - escapes) : nil
        }
      } else if Self.endsWord(byte) {
        break
      }
      index += 1
    }
    guard index > start else { return nil }
    guard !isString else { return Secret(extent: start..<index) }
    let word = bytes[start..<index]
    // They tell nothing, and what has no value is asked for otherwise than what has one.
    guard !["null", "true", "false"].contains(where: { word.elementsEqual($0.utf8) }) else {
      return nil
    }
    // What stands there has to be JSON, or nobody who reads it again finds anything in it.
    let quote = Array(repeating: UInt8(ascii: "\\"), count: escapes) + [UInt8(ascii: "\"")]
    return Secret(extent: start..<index, lackingQuote: quote)
  }

  /// Whether a byte can't stand in a number.
  private static func endsWord(_ byte: UInt8) -> Bool {
    [",", "}", "]", "{", "[", " ", "\t", "\n", "\r", "\\", "\""].contains(Unicode.Scalar(byte))
  }

  /// Whether a quote ends the string that began before `start`, and is no character of it.
  ///
  /// Where the ending quote has n backslashes, a backslash of the string's own is written by n + 1 of them, and
  /// comes in pairs, but for the one before a quote that is a character.
  private func endsString(at index: Int, from start: Int, _ escapes: Int) -> Bool {
    backslashes(before: index, from: start) % (2 * (escapes + 1)) == escapes
  }
}
