package import RepriseCore

extension StatisticsReport {
  /// The report for programs: one object.
  ///
  /// `from` is `client` or `server`; times with `Seconds` in their names are in seconds, `time`s in UTC; sizes are in
  /// bytes, `bytes` with the headers of MQTT, WebSocket and HTTP, `payload` without; absent is what is not known.
  /// `clients` and `topics` are the `--top` most frequent, as `connections` are; where `isExact` is false, up to
  /// `countError` of a row's `count` may be of other names, and what else the row has is since its name was kept.
  package var json: JSONValue {
    var members: [(String, JSONValue?)] = [
      ("tool", ["name": "reprise", "version": .string(toolVersion)]),
      ("files", .array(statistics.files.map { .string($0) })),
    ]
    if let times = statistics.times {
      members += [
        ("first", .string("\(times.first)")), ("last", .string("\(times.last)")),
        ("durationSeconds", Self.seconds(statistics.duration)),
      ]
    }
    members += [
      ("connectionCount", Self.number(statistics.connectionCount)),
      ("totals", .array(Peer.allCases.map(totals))),
      ("payloadSizes", Self.sizes(statistics.payloadSizes)),
      ("messages", .array(kindRows)), ("clients", clientTable), ("topics", topicTable),
      ("connections", .array(statistics.busiest.prefix(top).map(row))),
      ("exchanges", .array(exchanges.map { row($0.kind, $0.asker, $0.tally) })),
      ("ends", .array(ends.map { row($0.end, $0.count) })),
      ("problems", .array(problems.map { row($0.problem, $0.tally) })),
      ("givenUp", limits),
    ]
    return .members(members)
  }

  private var limits: JSONValue {
    .members([
      ("connections", Self.number(statistics.givenUpConnections)),
      ("questions", Self.number(statistics.givenUpQuestions)),
      ("unknownTopics", Self.number(statistics.unknownTopics)),
      ("problems", Self.number(statistics.otherProblems)),
    ])
  }

  static func number(_ value: Int) -> JSONValue { .number(String(value)) }

  static func seconds(_ nanoseconds: Int) -> JSONValue {
    .number(Quantities.seconds(nanoseconds))
  }

  private static func traffic(_ traffic: Traffic) -> [(String, JSONValue?)] {
    [
      ("messages", number(traffic.messages)), ("bytes", number(traffic.bytes)),
      ("payload", number(traffic.payload)),
    ]
  }

  private static func publishes(_ publishes: Publishes) -> [(String, JSONValue?)] {
    [
      ("publishes", number(publishes.count)), ("qos", .array(publishes.byQoS.map(number))),
      ("retained", number(publishes.retained)), ("duplicates", number(publishes.duplicates)),
    ]
  }

  private func totals(_ peer: Peer) -> JSONValue {
    .members(
      [("from", .string(peer.rawValue))] + Self.traffic(statistics.traffic[peer])
        + Self.publishes(statistics.publishes[peer]))
  }

  private static func sizes(_ sizes: Histogram) -> JSONValue {
    .members([
      ("count", number(sizes.count)), ("mean", .number(Quantities.decimal(sizes.mean, places: 3))),
      ("p50", sizes.quantile(0.5).map(number)), ("p90", sizes.quantile(0.9).map(number)),
      ("p99", sizes.quantile(0.99).map(number)), ("max", number(sizes.maximum)),
      ("relativeError", .number(Quantities.decimal(sizes.relativeError, places: 6))),
    ])
  }

  /// Times to answers or between messages.
  static func times(_ times: Histogram) -> [(String, JSONValue?)] {
    [
      ("count", number(times.count)), ("meanSeconds", seconds(Int(times.mean))),
      ("p50Seconds", times.quantile(0.5).map(seconds)),
      ("p90Seconds", times.quantile(0.9).map(seconds)),
      ("p99Seconds", times.quantile(0.99).map(seconds)),
      ("maxSeconds", times.count == 0 ? nil : seconds(times.maximum)),
      ("relativeError", .number(Quantities.decimal(times.relativeError, places: 6))),
    ]
  }

  private var kindRows: [JSONValue] {
    kinds.flatMap { kind, traffic in
      Peer.allCases.filter { traffic[$0].messages > 0 }.map { peer in
        .members(
          [
            ("protocol", .string(kind.protocolName)), ("type", .string(kind.name)),
            ("from", .string(peer.rawValue)), ("count", Self.number(traffic[peer].messages)),
            ("bytes", Self.number(traffic[peer].bytes)),
            ("payload", Self.number(traffic[peer].payload)),
          ])
      }
    }
  }

