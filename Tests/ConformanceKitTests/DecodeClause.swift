import RepriseCore

@testable import ConformanceKit

/// Reads one entry as it stands in a standard's catalogue.
func decodeClause(_ json: String, of spec: String = "mqtt-3.1.1") throws -> Clause {
  try Clause(JSONValue.read(Array(json.utf8)), of: spec)
}
