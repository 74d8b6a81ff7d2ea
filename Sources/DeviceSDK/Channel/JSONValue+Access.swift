import DataClient

extension JSONValue {
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
