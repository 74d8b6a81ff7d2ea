import ConformanceKit

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads one entry as it stands in a catalogue.
func decodeClause(_ json: String) throws -> Clause {
  try JSONDecoder().decode(Clause.self, from: Data(json.utf8))
}
