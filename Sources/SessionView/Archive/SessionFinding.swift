package import ConformanceKit
package import RepriseCore

/// A finding with its clause, and the event that it is about.
package struct SessionFinding: Sendable {
  /// The clause that is violated.
  var clause: Clause
  /// What was found.
  package var finding: Finding
  /// The place of the event in the archive; nil where that is not known.
  package var event: Int?

  /// Creates a finding, and finds its event.
  ///
  /// A frame can have several events: the one is meant whose line is that of the finding.
  /// - Parameters:
  ///   - clause: The clause.
  ///   - finding: The finding.
  ///   - archive: The events.
  ///   - redaction: What the finding's line does not tell.
  package init(
    _ clause: Clause, _ finding: Finding, in archive: SessionArchive,
    hiding redaction: RedactionRules
  ) {
    self.clause = clause
    self.finding = finding
    let writer = EventJSONWriter(hiding: redaction, file: finding.file)
    let candidates = archive.events(ofFrame: finding.frame, connection: finding.connection)
    event =
      candidates.count < 2
      ? candidates.first
      : candidates.first { index in
        archive.withEvent(at: index) { event in
          var line: [UInt8] = []
          writer.append(event, to: &line)
          return line == finding.packet
        } ?? false
      } ?? candidates.first
  }
}

extension ConformanceReport {
  /// The findings of all clauses with their events, in the order of these.
  /// - Parameters:
  ///   - archive: The events.
  ///   - redaction: What the findings do not tell.
  /// - Returns: The findings.
  package func findings(
    in archive: SessionArchive, hiding redaction: RedactionRules
  ) -> [SessionFinding] {
    results.flatMap { result in
      result.findings.map {
        SessionFinding(result.clause, $0, in: archive, hiding: redaction)
      }
    }
    .sorted { ($0.finding.frame, $0.event ?? .max) < ($1.finding.frame, $1.event ?? .max) }
  }
}
