// What stands in text that is no JSON, or in a string of JSON.
extension SecretScanner {
  /// Returns the secret that a character gives away.
  func textSecret(_ byte: UInt8, at index: Int) -> Secret? {
    switch byte {
    case UInt8(ascii: "="), UInt8(ascii: ":"): pair(index, isHeader: byte == UInt8(ascii: ":"))
    case UInt8(ascii: "<"): element(index)
    // A user who wants only names of their own hidden has not asked for these.
    case UInt8(ascii: "/") where names.hasTable: userInformation(index)
    case UInt8(ascii: ".") where names.hasTable: webToken(index)
    case UInt8(ascii: " ") where names.hasTable: bearer(index) ?? privateKey(index)
    default: nil
    }
  }

  func secret(_ range: Range<Int>) -> Secret? {
    guard !range.isEmpty, !Self.tellsNothing(bytes[range]) else { return nil }
    return Secret(range: range, substitute: RedactionRules.mark)
  }

  // MARK: Pairs

  /// How much space may stand around the sign between a name and its value.
  private static let maximumSpace = 4

  /// Returns the value of a pair of a form or of a log, `name=value`, or of a header line, `name: value`.
  private func pair(_ sign: Int, isHeader: Bool) -> Secret? {
    var end = sign
    while end > floor, sign - end < Self.maximumSpace, bytes[end - 1] == 0x20 { end -= 1 }
    if isHeader, end > floor, bytes[end - 1] == UInt8(ascii: "'") {
      return entry(sign, quote: end - 1)
    }
    if !isHeader, end > floor, Self.isQuote(bytes[end - 1]) { end -= 1 }
    guard end > floor, Self.isName(bytes[end - 1]) else { return nil }
    var start = end
    while start > floor, Self.isName(bytes[start - 1]) { start -= 1 }
    let isBehindLine = start > floor && bytes[start - 1] == UInt8(ascii: "\\")
    // The letter of an escaped line end belongs to no name.
    if isBehindLine, start + 1 < end, "nrt".utf8.contains(bytes[start]) { start += 1 }
    let name = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    guard names.contain(name), !isHeader || isBehindLine || beginsPair(start) else { return nil }
    return pairValue(behind: sign, isLine: isHeader && Self.isFieldOfCredentials(name))
  }

  /// Returns the value of an entry of a dictionary as Python and JavaScript write it, whose name a quote ends:
  /// `{'name': 'value'}`.
  private func entry(_ sign: Int, quote: Int) -> Secret? {
    var start = quote
    while start > floor, Self.isName(bytes[start - 1]) { start -= 1 }
    guard start > floor, start < quote, bytes[start - 1] == UInt8(ascii: "'"),
      names.contain(UnsafeRawBufferPointer(rebasing: bytes[start..<quote]))
    else { return nil }
    start -= 1
    if start > floor, Self.isPrefix(bytes[start - 1]) { start -= 1 }
    guard beginsEntry(start) else { return nil }
    let value = spaceEnd(from: sign + 1)
    guard value < bytes.count else { return nil }
    // Quotes of a string that it all stands in.
    if bytes[value] == UInt8(ascii: "\\") { return pairValue(behind: sign, isLine: false) }
    let opening = Self.isPrefix(bytes[value]) ? value + 1 : value
    guard opening < bytes.count, Self.isQuote(bytes[opening]) else {
      return self.value(at: value, escapes: 0)
    }
    return secret(opening + 1..<literalEnd(from: opening))
  }

  /// Whether nothing stands between an index and the beginning of a dictionary, or the end of another entry.
  private func beginsEntry(_ start: Int) -> Bool {
    var index = start
    while index > floor, bytes[index - 1] == 0x20 { index -= 1 }
    return beginsPair(index)
  }

