/// A value of JSON (RFC 8259) that keeps the order of its keys and the digits of its numbers.
public enum JSONValue: Sendable, Hashable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number, as its digits stand in the text.
  case number(String)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object; of two equal keys, which are both here, ``subscript(_:)-(String)`` takes the last.
  case object([JSONMember])

  /// The value of a number that is an integer.
  public var integer: Int? {
    guard case .number(let digits) = self else { return nil }
    return Int(digits)
  }

  /// The value of a number, to the nearest that a `Double` has; nil as well for one beyond its range.
  public var double: Double? {
    guard case .number(let digits) = self, let value = Double(digits), value.isFinite else {
      return nil
    }
    return value
  }

  /// The value of `true` or `false`.
  public var bool: Bool? {
    guard case .bool(let value) = self else { return nil }
    return value
  }

  /// The text of a string.
  public var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The kind of value, as an error message names it.
  var kindName: StaticString {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// A key of an object with its value.
public struct JSONMember: Sendable {
  /// The key.
  public var key: String
  /// The value.
  public var value: JSONValue
  /// Where the value starts, in bytes from the start of the text; no part of the member's identity.
  public var offset: Int

  /// Creates a member.
  public init(_ key: String, _ value: JSONValue, offset: Int = 0) {
    self.key = key
    self.value = value
    self.offset = offset
  }
}

extension JSONMember: Hashable {
  /// Compares key and value; where they stood does not count.
  public static func == (lhs: JSONMember, rhs: JSONMember) -> Bool {
    lhs.key == rhs.key && lhs.value == rhs.value
  }

  /// Hashes key and value.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(value)
  }
}

extension JSONValue {
  /// Appends the value as JSON without white space.
  /// - Parameter bytes: Where to append UTF-8.
  public func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes.append("null")
    case .bool(let value): bytes.append(value)
    case .number(let digits): bytes.append(contentsOf: digits.utf8)
    case .string(let text): bytes.append(quoted: text)
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(quoted: member.key)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}
