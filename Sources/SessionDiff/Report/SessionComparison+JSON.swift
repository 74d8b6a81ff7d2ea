package import RepriseCore

extension SessionComparison {
  /// Returns what differs as one object of JSON.
  /// - Parameters:
  ///   - a: The name of the first file.
  ///   - b: The name of the second file.
  /// - Returns: The object.
  package func json(_ a: String, _ b: String) -> JSONValue {
    let counts = Difference.Kind.allCases.map { JSONMember($0.rawValue, (totals[$0] ?? 0).json) }
    let summary: [JSONMember] =
      [
        JSONMember("same", isSame.json), JSONMember("connections", count.json),
        JSONMember("matched", matched.json), JSONMember("connections-only-in-a", unmatched.a.json),
        JSONMember("connections-only-in-b", unmatched.b.json),
      ] + counts + [
        JSONMember("unknown", unknown.json),
        JSONMember("connections-unknown", unknownConnections.json),
      ]
    return JSONValue([
      "a": a, "b": b, "connections": connections.map(\.json), "summary": JSONValue.object(summary),
    ])
  }
}

extension ConnectionDifferences {
  fileprivate var json: JSONValue {
    var members = [JSONMember("a", a?.json ?? .null), JSONMember("b", b?.json ?? .null)]
    guard !isOneSided else {
      return .object(members + (mayBeInBoth ? [JSONMember("unknown", true)] : []))
    }
    members.append(JSONMember("differences", differences.map(\.json).json))
    if !unknown.isEmpty {
      members.append(JSONMember("losses", losses.map(\.event).json))
      members.append(JSONMember("unknown", unknown.map(\.event).json))
    }
    if isRough { members.append(JSONMember("rough", true)) }
    if isCut { members.append(JSONMember("cut", true)) }
    return .object(members)
  }
}

extension ConnectionDifferences.Side {
  fileprivate var json: JSONValue {
    var members = [JSONMember("connection", number.json), JSONMember("protocol", wire.json)]
    if let clientID { members.append(JSONMember("clientID", clientID.json)) }
    return .object(members + [JSONMember("frame", frame.json), JSONMember("events", items.json)])
  }
}

extension Difference {
  fileprivate var json: JSONValue {
    var members = [
      JSONMember("kind", kind.rawValue.json), JSONMember("a", a?.event ?? .null),
      JSONMember("b", b?.event ?? .null),
    ]
    if !fields.isEmpty { members.append(JSONMember("fields", fields.map(\.json).json)) }
    if let asked { members.append(JSONMember("answers", asked.event)) }
    return .object(members)
  }
}

extension FieldDifference {
  fileprivate var json: JSONValue {
    // What is not there has no key: null is a value of its own.
    let values = [a.map { JSONMember("a", $0) }, b.map { JSONMember("b", $0) }].compactMap(\.self)
    return .object([JSONMember("field", place.json)] + values)
  }
}

extension Utterance {
  /// The event, as `inspect` shows it.
  fileprivate var event: JSONValue { JSONValue(parsing: json) ?? .null }
}