  /// Whether a letter can stand before a string of Python.
  private static func isPrefix(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "b") || byte == UInt8(ascii: "u")
  }

  /// Returns where a string ends that a quote at an index begins, and in which backslashes take the meaning off quotes.
  private func literalEnd(from opening: Int) -> Int {
    var index = opening + 1
    while index < bytes.count, bytes[index] != bytes[opening] {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, bytes.count)
  }

  /// Whether a name at an index stands at the beginning of something: in `wrong token: it is old` it does not.
  private func beginsPair(_ start: Int) -> Bool {
    var index = start
    while index > floor, start - index < Self.maximumSpace, bytes[index - 1] == 0x20 { index -= 1 }
    return index == 0 || "{,;([&|?\"'\n\r\t".utf8.contains(bytes[index - 1])
  }

  /// Whether the value of a header line goes on to the line's end: cookies and schemes of authorization.
  private static func isFieldOfCredentials(_ name: UnsafeRawBufferPointer) -> Bool {
    ["authorization", "cookie"].contains { ending in
      name.count >= ending.utf8.count
        && zip(name.suffix(ending.utf8.count), ending.utf8).allSatisfy { $0 | 0x20 == $1 }
    }
  }

  private func pairValue(behind sign: Int, isLine: Bool) -> Secret? {
    var start = sign + 1
    while start < bytes.count, start - sign <= Self.maximumSpace, bytes[start] == 0x20 {
      start += 1
    }
    guard start < bytes.count, bytes[start] != UInt8(ascii: "="), bytes[start] != UInt8(ascii: ">")
    else { return nil }
    var opening = start
    while opening < bytes.count, bytes[opening] == UInt8(ascii: "\\") { opening += 1 }
    if opening < bytes.count, bytes[opening] == UInt8(ascii: "\"") {
      guard !closesString(opening) else { return nil }
      return secret(opening + 1..<(stringEnd(from: opening + 1, opening - start) ?? bytes.count))
    }
    if bytes[start] == UInt8(ascii: "'") { return secret(start + 1..<literalEnd(from: start)) }
    var end = valueEnd(from: start, isLine)
    if !isLine, end < bytes.count, bytes[end] == 0x20, Self.isScheme(bytes[start..<end]) {
      end = valueEnd(from: end + 1, isLine)
    }
    return secret(start..<end)
  }

  /// Whether a quote ends the string that a pair stands in, rather than to begin the pair's value.
  private func closesString(_ quote: Int) -> Bool {
    guard quote + 1 < bytes.count else { return true }
    return Self.isSpace(bytes[quote + 1]) || ",}]\\".utf8.contains(bytes[quote + 1])
  }

  /// Returns where a value without quotes ends.
  private func valueEnd(from start: Int, _ isLine: Bool) -> Int {
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\""): return index
      case UInt8(ascii: "\\") where isEscape(index): return index
      case _ where isLine: break
      case UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "|"), UInt8(ascii: "'"),
        UInt8(ascii: "<"), UInt8(ascii: ">"), 0x20, 0x09:
        return index
      case UInt8(ascii: ","), UInt8(ascii: "?"):
        if isBeforePair(index + 1) { return index }
      default: break
      }
      index += 1
    }
    return index
  }

  private func isEscape(_ index: Int) -> Bool {
    index + 1 < bytes.count && "nrt\"\\".utf8.contains(bytes[index + 1])
  }

  /// Whether space or another name with its sign stands at an index.
  private func isBeforePair(_ start: Int) -> Bool {
    guard start < bytes.count, bytes[start] != 0x20 else { return true }
    var index = start
    while index < bytes.count, Self.isName(bytes[index]) { index += 1 }
    guard index > start, index < bytes.count else { return false }
    return bytes[index] == UInt8(ascii: "=") || bytes[index] == UInt8(ascii: ":")
  }

  /// Whether it is the name of an authentication scheme, before what is secret (RFC 9110 section 11.1).
  private static func isScheme(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
    ["bearer", "basic", "digest", "token"].contains { scheme in
      word.count == scheme.utf8.count && zip(word, scheme.utf8).allSatisfy { $0 | 0x20 == $1 }
    }
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "%"):
      true
    default: byte >= 0x80
    }
  }

  // MARK: Addresses

  /// Returns what stands before the host of an address (RFC 3986 section 3.2.1) behind the second slash.
  private func userInformation(_ slash: Int) -> Secret? {
    // JSON may have a backslash before a slash.
    func before(_ index: Int) -> Int {
      var index = index - 1
      while index >= floor, bytes[index] == UInt8(ascii: "\\") { index -= 1 }
      return index
    }
    let first = before(slash)
    guard first > floor, bytes[first] == UInt8(ascii: "/") else { return nil }
    let colon = before(first)
    guard colon > floor, bytes[colon] == UInt8(ascii: ":") else { return nil }
    var (index, at) = (slash + 1, slash)
    scan: while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "@"): at = index
      case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""),
        UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), 0...0x20:
        break scan
      default: break
      }
      index += 1
    }
    return at > slash ? secret(slash + 1..<at) : nil
  }

  // MARK: Tokens

  /// Returns a JSON Web Token (RFC 7519 section 3) that has its first period at an index: both parts around it
  /// are objects of JSON in base64url, which begin with `eyJ`.
  private func webToken(_ period: Int) -> Secret? {
    guard period + 4 <= bytes.count, bytes[(period + 1)...].starts(with: "eyJ".utf8) else {
      return nil
    }
    var start = period
    while start > floor, Self.isBase64URL(bytes[start - 1]) { start -= 1 }
    guard bytes[start..<period].starts(with: "eyJ".utf8) else { return nil }
    return secret(start..<tokenEnd(from: period))
  }

  /// Returns the token behind the word `Bearer` and a space (RFC 6750 section 2.1); a word of plain letters is
  /// none.
  private func bearer(_ space: Int) -> Secret? {
    let word = "bearer"
    guard space - word.utf8.count >= floor,
      zip(bytes[(space - word.utf8.count)..<space], word.utf8).allSatisfy({ $0 | 0x20 == $1 })
    else { return nil }
    let range = space + 1..<tokenEnd(from: space + 1)
    let isPlain = bytes[range].dropLast().allSatisfy { !Self.isSign($0) }
    return range.count < 8 || isPlain ? nil : secret(range)
  }

  private func tokenEnd(from start: Int) -> Int {
    var index = start
    while index < bytes.count, Self.isBase64URL(bytes[index]) || "./+~=".utf8.contains(bytes[index])
    {
      index += 1
    }
    return index
  }

  private static func isSign(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "./+~=_-".utf8.contains(byte)
  }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    byte < 0x80 && isName(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "%")
  }
}
