/// Which names stand for secrets: those of JSON members, of pairs such as `token=…`, of header lines and of user
/// properties.
///
/// This is the one table of names. What a user adds to it comes by ``RedactionRules/keys``.
struct SecretNames: Sendable, Hashable {
  /// An ending of names.
  struct Ending: Sendable {
    /// The ending, in small letters and without separators.
    let letters: [UInt8]
    /// Whether a word has to begin where it begins: `mqttSign` and `x-sign` are names of secrets, `design` is not.
    let isWord: Bool
  }

  /// Endings, because names are put together: `iotToken`, `access_token`, `deviceSecret`.
  ///
  /// Letters count whatever their case, and `_`, `-` and `.` between them do not: `api_key` ends in `apikey`.
  /// `productKey` and `key` are no secrets, `tokens` and `tokenType` tell of tokens and are none.
  private static let table: [Ending] =
    [
      "token", "password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret",
      "secrets",
      "signature", "authorization", "credential", "credentials", "cookie", "cookies", "jwt",
      "apikey", "secretkey", "privatekey", "accesskey", "sessionkey", "signingkey", "encryptionkey",
      "masterkey", "sharedkey", "authkey",
    ].map { Ending(letters: Array($0.utf8), isWord: false) }
    + ["sign", "sig", "pass", "psk", "auth", "bearer", "otp"].map {
      Ending(letters: Array($0.utf8), isWord: true)
    }

  /// The endings by their last letter, from `a` on.
  private static let byLast: [[Ending]] = (UInt8(ascii: "a")...UInt8(ascii: "z")).map { last in
    table.filter { $0.letters.last == last }
  }

  /// For each of these letters those that stand before it in an ending, a bit each, from `a` on.
  private static let beforeLast = byLast.map { endings in
    endings.reduce(UInt32(0)) { letters, ending in
      letters | 1 << UInt32(ending.letters[ending.letters.count - 2] - UInt8(ascii: "a"))
    }
  }

  /// Whether the names of the table count.
  var hasTable = true
  /// Further names, whole and in small letters.
  var keys: [[UInt8]] = []

  /// Whether there is no name at all.
  var isEmpty: Bool { !hasTable && keys.isEmpty }

  /// Tells whether a name of a secret can end in two bytes; it may be written with escapes.
  ///
  /// Two letters stand for themselves where the first is none of the hexadecimal digits that end an escape.
  @inline(__always)
  func mayEnd(in last: UInt8, behind before: UInt8) -> Bool {
    guard keys.isEmpty, Self.isLetter(last), Self.isLetter(before),
      before | 0x20 > UInt8(ascii: "f")
    else { return true }
    let letters = Self.beforeLast[Int(last | 0x20) - Int(UInt8(ascii: "a"))]
    return letters >> UInt32((before | 0x20) - UInt8(ascii: "a")) & 1 == 1
  }

