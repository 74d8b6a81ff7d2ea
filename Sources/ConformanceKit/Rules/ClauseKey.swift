/// What tells a clause from all others: two versions of MQTT give one identifier to different clauses.
struct ClauseKey: Hashable, Sendable, CustomStringConvertible {
  var spec: String
  var id: String

  /// The clause with its standard: `mqtt-3.1.1/MQTT-3.8.3-3`.
  var description: String { "\(spec)/\(id)" }
}

extension Clause {
  /// What tells the clause from all others.
  var key: ClauseKey { ClauseKey(spec: spec, id: id) }
}
