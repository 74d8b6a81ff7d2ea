import ConformanceKit
package import RepriseCore
package import Statistics

/// A session as it is looked at: its events, and what was found in them.
package struct ViewedSession: Sendable {
  /// The name of the file, or of the interface.
  package let file: String
  /// What is not shown.
  package let redaction: RedactionRules
  /// The options by which the file is read, as words of a command: one that shows the same again has them, too.
  package var options: [String] = []
  /// The events.
  package var archive: SessionArchive
  /// Whether more of it is read.
  package var isReading = false
  /// The findings, in the order of the events.
  package private(set) var findings: [SessionFinding] = []
  /// How many violations are not among the findings: of a clause there are too many.
  package var untoldFindings = 0
  /// The places of the findings of each event that has some.
  private var findingsOfEvents: [Int: [Int]] = [:]

  /// Creates a session without events.
  /// - Parameters:
  ///   - file: The name of the file, or of the interface.
  ///   - redaction: What is not shown.
  ///   - memory: The most bytes that the events take.
  ///   - requestKeys: How requests over WebSocket are told.
  package init(
    _ file: String, hiding redaction: RedactionRules, memory: Int,
    requestKeys: RequestKeys = .standard
  ) {
    self.file = file
    self.redaction = redaction
    archive = SessionArchive(memory: memory, requestKeys: requestKeys)
  }

  /// Takes findings, behind those that there are.
  package mutating func add(_ found: [SessionFinding]) {
    for finding in found {
      if let event = finding.event { findingsOfEvents[event, default: []].append(findings.count) }
      findings.append(finding)
    }
  }

  /// Takes findings in the place of those that there are.
  package mutating func setFindings(_ found: [SessionFinding]) {
    findings = []
    findingsOfEvents = [:]
    add(found)
  }

  /// The findings of an event, by their places.
  package func findings(at event: Int) -> [Int] { findingsOfEvents[event] ?? [] }

  /// How a connection is when an event has happened on it.
  /// - Parameter index: The place of the event.
  /// - Returns: The picture; nil where there is no such event.
  func picture(at index: Int) -> ConnectionPicture? {
    guard let connection = archive.context(at: index)?.connection else { return nil }
    var picture = ConnectionPicture(connection)
    for place in 0...index where archive.context(at: place)?.connection == connection {
      _ = archive.withEvent(at: place) { picture.consume($0) }
    }
    return picture
  }

  /// Everything that is to be told of an event.
  /// - Parameter index: The place of the event.
  /// - Returns: The page; nil where there is no such event.
  package func page(at index: Int) -> EventPage? { EventPage(of: index, in: self) }

  /// The type of an event by the name that `inspect` prints, for people.
  func typeName(at index: Int) -> String {
    archive.withEvent(at: index) { event in
      var line: [UInt8] = []
      EventJSONWriter(hiding: redaction).append(event, to: &line)
      return JSONValue(parsing: line)?["type"]?.text ?? ""
    } ?? ""
  }

  /// The place in the session that an event leads to: what it answers, or else what answers it.
  /// - Parameter index: The place of the event.
  /// - Returns: The place; nil where nothing is known.
  package func partner(of index: Int) -> Int? {
    archive.questions(of: index).first?.question ?? archive.answers(to: index).first?.answer
  }

  /// The event that a finding rests on: of its evidence the last that is not its own event, or else what that answers.
  /// - Parameter place: The place of the finding.
  /// - Returns: The place of the event; nil where nothing is known.
  package func cause(ofFinding place: Int) -> Int? {
    guard findings.indices.contains(place) else { return nil }
    let finding = findings[place]
    for evidence in finding.finding.evidence.reversed() {
      if let event = events(of: evidence).first(where: { $0 != finding.event }) { return event }
    }
    return finding.event.flatMap(partner)
  }

  /// The events that an evidence may be about, of all that its frame has.
  private func events(of evidence: Finding.Evidence) -> [Int] {
    let events = archive.events(ofFrame: evidence.frame, connection: evidence.connection)
    guard events.count > 1 else { return events }
    let words = evidence.role.split { !$0.isLetter }
    let named = events.filter { words.contains(typeName(at: $0)[...]) }
    guard named.isEmpty else { return named }
    // A connection is opened by what it is known by, which is in the same frame.
    let packets = events.filter { typeName(at: $0) != "OPEN" }
    return packets.isEmpty ? events : packets
  }
}
