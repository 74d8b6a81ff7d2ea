/// The keys of one object in a recording's line, read with errors that name their place.
struct RecordingFields {
  let members: [JSONMember]
  let line: Int
  /// Where the object starts in the line, in bytes from 0.
  let offset: Int

  /// The largest number that every reader of JSON takes exactly (RFC 8259 section 6), and small
  /// enough for whoever adds such numbers up.
  static let maximumInteger = 1 << 53

  init(_ members: [JSONMember], line: Int, offset: Int = 0) {
    self.members = members
    self.line = line
    self.offset = offset
  }

  func member(_ key: String) -> JSONMember? {
    for member in members where member.key == key { return member }
    return nil
  }

  func value(_ key: String) -> JSONValue? { member(key)?.value }

  /// The column of a key's value; without the key, that of the object.
  func column(of key: String) -> Int { (member(key)?.offset ?? offset) + 1 }

  // MARK: Errors

  func wrong(_ key: String, _ message: String) -> RecordingError {
    RecordingError(
      .wrongValue, "\"\(key)\" \(message)", line: line, column: column(of: key),
      remedy: "correct the line or record again")
  }

  private func required(_ key: String) throws(RecordingError) -> JSONMember {
    guard let member = member(key) else {
      throw RecordingError(
        .missingKey, "the key \"\(key)\" is missing", line: line, column: offset + 1,
        remedy: "correct the line or record again")
    }
    return member
  }

  // MARK: Plain values

  func string(_ key: String) throws(RecordingError) -> String {
    guard let text = try required(key).value.text else {
      throw wrong(key, "is \(kind(key)), not a string")
    }
    return text
  }

  func optionalString(_ key: String) throws(RecordingError) -> String? {
    value(key) == nil ? nil : try string(key)
  }

  func integer(
    _ key: String, in range: ClosedRange<Int> = 0...maximumInteger
  ) throws(RecordingError) -> Int {
    guard let value = try required(key).value.integer else {
      throw wrong(key, "is \(kind(key)), not a whole number")
    }
    guard range.contains(value) else {
      throw wrong(key, "is not in \(range.lowerBound)...\(range.upperBound)")
    }
    return value
  }

  func byte(_ key: String) throws(RecordingError) -> UInt8 {
    UInt8(truncatingIfNeeded: try integer(key, in: 0...0xFF))
  }

  func uint16(_ key: String) throws(RecordingError) -> UInt16 {
    UInt16(truncatingIfNeeded: try integer(key, in: 0...0xFFFF))
  }

  func bool(_ key: String) throws(RecordingError) -> Bool {
    guard case .bool(let value) = try required(key).value else {
      throw wrong(key, "is \(kind(key)), not true or false")
    }
    return value
  }

  /// A flag that is left out when it is false.
  func flag(_ key: String) throws(RecordingError) -> Bool {
    value(key) == nil ? false : try bool(key)
  }

  func time(_ key: String) throws(RecordingError) -> Timestamp {
    guard let time = Timestamp(try string(key)) else {
      throw wrong(key, "is no time such as 2026-11-21T07:39:01.123456Z")
    }
    return time
  }

  private func kind(_ key: String) -> StaticString { value(key)?.kindName ?? "missing" }

  // MARK: Bytes, lists and objects

  /// Bytes as `{"utf8":…}` or `{"base64":…}`; a plain string, such as a hidden secret, is its UTF-8.
  func data(_ key: String) throws(RecordingError) -> [UInt8] {
    let member = try required(key)
    guard let data = RecordingFields.data(member.value) else {
      throw wrong(key, "is neither {\"utf8\":…} nor {\"base64\":…} of canonical base 64")
    }
    return data
  }

  static func data(_ value: JSONValue) -> [UInt8]? {
    switch value {
    case .string(let text): return Array(text.utf8)
    case .object(let members):
      for member in members {
        guard case .string(let text) = member.value else { continue }
        if member.key == "utf8" { return Array(text.utf8) }
        if member.key == "base64" { return Base64.decode(text) }
      }
      return nil
    case .null, .bool, .number, .array: return nil
    }
  }

  func optionalObject(_ key: String) throws(RecordingError) -> RecordingFields? {
    guard let member = member(key) else { return nil }
    guard case .object(let members) = member.value else {
      throw wrong(key, "is \(kind(key)), not an object")
    }
    return RecordingFields(members, line: line, offset: member.offset)
  }

  func object(_ key: String) throws(RecordingError) -> RecordingFields {
    _ = try required(key)
    return try optionalObject(key) ?? RecordingFields([], line: line, offset: offset)
  }

  /// An array; empty when it is left out.
  func array(_ key: String) throws(RecordingError) -> [JSONValue] {
    guard let value = value(key) else { return [] }
    guard case .array(let values) = value else {
      throw wrong(key, "is \(kind(key)), not an array")
    }
    return values
  }

  func strings(_ key: String) throws(RecordingError) -> [String] {
    var result: [String] = []
    for value in try array(key) {
      guard let text = value.text else { throw wrong(key, "holds something that is no string") }
      result.append(text)
    }
    return result
  }

  func bytes(_ key: String) throws(RecordingError) -> [UInt8] {
    var result: [UInt8] = []
    for value in try array(key) {
      guard let byte = value.integer.flatMap(UInt8.init(exactly:)) else {
        throw wrong(key, "holds something that is not in 0...255")
      }
      result.append(byte)
    }
    return result
  }
}
