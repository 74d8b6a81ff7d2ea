import Wire

/// Why a text is not JSON, and where.
public struct JSONSyntaxError: Error, Sendable, Hashable {
  /// What is wrong.
  public var message: String
  /// Where, in bytes from the start of the text.
  public var offset: Int
}

/// Reads one JSON text (RFC 8259) from borrowed bytes, strictly.
struct JSONParser: ~Escapable {
  /// How deeply arrays and objects may lie in each other.
  static let maximumDepth = 64
  /// How many values a text may have: each takes many times the memory of its two or three characters.
  ///
  /// A packet of 512 KiB that is a list of filters, with five members each, has half as many.
  static let maximumValues = 1 << 21

  let bytes: RawSpan
  var offset = 0
  private var values = 0
  private let mostValues: Int

  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, mostValues: Int = maximumValues) {
    self.bytes = bytes
    self.mostValues = mostValues
  }

  /// Reads the text as one value and nothing behind it.
  static func parse(
    _ bytes: RawSpan, mostValues: Int = maximumValues
  ) throws(JSONSyntaxError) -> JSONValue {
    var parser = JSONParser(bytes, mostValues: mostValues)
    parser.skipSpace()
    let value = try parser.readValue(depth: 0)
    parser.skipSpace()
    guard parser.offset == bytes.byteCount else { throw parser.error("text behind the value") }
    return value
  }

  func error(_ message: String) -> JSONSyntaxError {
    JSONSyntaxError(message: message, offset: offset)
  }

  /// The byte at the place of reading; nil at the end.
  var next: UInt8? {
    offset < bytes.byteCount ? bytes.byte(at: offset) : nil
  }

  mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      offset += 1
    }
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    offset += 1
    return true
  }

  private mutating func readValue(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    guard depth < Self.maximumDepth else { throw error("more than 64 levels of nesting") }
    guard values < mostValues else { throw error("more than \(mostValues) values") }
    values += 1
    guard let byte = next else { throw error("the text ends where a value should stand") }
    switch byte {
    case UInt8(ascii: "\""): return .string(try readString())
    case UInt8(ascii: "{"): return try readObject(depth: depth)
    case UInt8(ascii: "["): return try readArray(depth: depth)
    case UInt8(ascii: "t"): return try readWord("true", .bool(true))
    case UInt8(ascii: "f"): return try readWord("false", .bool(false))
    case UInt8(ascii: "n"): return try readWord("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try readNumber()
    default: throw error("no JSON value starts here")
    }
  }

  private mutating func readWord(
    _ word: StaticString, _ value: JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    let count = word.utf8CodeUnitCount
    guard count <= bytes.byteCount - offset,
      bytes.extracting(offset..<(offset + count)).equals(word)
    else { throw error("no JSON value starts here") }
    offset += count
    return value
  }

  private mutating func readObject(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    offset += 1
    var members: [JSONMember] = []
    skipSpace()
    if skip(UInt8(ascii: "}")) { return .object(members) }
    // An event has so many; what lies in it is small and may be there a million times.
    if depth == 0 { members.reserveCapacity(16) }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error("a key in quotes should stand here") }
      let key = try readString()
      skipSpace()
      guard skip(UInt8(ascii: ":")) else { throw error("a colon should stand behind the key") }
      skipSpace()
      let start = offset
      members.append(JSONMember(key, try readValue(depth: depth + 1), offset: start))
      skipSpace()
      if skip(UInt8(ascii: "}")) { return .object(members) }
      guard skip(UInt8(ascii: ",")) else { throw error("a comma or } should stand here") }
    }
  }

  private mutating func readArray(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    offset += 1
    var values: [JSONValue] = []
    skipSpace()
    if skip(UInt8(ascii: "]")) { return .array(values) }
    while true {
      skipSpace()
      values.append(try readValue(depth: depth + 1))
      skipSpace()
      if skip(UInt8(ascii: "]")) { return .array(values) }
      guard skip(UInt8(ascii: ",")) else { throw error("a comma or ] should stand here") }
    }
  }

  // MARK: Numbers

  private mutating func skipDigits() -> Int {
    let start = offset
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
    return offset - start
  }

  private mutating func readNumber() throws(JSONSyntaxError) -> JSONValue {
    let start = offset
    _ = skip(UInt8(ascii: "-"))
    let startsWithZero = next == UInt8(ascii: "0")
    let digits = skipDigits()
    guard digits > 0 else { throw error("a digit should stand here") }
    guard !startsWithZero || digits == 1 else {
      throw error("a number of several digits must not start with 0")
    }
    if skip(UInt8(ascii: ".")), skipDigits() == 0 { throw error("a digit should stand here") }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      offset += 1
      if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
      if skipDigits() == 0 { throw error("a digit should stand here") }
    }
    return .number(String(copying: bytes.extracting(start..<offset)))
  }
}
