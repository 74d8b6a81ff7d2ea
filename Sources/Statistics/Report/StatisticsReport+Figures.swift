import RepriseCore

/// One figure of a report: what it is about, and its value.
///
/// CSV and Prometheus show the same figures; the first as rows, the second as samples.
struct Figure {
  /// What a figure is, as Prometheus tells figures apart.
  enum Kind: String {
    /// It only ever grows with what is counted.
    case counter
    /// It may be anything.
    case gauge
    /// It is a quantile, or what belongs to quantiles.
    case summary
  }

  /// What is counted, such as `topic_messages`; a unit is its end.
  var family: String
  /// What it is.
  var kind = Kind.counter
  /// What of a summary it is, behind the family: empty, `_sum` or `_count`.
  var suffix = ""
  /// What it is about.
  var labels: [(name: String, value: String)] = []
  /// The value, as decimal digits.
  var value: String
}

extension StatisticsReport {
  private typealias Labels = [(name: String, value: String)]

  /// All figures, those of one name one behind the other.
  var figures: [Figure] {
    var figures = overviewFigures
    figures += kindFigures
    figures += publishFigures
    figures += endFigures
    figures += clientFigures
    figures += topicFigures
    figures += questionFigures
    figures += problemFigures
    figures += givenUpFigures
    return figures
  }

  /// One figure of each row.
  private static func counters<Row>(
    _ family: String, _ rows: [(labels: Labels, row: Row)], _ value: (Row) -> Int
  ) -> [Figure] {
    rows.map { Figure(family: family, labels: $0.labels, value: String(value($0.row))) }
  }

  /// A time of each row that has one, in nanoseconds.
  private static func times<Row>(
    _ family: String, _ rows: [(labels: Labels, row: Row)], _ value: (Row) -> Int?
  ) -> [Figure] {
    rows.compactMap { labels, row in
      value(row).map {
        Figure(family: family, kind: .gauge, labels: labels, value: Quantities.seconds($0))
      }
    }
  }

  private var overviewFigures: [Figure] {
    [
      Figure(family: "files", kind: .gauge, value: String(statistics.files.count)),
      Figure(
        family: "capture_seconds", kind: .gauge, value: Quantities.seconds(statistics.duration)),
      Figure(family: "connections", value: String(statistics.connectionCount)),
    ]
  }

  private var kindFigures: [Figure] {
    var rows: [(labels: Labels, row: Traffic)] = []
    for (kind, traffic) in kinds {
      for peer in Peer.allCases where traffic[peer].messages > 0 {
        let labels: Labels = [
          ("protocol", kind.protocolName), ("type", kind.name), ("from", peer.rawValue),
        ]
        rows.append((labels, traffic[peer]))
      }
    }
    var figures = Self.counters("messages", rows) { $0.messages }
    figures += Self.counters("message_bytes", rows) { $0.bytes }
    figures += Self.counters("message_payload_bytes", rows.filter { $0.row.payload > 0 }) {
      $0.payload
    }
    return figures
  }

  private var publishFigures: [Figure] {
    var rows: [(labels: Labels, row: Publishes)] = []
    var levels: [(labels: Labels, row: Int)] = []
    for peer in Peer.allCases where statistics.publishes[peer].count > 0 {
      let publishes = statistics.publishes[peer]
      rows.append(([("from", peer.rawValue)], publishes))
      for (qos, count) in publishes.byQoS.enumerated() where count > 0 {
        levels.append(([("from", peer.rawValue), ("qos", String(qos))], count))
      }
    }
    var figures = Self.counters("publishes", levels) { $0 }
    figures += Self.counters("publishes_retained", rows) { $0.retained }
    figures += Self.counters("publishes_duplicate", rows) { $0.duplicates }
    return figures
  }

  private var endFigures: [Figure] {
    ends.map { end, count in
      let labels: Labels = [
        ("cause", end.cause.rawValue), ("by", end.peer?.rawValue ?? ""),
        ("code", end.code.map { String($0) } ?? ""),
      ]
      return Figure(family: "connection_ends", labels: labels, value: String(count))
    }
  }

