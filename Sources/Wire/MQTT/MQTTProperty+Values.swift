extension [MQTTProperty] {
  /// The number of a property, where it first stands.
  package func integer(_ id: MQTTPropertyID) -> Int? {
    guard case .integer(let value) = first(where: { $0.id == id })?.value else { return nil }
    return value
  }

  /// The text of a property, where it first stands.
  package func string(_ id: MQTTPropertyID) -> String? {
    guard case .string(let value) = first(where: { $0.id == id })?.value else { return nil }
    return value
  }
}
