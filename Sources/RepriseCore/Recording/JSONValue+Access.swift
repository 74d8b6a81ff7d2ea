extension JSONValue {
  /// The value of an object's member; of two equal keys the last counts, nil when there is none.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key == key }?.value
  }

  /// An element of an array, by its place from 0; nil when there is none.
  public subscript(index: Int) -> JSONValue? {
    guard let elements, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The elements of an array; nil for anything else.
  public var elements: [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  /// The value as JSON without white space.
  public var utf8: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON without white space.
  public var description: String { String(decoding: utf8, as: UTF8.self) }
}
