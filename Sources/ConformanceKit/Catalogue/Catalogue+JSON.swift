internal import RepriseCore

extension Catalogue {
  /// Returns clauses as JSON for programs: an array of objects, one a line.
  /// - Parameters:
  ///   - specs: The standards; nil is all of them.
  ///   - section: A section, with or without its standard; nil is all of them.
  /// - Returns: Of each clause its identifier, standard, section, level, actor, status and summary.
  /// - Throws: ``ConformanceError`` for what is not in the catalogue.
  public func json(
    specs: Set<String>? = nil, section: String? = nil
  ) throws(ConformanceError) -> String {
    let rows = try select(specs: specs, section.map { [$0] } ?? [])
    let lines = rows.map { clause in
      JSONValue.object([
        JSONMember("id", .string(clause.id)), JSONMember("spec", .string(clause.spec)),
        JSONMember("section", .string(clause.section)),
        JSONMember("level", .string(clause.level.rawValue)),
        JSONMember("actor", .string(clause.actor.rawValue)),
        JSONMember("status", .string(clause.status.rawValue)),
        JSONMember("summary", .string(clause.summary)),
      ]).description
    }
    return "[\n" + lines.joined(separator: ",\n") + "\n]\n"
  }
}
