import RepriseCore

extension LinkServiceRules {
  /// Takes rules from JSON.
  init(_ value: JSONValue, path: String) throws(SimulatorError) {
    let fields = try ScriptFields(
      value, path: path,
      keys: ["tokens", "lostChannels", "refusedChannels", "lostTopics", "refusedTopics"])
    self.init()
    for member in try fields.members("tokens") {
      let token = try ScriptFields(
        member.value, path: "\(path).tokens.\(member.key)", keys: ["code", "reason", "lifetime"])
      tokens[member.key] = Token(
        code: try token.integer("code", in: 0...(.max)) ?? 0,
        reason: try token.integer("reason", in: 0...(.max)),
        lifetime: try token.seconds("lifetime") ?? .seconds(86_400))
    }
    lostChannels = Set(try fields.texts("lostChannels").map(\.text))
    refusedChannels = try Self.codes(fields, "refusedChannels", path)
    lostTopics = Set(try fields.texts("lostTopics").map(\.text))
    refusedTopics = try Self.codes(fields, "refusedTopics", path)
  }

  private static func codes(
    _ fields: ScriptFields, _ key: String, _ path: String
  ) throws(SimulatorError) -> [String: Int] {
    var codes: [String: Int] = [:]
    for member in try fields.members(key) {
      guard let code = member.value.integer, code > 0 else {
        throw ScriptFields.error(
          "\(path).\(key).\(member.key)", "must be a whole number, 1 or more")
      }
      codes[member.key] = code
    }
    return codes
  }
}
