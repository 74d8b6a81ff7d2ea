import ConformanceKit
import RepriseCore

/// What was found in a session, as the events of its page are marked with it.
struct PageFindings {
  /// Where an event is that has findings.
  private struct Place: Hashable {
    var file: String
    var frame: Int
    var connection: Int
  }

  /// The most bytes of a packet that a finding has: the one or, where there are many findings, the other.
  private static let packetSizes = [1 << 16, 1 << 9]

  /// The findings with their clauses, in the order of the report.
  private(set) var all: [(result: ClauseResult, finding: Finding)] = []
  private var indices: [Place: [Int]] = [:]
  /// Where the events are that findings rest on.
  private var bases: Set<Place> = []
  private let redaction: RedactionRules

  /// Takes the findings of a report.
  /// - Parameters:
  ///   - report: The report.
  ///   - redaction: What the report does not tell.
  init(_ report: ConformanceReport, hiding redaction: RedactionRules) {
    self.redaction = redaction
    for result in report.results {
      for finding in result.findings {
        let place = Place(
          file: finding.file, frame: finding.frame, connection: finding.connection)
        indices[place, default: []].append(all.count)
        all.append((result, finding))
        for evidence in finding.evidence {
          bases.insert(
            Place(file: finding.file, frame: evidence.frame, connection: evidence.connection))
        }
      }
    }
  }

  /// Whether findings may be about an event, or rest on it.
  func mayConcern(_ context: EventContext, in file: String) -> Bool {
    let place = Place(file: file, frame: context.frame, connection: context.connection)
    return indices[place] != nil || bases.contains(place)
  }

  /// The findings that are about an event, by their numbers from 0.
  func numbers(of event: borrowing EventView, in file: String) -> [Int] {
    let context = event.context
    let place = Place(file: file, frame: context.frame, connection: context.connection)
    guard let candidates = indices[place] else { return [] }
    // A frame may have several packets.
    let writer = EventJSONWriter(hiding: redaction, file: file)
    var packets: [[UInt8]] = []
    for size in Self.packetSizes {
      var packet: [UInt8] = []
      writer.append(event.start(of: size), to: &packet)
      packets.append(packet)
    }
    return candidates.filter { packets.contains(all[$0].finding.packet) }
  }

  /// The findings as the page has them.
  var json: JSONValue {
    .array(all.map { Self.json(of: $0.finding, $0.result) })
  }

  private static func json(of finding: Finding, _ result: ClauseResult) -> JSONValue {
    let clause = result.clause
    var members: [(String, JSONValue)] = [
      ("clause", .string(clause.id)), ("spec", .string(clause.spec)),
      ("section", .string(clause.section)), ("level", .string(clause.level.rawValue)),
      ("verdict", .string(result.verdict.rawValue)), ("says", .string(clause.summary)),
      ("file", .string(finding.file)), ("frame", .number(String(finding.frame))),
      ("connection", .number(String(finding.connection))),
      ("time", .string(finding.time.description)), ("message", .string(finding.message)),
      ("expected", .string(finding.expected)), ("actual", .string(finding.actual)),
    ]
    if !finding.evidence.isEmpty {
      members.append(("evidence", .array(finding.evidence.map(json))))
    }
    if let other = finding.sameCauseAs { members.append(("sameCauseAs", .string(other))) }
    if let client = finding.client { members.append(("client", .string(client))) }
    return .object(members.map { JSONMember($0.0, $0.1) })
  }

  private static func json(of evidence: Finding.Evidence) -> JSONValue {
    [
      "frame": .number(String(evidence.frame)),
      "connection": .number(String(evidence.connection)), "role": .string(evidence.role),
    ]
  }
}