  /// Tells whether a name is that of a secret; it may be written with the escapes of JSON or of addresses.
  func contain(_ name: UnsafeRawBufferPointer) -> Bool {
    guard name.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "%") }) else {
      return containPlain(name)
    }
    return Self.unescaped(name).withUnsafeBytes { containPlain($0) }
  }

  /// Tells whether a name is that of a secret.
  func contain(_ name: some StringProtocol) -> Bool {
    Array(name.utf8).withUnsafeBytes { contain($0) }
  }

  private func containPlain(_ name: UnsafeRawBufferPointer) -> Bool {
    if hasTable, Self.hasEnding(name) { return true }
    return keys.contains { key in
      key.count == name.count && zip(key, name).allSatisfy { $0 == Self.lowercased($1) }
    }
  }

  /// Tells whether the value of a name, as in `"name":"password"`, is that of a secret: one word, and no sentence.
  func contain(value: UnsafeRawBufferPointer) -> Bool {
    value.allSatisfy(SecretScanner.isName) && contain(value)
  }

  /// Tells whether a name is that of a value that has its name beside it.
  static func isValueName(_ name: UnsafeRawBufferPointer) -> Bool { isWord(name, "value") }

  /// Tells whether a name is that of what a value has for a name.
  static func isNameOfName(_ name: UnsafeRawBufferPointer) -> Bool {
    ["name", "key", "id", "code"].contains { isWord(name, $0) }
  }

  /// Tells whether a name is a word of small letters, whatever its case.
  private static func isWord(_ name: UnsafeRawBufferPointer, _ word: String) -> Bool {
    name.count == word.utf8.count && zip(name, word.utf8).allSatisfy { lowercased($0) == $1 }
  }

  /// Tells whether a name of a secret ends anywhere in some bytes; of something else, too, that begins so.
  func stand(in bytes: RawSpan) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard hasTable else { return keys.contains { Self.stands($0, in: bytes) } }
      for end in bytes.indices
      where Self.hasEnding(UnsafeRawBufferPointer(rebasing: bytes[...end])) { return true }
      return keys.contains { Self.stands($0, in: bytes) }
    }
  }

  private static func stands(_ key: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = key.first, key.count <= bytes.count else { return false }
    return (0...bytes.count - key.count).contains { start in
      lowercased(bytes[start]) == first
        && key.indices.allSatisfy { key[$0] == lowercased(bytes[start + $0]) }
    }
  }

  private static func hasEnding(_ name: UnsafeRawBufferPointer) -> Bool {
    guard let last = name.last else { return false }
    let letter = last | 0x20
    guard letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z") else { return false }
    return byLast[Int(letter - UInt8(ascii: "a"))].contains { ending in
      guard let start = start(of: ending.letters, endingIn: name) else { return false }
      return !ending.isWord || beginsWord(name, at: start)
    }
  }

  /// Where an ending begins; nil when the name does not end so.
  ///
  /// From the last letter on, as most names do not.
  private static func start(
    of letters: [UInt8], endingIn name: UnsafeRawBufferPointer
  ) -> Int? {
    var index = name.count
    for offset in letters.indices.reversed() {
      repeat {
        guard index > 0 else { return nil }
        index -= 1
      } while offset < letters.count - 1 && isSeparator(name[index])
      guard name[index] | 0x20 == letters[offset] else { return nil }
    }
    return index
  }

  /// Whether a word begins at an index: no letter stands before it, or a small one before a capital.
  private static func beginsWord(_ name: UnsafeRawBufferPointer, at index: Int) -> Bool {
    guard index > 0 else { return true }
    let before = name[index - 1]
    guard isLetter(before) else { return true }
    return name[index] & 0x20 == 0 && before & 0x20 != 0
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    let letter = byte | 0x20
    return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")
  }

  private static func isSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// A name without the escapes of JSON (RFC 8259 section 7), however deep, and of addresses (RFC 3986 section
  /// 2.1).
  private static func unescaped(_ name: UnsafeRawBufferPointer) -> [UInt8] {
    var plain: [UInt8] = []
    var index = 0
    while index < name.count {
      let byte = name[index]
      index += 1
      if byte == UInt8(ascii: "\\") {
        while index < name.count, name[index] == byte { index += 1 }
        guard index < name.count, name[index] == UInt8(ascii: "u") else { continue }
        let value = number(name[min(index + 1, name.count)..<min(index + 5, name.count)], digits: 4)
        guard let value else { continue }
        plain.append(UInt8(exactly: value) ?? UInt8(ascii: "?"))
        index += 5
      } else if byte == UInt8(ascii: "%"),
        let value = number(name[index..<min(index + 2, name.count)], digits: 2)
      {
        plain.append(UInt8(truncatingIfNeeded: value))
        index += 2
      } else {
        plain.append(byte)
      }
    }
    return plain
  }

  private static func number(_ text: Slice<UnsafeRawBufferPointer>, digits: Int) -> Int? {
    guard text.count == digits else { return nil }
    return text.reduce(0) { value, digit in
      guard let value, let digit = Hexadecimal.value(of: digit) else { return nil }
      return value << 4 | Int(digit)
    }
  }
}
