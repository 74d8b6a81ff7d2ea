import ConformanceKit
import RepriseCore

/// Says which entries of a baseline are mended, by judging their subjects alone.
///
/// This reads the files again: once to find whose connections are whose, and once for each subject.
enum MendedEntries {
  /// Finds those that are mended: their subjects had what their clauses speak of, and it was decided each time; or they
  /// are not there any more, as where a capture was taken anew.
  /// - Parameters:
  ///   - entries: The entries that nothing matches.
  ///   - run: The pass over the files.
  ///   - judging: How they were judged.
  /// - Returns: The entries; none where the files can't be read again.
  /// - Throws: ``ConformanceError`` or ``Interrupted``.
  static func find(
    _ entries: [Baseline.Entry], in run: InputRun, _ judging: ConformanceOptions
  ) throws -> Set<Baseline.Entry> {
    guard !run.files.contains("-") else { return [] }
    var search = SubjectSearch(finder: SubjectFinder(entries, redaction: judging.redaction))
    // What can't be read any more was told when it was judged.
    guard try run.readSilently(into: &search) == 0 else { return [] }
    var mended: Set<Baseline.Entry> = []
    for (subject, entries) in Dictionary(grouping: entries, by: \.subject) {
      let connections = search.finder.connections(of: subject)
      if connections.isEmpty, judging.connections == nil {
        mended.formUnion(entries)
        continue
      }
      var options = judging
      options.clauses = Set(entries.map(\.clause)).sorted()
      options.listsEachKind = false
      options.connections = common(connections, judging.connections)
      let report = try ConformFiles(run, options, nil).judge()
      guard report.unread.isEmpty else { continue }
      mended.formUnion(entries.filter(report.decides))
    }
    return mended
  }

  /// The connections that both name.
  private static func common(
    _ connections: [String: Set<Int>], _ wanted: [String: Set<Int>]?
  ) -> [String: Set<Int>] {
    guard let wanted else { return connections }
    return wanted.reduce(into: [:]) { all, file in
      all[file.key] = file.value.intersection(connections[file.key] ?? [])
    }
  }
}

/// Hands the events of the files to a finder.
private struct SubjectSearch: SessionConsumer {
  var finder: SubjectFinder

  mutating func beginFile(_ name: String) { finder.begin(file: name) }

  mutating func consume(_ event: borrowing EventView) { finder.consume(event) }

  mutating func endFile() { finder.endFile() }
}
