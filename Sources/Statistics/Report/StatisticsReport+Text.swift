import RepriseCore

extension StatisticsReport {
  /// Returns the report for a terminal of 80 columns.
  /// - Parameter color: Whether the heads of the tables are painted by ANSI escapes.
  /// - Returns: Its lines.
  package func text(color: Bool) -> String {
    var painted = self
    painted.paint = Paint(isOn: color)
    return painted.text
  }

  private var text: String {
    [
      overview, kindTable, clientTable, connectionTable, topicTable, exchangeTable, slowTable,
      endTable, problemTable, limitNotes,
    ].filter { !$0.isEmpty }.joined(separator: "\n")
  }

  // MARK: What there is

  private var overview: String {
    var text = ""
    let files = statistics.files
    text += files.count == 1 ? shown(files[0]) : "\(Quantities.count(files.count)) files"
    if let times = statistics.times {
      let from = "\(times.first)"
      let to = "\(times.last)"
      let isSameDay = from.prefix(10) == to.prefix(10)
      text += "\n\(from.prefix(10)) \(from.dropFirst(11).dropLast()) to "
      text += (isSameDay ? "" : "\(to.prefix(10)) ") + "\(to.dropFirst(11).dropLast()) (UTC)"
      text += ", \(Quantities.duration(statistics.duration))"
      if files.count > 1 { text += " in all files together" }
    }
    let counts = [
      Self.plural(statistics.connectionCount, "connection"),
      atLeast(statistics.clients) + Self.plural(statistics.clients.count, "client"),
      atLeast(statistics.topics) + Self.plural(statistics.topics.count, "topic"),
    ]
    text += "\n" + counts.joined(separator: ", ") + "\n"
    return text + totals
  }

  private var totals: String {
    var table = TextTable(["", "messages", "rate", "bytes", "payload"])
    var publishes = TextTable(["PUBLISH", "count", "QoS 0", "QoS 1", "QoS 2", "retain", "dup"])
    for peer in Peer.allCases {
      let (traffic, sent) = (statistics.traffic[peer], statistics.publishes[peer])
      table.add([
        "from \(peer.rawValue)s", Quantities.countOrNone(traffic.messages),
        Quantities.rate(traffic.messages, in: statistics.duration),
        Quantities.bytes(traffic.bytes), Quantities.bytes(traffic.payload),
      ])
      let counts = [sent.count] + sent.byQoS.prefix(3) + [sent.retained, sent.duplicates]
      if sent.count > 0 {
        publishes.add(["from \(peer.rawValue)s"] + counts.map(Quantities.countOrNone))
      }
    }
    let sizes = statistics.payloadSizes
    guard sizes.count > 0, let median = sizes.quantile(0.5), let most = sizes.quantile(0.99) else {
      return table.text(paint)
    }
    return table.text(paint) + "\n" + publishes.text(paint)
      + "payload of a PUBLISH: p50 \(Quantities.bytes(median)), "
      + "p99 \(Quantities.bytes(most)), max \(Quantities.bytes(sizes.maximum))\n"
  }

  private func atLeast<Value>(_ table: TopTable<Value>) -> String {
    table.replacements > 0 ? "at least " : ""
  }

