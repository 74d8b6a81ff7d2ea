package import RepriseCore

/// A field of something that was said on both sides, and not in the same way.
package struct FieldDifference: Sendable, Hashable {
  /// Where it stands, such as `payload.temperature` or `filters[0].qos`.
  package let place: String
  /// Its value on the first side; nil where it is not there.
  package let a: JSONValue?
  /// Its value on the second side; nil where it is not there.
  package let b: JSONValue?
}

extension FieldDifference {
  /// Returns what differs between two forms; nothing where they mean the same, as far as both can be read.
  static func all(_ a: JSONValue, _ b: JSONValue) -> [FieldDifference] {
    var differences: [FieldDifference] = []
    compare(a, b, at: "", into: &differences)
    return differences
  }

  private static func compare(
    _ a: JSONValue, _ b: JSONValue, at place: String, into differences: inout [FieldDifference]
  ) {
    switch (a, b) {
    case (.object(let members), .object(let others)):
      let (values, otherValues) = (dictionary(members), dictionary(others))
      for key in Set(values.keys).union(otherValues.keys).sorted() {
        let inner = place.isEmpty ? key : "\(place).\(key)"
        compare(values[key], otherValues[key], at: inner, into: &differences)
      }
    case (.array(let values), .array(let others)):
      for index in 0..<max(values.count, others.count) {
        compare(a[index], b[index], at: "\(place)[\(index)]", into: &differences)
      }
    default:
      if !a.means(b) { differences.append(FieldDifference(place: place, a: a, b: b)) }
    }
  }

  private static func compare(
    _ a: JSONValue?, _ b: JSONValue?, at place: String, into differences: inout [FieldDifference]
  ) {
    switch (a, b) {
    case (let a?, let b?): compare(a, b, at: place, into: &differences)
    // Whether something was wrong with a packet is not seen any more where a secret of it is hidden.
    case (.string(RedactionRules.mark)?, nil) where place == "errors": return
    case (nil, .string(RedactionRules.mark)?) where place == "errors": return
    case (.object?, nil) where place == "properties", (nil, .object?) where place == "properties":
      compare(a ?? .object([]), b ?? .object([]), at: place, into: &differences)
    default: differences.append(FieldDifference(place: place, a: a, b: b))
    }
  }

  private static func dictionary(_ members: [JSONMember]) -> [String: JSONValue] {
    Dictionary(members.map { ($0.key, $0.value) }) { $1 }
  }
}
