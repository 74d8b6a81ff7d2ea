public import DataClient

extension JSONValue {
  /// The value of an object's member; of two equal keys the last counts, nil when there is none.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key == key }?.value
  }

  /// The value as JSON without white space.
  public var utf8: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// The number of a whole number, or of a string of digits.
  var lenientInteger: Int? {
    switch self {
    case .number(let digits), .string(let digits): Int(digits)
    case .null, .bool, .array, .object: nil
    }
  }

  /// The digits of an identifier, which may be a string or a number; nil when it is neither.
  var identifier: String? {
    switch self {
    case .string(let text): text
    case .number(let digits): digits
    case .null, .bool, .array, .object: nil
    }
  }
}
