extension JSONValue {
  /// The value with `***` in the place of what is a secret by its name: `iotToken`, `sign`, `deviceSecret`.
  public var hidingSecrets: JSONValue {
    switch self {
    case .null, .bool, .number, .string: self
    case .array(let values): .array(values.map(\.hidingSecrets))
    case .object(let members): .object(members.map(\.hidingSecret))
    }
  }
}

extension JSONMember {
  fileprivate var hidingSecret: JSONMember {
    switch value {
    case .string, .number:
      let name = Array(key.utf8)
      let isSecret = name.withUnsafeBytes { SecretKeys.contain($0) }
      return isSecret ? JSONMember(key, .string(RedactionRules.mark), offset: offset) : self
    case .null, .bool, .array, .object:
      return JSONMember(key, value.hidingSecrets, offset: offset)
    }
  }
}
