import RepriseCore

extension LinkServiceRules {
  /// Takes rules from JSON.
  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path,
      keys: ["tokens", "lostChannels", "refusedChannels", "lostTopics", "refusedTopics"])
    self.init()
    for member in try Self.members(fields, "tokens") {
      let token = try ScriptFields(
        member.value, path: "\(path).tokens.\(member.key)", keys: ["code", "reason", "lifetime"])
      tokens[member.key] = Token(
        code: try token.integer("code", in: 0...(.max)) ?? 0,
        reason: try token.integer("reason", in: 0...(.max)),
        lifetime: try token.seconds("lifetime") ?? .seconds(86_400))
    }
    lostChannels = try Self.names(fields, "lostChannels")
    refusedChannels = try Self.codes(fields, "refusedChannels", path)
    lostTopics = try Self.names(fields, "lostTopics")
    refusedTopics = try Self.codes(fields, "refusedTopics", path)
  }

  private static func names(
    _ fields: ScriptFields, _ key: String
  ) throws(SimulatorError) -> Set<String> {
    var names: Set<String> = []
    for element in try fields.elements(key) {
      guard let name = element.value.text else {
        throw ScriptFields.error(element.path, "must be a string")
      }
      names.insert(name)
    }
    return names
  }

  private static func codes(
    _ fields: ScriptFields, _ key: String, _ path: String
  ) throws(SimulatorError) -> [String: Int] {
    var codes: [String: Int] = [:]
    for member in try members(fields, key) {
      guard let code = member.value.integer, code > 0 else {
        throw ScriptFields.error(
          "\(path).\(key).\(member.key)", "must be a whole number, 1 or more")
      }
      codes[member.key] = code
    }
    return codes
  }

  private static func members(
    _ fields: ScriptFields, _ key: String
  ) throws(SimulatorError) -> [JSONMember] {
    guard let value = fields.value(key) else { return [] }
    guard case .object(let members) = value else { throw fields.error(key, "must be an object") }
    return members
  }
}
