package import RepriseCore

/// What statistics say, in a format for people or for programs.
///
/// Names of topics and clients are shown as the rules of redaction let them.
package struct StatisticsReport {
  /// What was counted.
  let statistics: SessionStatistics
  /// The most rows of a table.
  let top: Int
  /// The version of the product.
  let toolVersion: String
  private let redaction: RedactionRules
  /// How the heads of tables are shown.
  var paint = Paint(isOn: false)

  /// Creates a report.
  /// - Parameters:
  ///   - statistics: What was counted.
  ///   - top: The most rows of a table.
  ///   - redaction: What is not shown.
  ///   - toolVersion: The version of the product.
  package init(
    _ statistics: SessionStatistics, top: Int, hiding redaction: RedactionRules,
    toolVersion: String
  ) {
    self.statistics = statistics
    self.top = max(1, top)
    self.redaction = redaction
    self.toolVersion = toolVersion
  }

  /// The kinds of messages that there were, those of MQTT first.
  var kinds: [(kind: MessageKind, traffic: BothPeers<Traffic>)] {
    zip(MessageKind.allCases, statistics.kinds).filter {
      $0.1.client.messages + $0.1.server.messages > 0
    }.map { ($0.0, $0.1) }
  }

  /// The kinds of questions that were asked, by who asked.
  var exchanges: [(kind: ExchangeKind, asker: Peer, tally: ExchangeTally)] {
    zip(ExchangeKind.allCases, statistics.exchanges).flatMap { kind, tallies in
      Peer.allCases.map { (kind, $0, tallies[$0]) }
    }.filter { $0.2.asked > 0 }.map { ($0.0, $0.1, $0.2) }
  }

  /// The ways in which connections ended, the most frequent first.
  var ends: [(end: ConnectionEnd, count: Int)] {
    statistics.ends.map { ($0.key, $0.value) }.sorted {
      $0.1 != $1.1 ? $0.1 > $1.1 : Self.order($0.0).lexicographicallyPrecedes(Self.order($1.0))
    }
  }

  private static func order(_ end: ConnectionEnd) -> [Int] {
    [
      ConnectionEnd.Cause.allCases.firstIndex(of: end.cause) ?? 0,
      end.peer.flatMap(Peer.allCases.firstIndex) ?? -1, end.code ?? -1,
    ]
  }

  /// What went wrong, the most frequent first.
  var problems: [(problem: Problem, tally: SessionStatistics.ProblemTally)] {
    statistics.problems.map { ($0.key, $0.value) }.sorted {
      guard $0.1.count == $1.1.count else { return $0.1.count > $1.1.count }
      guard $0.1.first == $1.1.first else { return $0.1.first < $1.1.first }
      return ($0.0.event, $0.0.text) < ($1.0.event, $1.0.text)
    }
  }

  /// A name as a program gets it: secrets hidden, and cut where it is long.
  func text(of name: Name) -> String {
    redaction.shown(String(decoding: name.start, as: UTF8.self)) + (name.isCut ? "…" : "")
  }

  /// A name as people see it.
  func shown(_ name: Name?) -> String {
    guard let name else { return "(not known)" }
    return name.start.isEmpty ? "(empty)" : shown(text(of: name))
  }

  /// Text from outside, safe to show.
  func shown(_ text: String) -> String {
    var bytes: [UInt8] = []
    TerminalText.append(Array(text.utf8).span.bytes, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Text from outside, without its secrets.
  func redacted(_ text: String) -> String { redaction.shown(text) }

  /// The name of a file.
  func file(_ index: Int) -> String {
    statistics.files.indices.contains(index) ? statistics.files[index] : ""
  }
}

extension Place: Comparable {
  package static func < (lhs: Place, rhs: Place) -> Bool {
    (lhs.file, lhs.frame, lhs.connection) < (rhs.file, rhs.frame, rhs.connection)
  }
}