  private var clientFigures: [Figure] {
    var rows: [(labels: Labels, row: ClientTraffic)] = []
    var both: [(labels: Labels, row: Traffic)] = []
    for entry in statistics.clients.top(top) {
      let labels: Labels = [("client", shown(entry.name))]
      rows.append((labels, entry.value))
      for peer in Peer.allCases {
        both.append((labels + [("from", peer.rawValue)], entry.value.traffic[peer]))
      }
    }
    var figures = Self.counters("client_connections", rows) { $0.connections }
    figures += Self.counters("client_messages", both) { $0.messages }
    figures += Self.counters("client_bytes", both) { $0.bytes }
    figures += Self.counters("client_pings", rows) { $0.pings }
    figures += Self.times("client_connected_seconds", rows) { $0.connected }
    figures += Self.times("client_longest_silence_seconds", rows) { $0.longestSilence }
    figures += Self.counters("client_silences_beyond_keep_alive", rows) { $0.overruns }
    return figures
  }

  private var topicFigures: [Figure] {
    var rows: [(labels: Labels, row: (traffic: Traffic, intervals: Histogram))] = []
    for entry in statistics.topics.top(top) {
      for peer in Peer.allCases where entry.value.traffic[peer].messages > 0 {
        let labels: Labels = [("topic", shown(entry.name)), ("from", peer.rawValue)]
        rows.append((labels, (entry.value.traffic[peer], entry.value.intervals[peer])))
      }
    }
    var figures = Self.counters("topic_messages", rows) { $0.traffic.messages }
    figures += Self.counters("topic_payload_bytes", rows) { $0.traffic.payload }
    figures += Self.times("topic_median_interval_seconds", rows) { $0.intervals.quantile(0.5) }
    return figures
  }

  private var questionFigures: [Figure] {
    let rows = exchanges.map { kind, asker, tally in
      let labels: Labels = [("exchange", kind.name), ("from", asker.rawValue)]
      return (labels: labels, row: tally)
    }
    var figures = Self.counters("questions", rows) { $0.asked }
    figures += Self.counters("questions_unanswered", rows) { $0.unanswered }
    figures += Self.counters("questions_open", rows) { $0.stillOpen }
    figures += Self.counters("questions_undecided", rows) { $0.undecided }
    for (labels, tally) in rows { figures += Self.answers(labels, tally.times) }
    return figures
  }

  /// The times to the answers of one kind: quantiles, of which 1 is the greatest time, their sum and their count.
  private static func answers(_ labels: Labels, _ times: Histogram) -> [Figure] {
    var figures: [Figure] = []
    func add(_ suffix: String, _ labels: Labels, _ value: String) {
      figures.append(
        Figure(
          family: "answer_seconds", kind: .summary, suffix: suffix, labels: labels, value: value))
    }
    for (name, part) in [("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("1", 1)] {
      guard let time = times.quantile(part) else { continue }
      add("", labels + [("quantile", name)], Quantities.seconds(time))
    }
    add("_sum", labels, Quantities.seconds(times.sum))
    add("_count", labels, String(times.count))
    return figures
  }

  private var problemFigures: [Figure] {
    let rows = problems.map { problem, tally in
      let labels: Labels = [
        ("event", problem.event), ("problem", shown(redacted(problem.text))),
        ("from", problem.sender?.rawValue ?? ""),
      ]
      return (labels: labels, row: tally)
    }
    var figures = Self.counters("problems", rows) { $0.count }
    figures += Self.counters("missing_bytes", rows.filter { $0.row.bytes > 0 }) { $0.bytes }
    return figures
  }

  private var givenUpFigures: [Figure] {
    [
      Figure(family: "given_up_connections", value: String(statistics.givenUpConnections)),
      Figure(family: "given_up_questions", value: String(statistics.givenUpQuestions)),
      Figure(family: "unknown_topics", value: String(statistics.unknownTopics)),
    ]
  }
}
