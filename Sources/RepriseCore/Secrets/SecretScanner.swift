/// Where secrets stand in text, one after the other: values of JSON members, of XML elements, of pairs such as `token=…`
/// and of header lines whose names are those of secrets; what stands before the host of an address; bearer tokens;
/// private keys.
///
/// The text is not parsed: it may be several texts, a part of one, or in an encoding that is not UTF-8.
struct SecretScanner {
  /// A secret.
  struct Secret: Equatable {
    /// Where it stands; a string without its quotes.
    var range: Range<Int>
    /// What may be shown in its place.
    var substitute: String
  }

  let bytes: UnsafeRawBufferPointer
  let names: SecretNames
  /// The end of the last secret.
  private(set) var floor = 0
  private var index = 0
  /// The index after the last quote; -1 before the first.
  private var quote = -1

  init(_ bytes: UnsafeRawBufferPointer, _ names: SecretNames) {
    self.bytes = bytes
    self.names = names
  }

  /// Returns the next secret.
  mutating func next() -> Secret? {
    // Every text goes through here: the places stay in registers.
    var (place, name) = (index, quote)
    defer { (index, quote) = (place, name) }
    var triggers = Triggers(bytes, from: place)
    while true {
      place = triggers.next()
      guard place < bytes.count else { return nil }
      let byte = bytes[place]
      place += 1
      let found: Secret?
      if byte == UInt8(ascii: "\"") {
        found = mayEndName(place - 1) ? secret(named: name, place - 1) : nil
        name = found?.range.upperBound ?? place
      } else {
        found = mayTell(byte, at: place - 1) ? textSecret(byte, at: place - 1) : nil
      }
      guard let found else { continue }
      place = max(place, found.range.upperBound)
      floor = found.range.upperBound
      return found
    }
  }

  /// Where characters stand by which a secret is noticed: quotes, spaces, periods, slashes, colons, equals signs and
  /// the beginnings of tags.
  ///
  /// Text has one in every few bytes: eight bytes are looked at once, however many of them are in it.
  private struct Triggers {
    private let bytes: UnsafeRawBufferPointer
    /// What is looked at next.
    private var index: Int
    /// Those of the last eight bytes that were not told yet.
    private var lanes: UInt64 = 0

    init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
      self.bytes = bytes
      index = start
    }

    /// Returns where the next one stands; the end if there is none.
    @inline(__always)
    mutating func next() -> Int {
      while lanes == 0 {
        guard index &+ 8 <= bytes.count else { return last() }
        let word = ByteLanes(bytes, at: index)
        // Space and quote, period and slash, and the last two, differ by one bit.
        let others =
          word.differ(from: UInt8(ascii: "\""), settingBits: 0x02)
          & word.differ(from: UInt8(ascii: ":"))
          & word.differ(from: UInt8(ascii: "/"), settingBits: 0x01)
          & word.differ(from: UInt8(ascii: "="), settingBits: 0x01)
        lanes = ByteLanes.others(others)
        index &+= 8
      }
      defer { lanes &= lanes &- 1 }
      return index &- 8 &+ ByteLanes.first(lanes)
    }

    /// Looks at the last bytes, which are fewer than eight.
    private mutating func last() -> Int {
      while index < bytes.count, !Self.isOne(bytes[index]) { index &+= 1 }
      defer { index = min(index &+ 1, bytes.count) }
      return index
    }

    @inline(__always)
    private static func isOne(_ byte: UInt8) -> Bool {
      byte | 0x02 == UInt8(ascii: "\"") || byte | 0x01 == UInt8(ascii: "/")
        || byte == UInt8(ascii: ":") || byte | 0x01 == UInt8(ascii: "=")
    }
  }

  /// Whether the quote at an index has something behind it that can stand between a name and its value, and
  /// before it what can be the end of a name; asked first because of most quotes that is not so.
  @inline(__always)
  private func mayEndName(_ quote: Int) -> Bool {
    guard quote >= 2, quote + 1 < bytes.count else { return false }
    let byte = bytes[quote + 1]
    guard byte == UInt8(ascii: ":") || byte == UInt8(ascii: "\\") || Self.isSpace(byte) else {
      return false
    }
    let (last, before) = (bytes[quote - 1], bytes[quote - 2])
    return names.mayEnd(in: last, behind: before) || Self.mayEndValueName(last, behind: before)
  }

  /// Whether one more byte around a character allows that it gives a secret away.
  @inline(__always)
  private func mayTell(_ byte: UInt8, at index: Int) -> Bool {
    let before = index > 0 ? bytes[index - 1] : 0
    switch byte {
    // The value of a member is found by the quote.
    case UInt8(ascii: ":"): return before != UInt8(ascii: "\"")
    case UInt8(ascii: "."): return index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "e")
    case UInt8(ascii: "/"): return before == UInt8(ascii: "/") || before == UInt8(ascii: "\\")
    case UInt8(ascii: " "):
      return before | 0x20 == UInt8(ascii: "r") || before == UInt8(ascii: "E") && mayBeginKey(index)
    case UInt8(ascii: "<"): return index + 1 < bytes.count && Self.isName(bytes[index + 1])
    default: return true
    }
  }

  /// Returns the value of the member whose name stands between an index and a quote, if it is the name of a
  /// secret.
  private func secret(named start: Int, _ end: Int) -> Secret? {
    // JSON in a string of JSON has backslashes before its quotes.
    guard start >= 0, let value = valueStart(after: end + 1) else { return nil }
    let escapes = backslashes(before: end, from: start)
    let name = UnsafeRawBufferPointer(rebasing: bytes[start..<end - escapes])
    guard names.contain(name) || isNamedBeside(name, at: start, escapes: escapes) else {
      return nil
    }
    return self.value(at: value, escapes: escapes)
  }

  /// How many backslashes stand right before an index, looked for back to another one.
  func backslashes(before index: Int, from start: Int) -> Int {
    var first = index
    while first > max(0, start), bytes[first - 1] == UInt8(ascii: "\\") { first -= 1 }
    return index - first
  }

  /// Returns where a value begins when what stands before an index is the name of a member.
  func valueStart(after index: Int) -> Int? {
    let colon = spaceEnd(from: index)
    guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
    let start = spaceEnd(from: colon + 1)
    return start < bytes.count ? start : nil
  }

  /// Returns where white space ends that begins at an index (RFC 8259 section 2); in a string it is escaped.
  func spaceEnd(from index: Int) -> Int {
    var index = index
    while index < bytes.count {
      if Self.isSpace(bytes[index]) {
        index += 1
      } else if let end = escapedSpaceEnd(from: index) {
        index = end
      } else {
        break
      }
    }
    return index
  }

  /// Returns where an escaped line end or tabulator ends that begins at an index; nil when there is none.
  private func escapedSpaceEnd(from index: Int) -> Int? {
    var end = index
    while end < bytes.count, bytes[end] == UInt8(ascii: "\\") { end += 1 }
    guard end > index, end < bytes.count else { return nil }
    switch bytes[end] {
    case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return end + 1
    default: return nil
    }
  }

  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }
}
