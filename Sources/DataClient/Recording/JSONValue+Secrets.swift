extension JSONValue {
  /// The value with `***` in the place of what is a secret by its name: `iotToken`, `sign`, `deviceSecret`;
  /// also in strings that are JSON themselves.
  public var hidingSecrets: JSONValue {
    switch self {
    case .null, .bool, .number: self
    case .string(let text): .string(text.hidingSecrets)
    case .array(let values): .array(values.map(\.hidingSecrets))
    case .object(let members): .object(members.map(\.hidingSecret))
    }
  }
}

extension JSONMember {
  fileprivate var hidingSecret: JSONMember {
    let name = Array(key.utf8)
    let isSecret = name.withUnsafeBytes { SecretKeys.contain($0) }
    switch value {
    case .string, .number, .array, .object:
      let shown = isSecret ? .string(RedactionRules.mark) : value.hidingSecrets
      return JSONMember(key, shown, offset: offset)
    // They tell nothing.
    case .null, .bool: return self
    }
  }
}