  private static func plural(_ count: Int, _ noun: String) -> String {
    "\(Quantities.count(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// Those QoS that came: 0/2.
  private static func qos(_ publishes: Publishes) -> String {
    publishes.byQoS.indices.filter { publishes.byQoS[$0] > 0 }.map(String.init)
      .joined(separator: "/")
  }

  private var kindTable: String {
    var table = TextTable([
      "message", "from clients", "bytes", "from servers", "bytes",
    ])
    for (kind, traffic) in kinds {
      let name = kind.protocolName == "websocket" ? "\(kind.name) (WebSocket)" : kind.name
      table.add(
        [name]
          + Peer.allCases.flatMap { peer in
            [
              Quantities.countOrNone(traffic[peer].messages),
              traffic[peer].bytes == 0 ? "·" : Quantities.bytes(traffic[peer].bytes),
            ]
          })
    }
    return table.text(paint)
  }

  // MARK: Clients, connections, topics

  private var clientTable: String {
    var table = TextTable([
      "client", "conn.", "sent", "received", "bytes", "rate", "silence", "pings",
    ])
    table.cutsMiddle = true
    for entry in statistics.clients.top(top) {
      let client = entry.value
      let (sent, received) = (client.traffic.client, client.traffic.server)
      table.add(
        [
          shown(entry.name), Quantities.count(client.connections),
          Quantities.countOrNone(sent.messages), Quantities.countOrNone(received.messages),
          Quantities.bytes(sent.bytes + received.bytes),
          Quantities.rate(sent.messages + received.messages, in: client.connected),
          Self.silence(client),
          Quantities.countOrNone(client.pings),
        ], mark: Self.error(entry))
    }
    return table.text(paint) + more(statistics.clients.count, "client")
  }

  /// The longest silence and the keep-alive; with a mark where that ran out.
  private static func silence(_ client: ClientTraffic) -> String {
    let longest = client.longestSilence.map(Quantities.shortDuration) ?? "·"
    guard let keepAlive = client.keepAlive else { return longest }
    let allowed = keepAlive == 0 ? "none" : "\(Quantities.count(keepAlive)) s"
    return "\(client.overruns > 0 ? "!" : "")\(longest)/\(allowed)"
  }

  /// The error of a count, where names had to share entries.
  private static func error<Value>(_ entry: TopTable<Value>.Entry) -> String {
    entry.error == 0 ? "" : " (-\(Quantities.count(entry.error)))"
  }

  private func more(_ count: Int, _ noun: String) -> String {
    count > top ? "… and \(Self.plural(count - top, "\(noun)")) more\n" : ""
  }

  private var connectionTable: String {
    guard statistics.connectionCount > 1 || statistics.clients.count == 0 else { return "" }
    var table = TextTable(
      ["connection", "sent", "received", "bytes", "lasted", "ended"], endsInText: true)
    for connection in statistics.busiest.prefix(top) {
      let (sent, received) = (connection.traffic.client, connection.traffic.server)
      table.add([
        name(of: connection), Quantities.countOrNone(sent.messages),
        Quantities.countOrNone(received.messages), Quantities.bytes(sent.bytes + received.bytes),
        Quantities.duration(connection.duration), connection.end?.shortText ?? "·",
      ])
    }
    return table.text(paint) + more(statistics.connectionCount, "connection")
  }

  private func name(of connection: ConnectionSummary) -> String {
    let who = connection.client.map { shown($0) } ?? connection.clientAddress.map { shown($0) }
    return "#\(connection.number)" + (who.map { " " + $0 } ?? "") + inFile(connection.file)
  }

  private var topicTable: String {
    var table = TextTable([
      "topic", "sent", "received", "payload", "QoS", "retain", "dup", "every",
    ])
    table.cutsMiddle = true
    for entry in statistics.topics.top(top) {
      let topic = entry.value
      var publishes = topic.publishes.client
      publishes.add(topic.publishes.server)
      let intervals =
        topic.intervals.client.count > 0 ? topic.intervals.client : topic.intervals.server
      table.add(
        [
          shown(entry.name),
          Quantities.countOrNone(topic.traffic.client.messages),
          Quantities.countOrNone(topic.traffic.server.messages),
          Quantities.bytes((topic.traffic.client + topic.traffic.server).payload),
          Self.qos(publishes), Quantities.countOrNone(publishes.retained),
          Quantities.countOrNone(publishes.duplicates),
          intervals.quantile(0.5).map(Quantities.shortDuration) ?? "·",
        ], mark: Self.error(entry))
    }
    return table.text(paint) + more(statistics.topics.count, "topic")
  }

  // MARK: Times, ends and problems

  private var exchangeTable: String {
    var table = TextTable([
      "question, answer", "count", "p50", "p90", "p99", "max", "none", "open", "?",
    ])
    for (kind, asker, tally) in exchanges {
      let quantiles = [0.5, 0.9, 0.99, 1].map {
        tally.times.quantile($0).map(Quantities.shortDuration) ?? "·"
      }
      table.add(
        [
          Self.title(kind, asker),
          Quantities.countOrNone(tally.times.count),
        ]
          + quantiles
          + [tally.unanswered, tally.stillOpen, tally.undecided].map(Quantities.countOrNone))
    }
    return table.text(paint)
  }

  /// The askers that waited longest for an answer: the slowest of each kind, of several kinds.
  private var slowTable: String {
    let slowest = exchanges.compactMap { kind, asker, tally in
      tally.times.quantile(1).flatMap { most in
        tally.slowest.map { (kind: kind, asker: asker, time: most, asked: $0) }
      }
    }
    var table = TextTable(["slowest answer", "took", "asked by"], endsInText: true)
    for one in slowest.sorted(by: { $0.time > $1.time }).prefix(min(top, Self.mostSlow)) {
      table.add([
        Self.title(one.kind, one.asker), Quantities.shortDuration(one.time),
        place(one.asked.place, of: one.asked.client),
      ])
    }
    return table.text(paint)
  }

  private static let mostSlow = 3

  private static func title(_ kind: ExchangeKind, _ asker: Peer) -> String {
    "\(asker == .client ? "→" : "←") \(kind.title)"
  }

  private var endTable: String {
    var table = TextTable(["ended", "connections"])
    for (end, count) in ends.prefix(top) { table.add([end.text, Quantities.count(count)]) }
    return table.text(paint)
  }

  private var problemTable: String {
    var table = TextTable(["problem", "count", "first at"], endsInText: true)
    for (problem, tally) in problems.prefix(top) {
      let sender = problem.sender.map { " of \($0.rawValue)s" } ?? ""
      let bytes = tally.bytes > 0 ? ", \(Quantities.bytes(tally.bytes))" : ""
      table.add([
        "\(problem.event)\(sender): \(shown(problem.text))\(bytes)", Quantities.count(tally.count),
        place(tally.first),
      ])
    }
    return table.text(paint) + more(statistics.problems.count, "kind of problem")
  }

  private func place(_ place: Place, of client: Name? = nil) -> String {
    "frame \(place.frame), #\(place.connection)" + (client.map { " " + shown($0) } ?? "")
      + inFile(place.file)
  }

  /// The file, where there are several: of a long name its end, which tells files apart; behind all else, as it is cut
  /// where there is no room.
  private func inFile(_ index: Int) -> String {
    guard statistics.files.count > 1 else { return "" }
    let name = shown(file(index))
    return " " + (name.count > Self.longestFile ? "…\(name.suffix(Self.longestFile - 1))" : name)
  }

  private static let longestFile = 24

  /// What could not be kept, and what the figures are worth.
  private var limitNotes: String {
    var notes: [String] = []
    if statistics.topics.replacements + statistics.clients.replacements > 0 {
      notes.append(
        "(-N): up to N of the count may be of other names; the rest of the row is since the name was kept."
      )
    }
    if statistics.givenUpQuestions > 0 {
      notes.append(
        "\(Self.plural(statistics.givenUpQuestions, "question")) given up for lack of memory: they are among ?."
      )
    }
    if statistics.givenUpConnections > 0 {
      notes.append(
        "\(Self.plural(statistics.givenUpConnections, "connection")) given up for lack of memory.")
    }
    if statistics.unknownTopics > 0 {
      notes.append(
        "\(Self.plural(statistics.unknownTopics, "message")) on topics behind aliases that are not known."
      )
    }
    if statistics.otherProblems > 0 {
      notes.append("\(Self.plural(statistics.otherProblems, "problem")) more of other kinds.")
    }
    return notes.map { $0 + "\n" }.joined()
  }
}

extension ConnectionEnd {
  /// How it ended, in a word or two.
  fileprivate var shortText: String {
    switch cause {
    case .disconnected: peer == .server ? "DISCONNECT (server)" : "DISCONNECT"
    case .refused: "refused"
    case .takenOver: "taken over"
    case .keepAlive: "keep-alive"
    case .fault: "fault"
    case .webSocketClose: "Close (\(peer?.rawValue ?? ""))"
    case .alert: "TLS alert"
    case .fin: "FIN (\(peer?.rawValue ?? ""))"
    case .reset: "reset (\(peer?.rawValue ?? ""))"
    case .endOfCapture: "open"
    case .unknown: "not known"
    case .failedAttempt: "failed"
    }
  }
}