  private var clientTable: JSONValue {
    let rows = statistics.clients.top(top).map { entry in
      let client = entry.value
      let ends = client.ends.sorted {
        $0.value != $1.value ? $0.value > $1.value : $0.key.text < $1.key.text
      }
      return JSONValue.members(
        [
          ("client", .string(text(of: entry.name))), ("count", Self.number(entry.count)),
          ("countError", Self.number(entry.error)),
          ("connections", Self.number(client.connections)),
          ("connectedSeconds", Self.seconds(client.connected)),
          ("keepAliveSeconds", client.keepAlive.map(Self.number)),
          ("longestSilenceSeconds", client.longestSilence.map(Self.seconds)),
          ("silencesBeyondKeepAlive", Self.number(client.overruns)),
          ("pings", Self.number(client.pings)),
          ("traffic", both(client.traffic, client.publishes)),
          ("ends", .array(ends.map { row($0.key, $0.value) })),
        ])
    }
    return Self.table(statistics.clients, rows)
  }

  private var topicTable: JSONValue {
    let rows = statistics.topics.top(top).map { entry in
      let topic = entry.value
      return JSONValue.members(
        [
          ("topic", .string(text(of: entry.name))), ("count", Self.number(entry.count)),
          ("countError", Self.number(entry.error)), ("largestPayload", Self.number(topic.largest)),
          ("traffic", both(topic.traffic, topic.publishes)),
          (
            "intervals",
            .array(
              Peer.allCases.filter { topic.intervals[$0].count > 0 }.map { peer in
                .members(
                  [("from", .string(peer.rawValue))] + Self.times(topic.intervals[peer]))
              })
          ),
          ("timesBackwards", Self.number(topic.steps)),
        ])
    }
    return Self.table(statistics.topics, rows)
  }

  private static func table<Value>(_ table: TopTable<Value>, _ rows: [JSONValue]) -> JSONValue {
    .members([
      ("count", number(table.count)), ("isExact", .bool(table.replacements == 0)),
      ("top", .array(rows)),
    ])
  }

  private func both(_ traffic: BothPeers<Traffic>, _ publishes: BothPeers<Publishes>) -> JSONValue {
    .array(
      Peer.allCases.map { peer in
        .members(
          [("from", .string(peer.rawValue))] + Self.traffic(traffic[peer])
            + Self.publishes(publishes[peer]))
      })
  }

  private func row(_ connection: ConnectionSummary) -> JSONValue {
    .members([
      ("file", .string(file(connection.file))), ("connection", Self.number(connection.number)),
      ("client", connection.client.map { .string(text(of: $0)) }),
      ("clientAddress", connection.clientAddress.map { .string(redacted($0)) }),
      ("serverAddress", connection.serverAddress.map { .string(redacted($0)) }),
      ("protocol", .string(connection.protocolName)),
      ("over", connection.over.map { .string($0.rawValue) }),
      ("tls", connection.tlsVersion.map { .string($0) }),
      ("serverName", connection.serverName.map { .string($0) }),
      ("begin", .string("\(connection.begin)")),
      ("durationSeconds", Self.seconds(connection.duration)),
      ("keepAliveSeconds", connection.keepAlive.map(Self.number)),
      ("longestSilenceSeconds", connection.longestSilence.map(Self.seconds)),
      ("silencesBeyondKeepAlive", Self.number(connection.overruns)),
      ("pings", Self.number(connection.pings)),
      ("traffic", both(connection.traffic, connection.publishes)),
      ("end", connection.end.map { row($0, nil) }),
    ])
  }

  private func row(_ kind: ExchangeKind, _ asker: Peer, _ tally: ExchangeTally) -> JSONValue {
    .members(
      [
        ("exchange", .string(kind.name)), ("from", .string(asker.rawValue)),
        ("asked", Self.number(tally.asked)), ("answered", Self.number(tally.times.count)),
        ("unanswered", Self.number(tally.unanswered)), ("open", Self.number(tally.stillOpen)),
        ("undecided", Self.number(tally.undecided)), ("times", .members(Self.times(tally.times))),
        ("slowest", tally.slowest.map { place($0.place, of: $0.client) }),
        ("firstUnanswered", tally.firstUnanswered.map { place($0) }),
      ])
  }

  private func row(_ end: ConnectionEnd, _ count: Int?) -> JSONValue {
    .members([
      ("cause", .string(end.cause.rawValue)), ("by", end.peer.map { .string($0.rawValue) }),
      ("code", end.code.map(Self.number)), ("text", .string(end.text)),
      ("count", count.map(Self.number)),
    ])
  }

  private func row(_ problem: Problem, _ tally: SessionStatistics.ProblemTally) -> JSONValue {
    .members([
      ("event", .string(problem.event)), ("problem", .string(redacted(problem.text))),
      ("from", problem.sender.map { .string($0.rawValue) }), ("count", Self.number(tally.count)),
      ("bytes", tally.bytes > 0 ? Self.number(tally.bytes) : nil), ("first", place(tally.first)),
    ])
  }

  private func place(_ place: Place, of client: Name? = nil) -> JSONValue {
    .members([
      ("file", .string(file(place.file))), ("frame", Self.number(place.frame)),
      ("connection", Self.number(place.connection)),
      ("client", client.map { .string(text(of: $0)) }),
    ])
  }
}

extension JSONValue {
  /// An object of those members that have a value.
  static func members(_ members: [(String, JSONValue?)]) -> JSONValue {
    .object(members.compactMap { key, value in value.map { JSONMember(key, $0) } })
  }
}
