import ConformanceKit
import Driver

/// Which cases a user asked for.
enum CaseChoice {
  /// Reads the cases that are asked for by name, by file, by clause or by profile.
  /// - Parameters:
  ///   - arguments: What was typed.
  ///   - kind: What is driven by them.
  /// - Returns: The cases.
  /// - Throws: ``UsageError``, ``DriverError`` or ``ConformanceError``.
  static func cases(_ arguments: Arguments, _ kind: CaseKind) throws -> [DrivenCase] {
    let library = try CaseLibrary(kind)
    let profile =
      arguments.value(ConformBrokerCommand.profile).flatMap(DrivenCase.Profile.init) ?? .quick
    let typed = arguments.list(ConformBrokerCommand.cases)
    let files = typed.filter { $0.contains("/") || $0.hasSuffix(".json") }
    let own = try files.flatMap { try CaseLibrary.read(SmallFile.bytes($0, "--case"), kind, $0) }
    let named = try library.select(
      typed.filter { !files.contains($0) }, profile: typed.isEmpty ? profile : .full, own: own)
    return try matching(arguments.list(ConformRun.clause), named)
  }

  private static func matching(
    _ selectors: [String], _ cases: [DrivenCase]
  ) throws -> [DrivenCase] {
    guard !selectors.isEmpty else { return cases }
    let wanted = Set(try Catalogue.bundled().select(selectors).map { "\($0.spec)/\($0.id)" })
    let matching = cases.filter { one in
      one.standards.contains { standard in
        one.clauses(of: standard).contains { wanted.contains("\(standard)/\($0)") }
      }
    }
    guard !matching.isEmpty else {
      throw UsageError(
        "no case is for \(selectors.joined(separator: ", "))",
        "reprise conform list --cases shows what each is for")
    }
    return matching
  }
}
