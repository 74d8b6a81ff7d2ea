/// What tells a clause from all others: two versions of MQTT give one identifier to different clauses.
struct ClauseKey: Hashable, Sendable {
  var spec: String
  var id: String
}

extension Clause {
  /// What tells the clause from all others.
  var key: ClauseKey { ClauseKey(spec: spec, id: id) }
}
