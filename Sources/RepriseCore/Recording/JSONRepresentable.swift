/// A value of Swift that JSON has a form for.
public protocol JSONRepresentable {
  /// The value as JSON.
  var json: JSONValue { get }
}

extension JSONValue: JSONRepresentable {
  /// The value itself.
  public var json: JSONValue { self }

  /// Creates an object of values, with its members in their order.
  /// - Parameter members: The members.
  public init(_ members: KeyValuePairs<String, any JSONRepresentable>) {
    self = .object(members.map { JSONMember($0.key, $0.value.json) })
  }
}

extension String: JSONRepresentable {
  /// The text as JSON.
  public var json: JSONValue { .string(self) }
}

extension Bool: JSONRepresentable {
  /// `true` or `false`.
  public var json: JSONValue { .bool(self) }
}

extension Int: JSONRepresentable {
  /// The number, all of its digits.
  public var json: JSONValue { .number(String(self)) }
}

extension Double: JSONRepresentable {
  /// The number, as short as it can be told from others; null for what is no number, as JSON has no form for it.
  public var json: JSONValue { isFinite ? .number(description) : .null }
}

extension Array: JSONRepresentable where Element: JSONRepresentable {
  /// The elements in their order.
  public var json: JSONValue { .array(map(\.json)) }
}

extension Dictionary: JSONRepresentable where Key == String, Value: JSONRepresentable {
  /// The members by their names, so that the same dictionary is always the same text.
  public var json: JSONValue {
    .object(sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value.json) })
  }
}

extension Optional: JSONRepresentable where Wrapped: JSONRepresentable {
  /// The value, or null.
  public var json: JSONValue { map(\.json) ?? .null }
}
