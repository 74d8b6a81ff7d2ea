import Wire

extension FilterParser {
  /// Reads a comparison from its sign on.
  mutating func readValue(
    of field: FilterField, _ comparison: FilterComparison
  ) throws(FilterError) -> FilterExpression {
    let sign = next
    guard field.comparisons.contains(comparison) else {
      let signs = field.comparisons.map(\.rawValue).joined(separator: " ")
      throw error("\(field.rawValue) is compared by \(signs)", at: sign.column)
    }
    advance()
    if field.kind == .flag { return try readFlag(field, comparison) }
    let value = try readValue(of: field)
    if case .reason(let reason) = value, comparison != .equal, comparison != .notEqual {
      throw error("'\(reason.name)' is a name, which is compared by == !=", at: sign.column)
    }
    if comparison == .matches {
      guard field == .topic else { return .comparison(field, .contains, value) }
      try check(filter: value)
    }
    return .comparison(field, comparison, value)
  }

  /// Reads `in [A, B, C]` from `in` on.
  mutating func readList(of field: FilterField) throws(FilterError) -> FilterExpression {
    let isList = field.kind != .flag
    return .isAny(
      field,
      of: try readList(isPossible: isList) { parser throws(FilterError) in
        try parser.readValue(of: field)
      })
  }

  /// Reads the values of `in [A, B, C]` from `in` on; there is at least one.
  private mutating func readList<Value>(
    isPossible: Bool = true, _ read: (inout FilterParser) throws(FilterError) -> Value
  ) throws(FilterError) -> [Value] {
    advance()
    guard next.kind == .listOpening, isPossible else {
      throw error("write in [A, B] with the values to choose from")
    }
    advance()
    var values = [try read(&self)]
    while next.kind == .comma {
      advance()
      values.append(try read(&self))
    }
    guard next.kind == .listClosing else { throw error("a , or ] is missing here") }
    advance()
    return values
  }

  /// Reads the comparison of a payload's member, from its sign or `in` on.
  mutating func readMember(
    _ member: FilterMember, _ name: String
  ) throws(FilterError) -> FilterExpression {
    if case .word("in") = next.kind {
      let values = try readList { parser throws(FilterError) in try parser.readMemberValue(name) }
      return values.dropFirst().reduce(.member(member, .equal, values[0])) {
        .or($0, .member(member, .equal, $1))
      }
    }
    let comparison: FilterComparison
    switch next.kind {
    case .comparison(let sign): comparison = sign == .matches ? .contains : sign
    case .word("contains"): comparison = .contains
    default:
      let signs = FilterComparison.allCases.map(\.rawValue).joined(separator: " ")
      throw error("compare \(name) by \(signs) or in [...]")
    }
    advance()
    return .member(member, comparison, try readMemberValue(name))
  }

  private mutating func readMemberValue(_ name: String) throws(FilterError) -> FilterMember.Value {
    let value: FilterMember.Value
    switch next.kind {
    case .word(let word): value = FilterMember.Value(word: word)
    case .text(let text): value = .text(text)
    default: throw error("a value for \(name) should stand here")
    }
    advance()
    return value
  }

  /// Reads a word that is no field: the name of a type stands for `type == NAME`.
  func readBareType(_ word: String, at column: Int) throws(FilterError) -> FilterExpression {
    if let type = FilterEventType(name: word.uppercased()) {
      return .comparison(.type, .equal, .type(type))
    }
    let names = FilterField.allCases.map(\.rawValue) + FilterEventType.names
    let nearest = NearestName.find(word, in: names).map { "; did you mean \($0)?" } ?? ""
    throw error("'\(word)' is neither a field nor a type of event\(nearest)", at: column)
  }

  private mutating func readFlag(
    _ field: FilterField, _ comparison: FilterComparison
  ) throws(FilterError) -> FilterExpression {
    guard case .word(let word) = next.kind, ["true", "false"].contains(word) else {
      throw error("\(field.rawValue) is true or false")
    }
    advance()
    return .flag(field, is: (word == "true") == (comparison == .equal))
  }

  private mutating func readValue(of field: FilterField) throws(FilterError) -> FilterValue {
    let token = next
    let written: String
    switch token.kind {
    case .word(let word): written = word
    case .text(let text): written = text
    // What binds conditions elsewhere is a plain word behind a comparison.
    default: throw error("a value for \(field.rawValue) should stand here")
    }
    advance()
    switch field.kind {
    case .text: return .text(Array(written.utf8))
    case .number:
      if field == .code, let reason = FilterReason(written) { return .reason(reason) }
      return .number(try number(written, field, at: token.column))
    case .time:
      if let time = FilterTime(written) { return time.value }
      throw error(
        "'\(written)' is no time such as 2026-11-21T07:39:01Z, 07:39:01.5 or +2s",
        at: token.column)
    case .name(let names): return try name(written, field, names, at: token.column)
    case .flag: throw error("\(field.rawValue) is true or false", at: token.column)
    }
  }

  private func number(
    _ text: String, _ field: FilterField, at column: Int
  ) throws(FilterError) -> Int {
    let value = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    guard let value else {
      if field == .code, let nearest = FilterReason.nearest(to: text) {
        throw error("'\(text)' is no code; did you mean \(nearest)?", at: column)
      }
      let names = field == .code ? ", or a name such as not-authorized" : ""
      throw error("\(field.rawValue) is a number such as 5 or 0x87\(names)", at: column)
    }
    return value
  }

  private func name(
    _ text: String, _ field: FilterField, _ names: [String], at column: Int
  ) throws(FilterError) -> FilterValue {
    if let name = names.first(where: { $0.lowercased() == text.lowercased() }) {
      if let type = FilterEventType(name: name), field == .type { return .type(type) }
      if let peer = Peer(rawValue: name), field == .from { return .peer(peer) }
      if let carrier = Carrier(rawValue: name) {
        return field == .over ? .carrier(carrier) : .webSocket
      }
      if name == "\(WireProtocol.http.name)" { return .http }
      if name == "\(WireProtocol.tls.name)" { return .tls }
      return .version(MQTTVersion(name: name))
    }
    let nearest = NearestName.find(text, in: names).map { "did you mean \($0)? " } ?? ""
    let all = names.joined(separator: ", ")
    throw error("'\(text)' is no \(field.rawValue); \(nearest)there are \(all)", at: column)
  }

  /// A topic filter that MQTT does not allow would match by chance.
  private func check(filter value: FilterValue) throws(FilterError) {
    guard case .text(let bytes) = value else { return }
    let misplaced = MQTTTopicFilter.misplacedWildcards(in: bytes.span.bytes)
    let last = Int.max
    switch (misplaced.multiLevel ?? last, misplaced.singleLevel ?? last) {
    case (last, last): return
    case (let multiLevel, let singleLevel) where multiLevel < singleLevel:
      throw previous("# must stand alone in the last level of a filter")
    default: throw previous("+ must fill a whole level of a filter")
    }
  }
}
