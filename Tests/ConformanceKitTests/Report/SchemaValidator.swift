import RepriseCore

/// Checks JSON against a schema, by those keywords of JSON Schema that ours use; another one is a complaint.
struct SchemaValidator {
  private let root: JSONValue

  init(_ schema: JSONValue) { root = schema }

  /// What is wrong with a value, each with its place.
  func complaints(about value: JSONValue) -> [String] { check(value, root, "") }

  private func check(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    guard case .object(let keywords) = schema else { return ["\(place): the schema is no object"] }
    return keywords.flatMap { check(value, $0.key, $0.value, schema, place) }
  }

  private func check(
    _ value: JSONValue, _ keyword: String, _ argument: JSONValue, _ schema: JSONValue,
    _ place: String
  ) -> [String] {
    switch keyword {
    case "$schema", "title", "description", "$defs": return []
    case "$ref":
      let name = (argument.text ?? "").split(separator: "/").last.map(String.init) ?? ""
      guard let target = root["$defs"]?[name] else { return ["\(place): no definition \(name)"] }
      return check(value, target, place)
    case "type":
      let names = argument.elements?.compactMap(\.text) ?? [argument.text ?? ""]
      return names.contains { Self.isOf(value, $0) } ? [] : ["\(place): is no \(names)"]
    case "const": return value == argument ? [] : ["\(place): is not \(argument)"]
    case "enum":
      return argument.elements?.contains(value) == true ? [] : ["\(place): \(value) is no choice"]
    case "minimum":
      return (value.integer ?? .min) >= (argument.integer ?? 0) ? [] : ["\(place): is too small"]
    case "pattern":
      guard let text = value.text, let pattern = argument.text,
        let expression = try? Regex(pattern)
      else { return ["\(place): has no pattern"] }
      return text.firstMatch(of: expression) == nil ? ["\(place): \(text) is no \(pattern)"] : []
    case "required":
      return (argument.elements ?? []).compactMap(\.text).filter { value[$0] == nil }
        .map { "\(place): \($0) is missing" }
    case "items":
      return (value.elements ?? []).enumerated().flatMap {
        check($0.element, argument, "\(place)/\($0.offset)")
      }
    case "properties": return checkMembers(value, argument, place)
    case "additionalProperties":
      guard case .object(let members) = value else { return [] }
      return members.filter { schema["properties"]?[$0.key] == nil }
        .map { "\(place): there is no \($0.key)" }
    default: return ["\(place): the keyword \(keyword) is not known"]
    }
  }

  private func checkMembers(
    _ value: JSONValue, _ properties: JSONValue, _ place: String
  ) -> [String] {
    guard case .object(let members) = value else { return [] }
    return members.flatMap { member -> [String] in
      guard let schema = properties[member.key] else { return [] }
      return check(member.value, schema, "\(place)/\(member.key)")
    }
  }

  private static func isOf(_ value: JSONValue, _ type: String) -> Bool {
    switch value {
    case .null: type == "null"
    case .bool: type == "boolean"
    case .number: type == "number" || type == "integer" && value.integer != nil
    case .string: type == "string"
    case .array: type == "array"
    case .object: type == "object"
    }
  }
}
