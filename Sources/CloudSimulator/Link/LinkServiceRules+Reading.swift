import RepriseCore

extension LinkServiceRules {
  /// Takes rules from JSON.
  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path, keys: ["tokens", "lostChannels", "refusedChannels"])
    self.init()
    for member in try Self.members(fields, "tokens") {
      let token = try ScriptFields(
        member.value, path: "\(path).tokens.\(member.key)", keys: ["code", "reason", "lifetime"])
      tokens[member.key] = Token(
        code: try token.integer("code", in: 0...(.max)) ?? 0,
        reason: try token.integer("reason", in: 0...(.max)),
        lifetime: try token.seconds("lifetime") ?? .seconds(86_400))
    }
    for element in try fields.elements("lostChannels") {
      guard let channel = element.value.text else {
        throw ScriptFields.error(element.path, "must be a string")
      }
      lostChannels.insert(channel)
    }
    for member in try Self.members(fields, "refusedChannels") {
      guard let code = member.value.integer, code > 0 else {
        throw ScriptFields.error(
          "\(path).refusedChannels.\(member.key)", "must be a whole number, 1 or more")
      }
      refusedChannels[member.key] = code
    }
  }

  private static func members(
    _ fields: ScriptFields, _ key: String
  ) throws(SimulatorError) -> [JSONMember] {
    guard let value = fields.value(key) else { return [] }
    guard case .object(let members) = value else { throw fields.error(key, "must be an object") }
    return members
  }
}
