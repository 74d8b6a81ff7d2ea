package import RepriseCore

extension JSONValue {
  /// The number of a whole number, be it written as `200.0`, or of a string of digits.
  package var lenientInteger: Int? {
    switch self {
    case .number(let digits): Int(digits) ?? Double(digits).flatMap { Int(exactly: $0) }
    case .string(let digits): Int(digits)
    case .null, .bool, .array, .object: nil
    }
  }

  /// The digits of an identifier, which may be a string or a number; nil when it is neither.
  package var identifier: String? {
    switch self {
    case .string(let text): text
    case .number(let digits): digits
    case .null, .bool, .array, .object: nil
    }
  }
}
