package import RepriseCore
import Wire

/// Counts what happens in sessions: how much of what, by whom, about what, how fast, and how it ended.
///
/// Its memory does not grow with what it counts: topics and clients are the most frequent ones (``TopTable``), times
/// and sizes are histograms (``Histogram``), and what is open is bounded; what is given up for it is counted.
package struct SessionStatistics {
  /// How often something of a kind came.
  package struct ProblemTally: Sendable {
    /// How often.
    package var count = 0
    /// Of missing bytes, how many.
    package var bytes = 0
    /// Where it came first.
    package var first: Place
  }

  /// The most different problems that are told apart.
  static let mostProblems = 256

  /// The files that were begun.
  private(set) var files: [String] = []
  /// The messages of each kind and end.
  private(set) var kinds = [BothPeers<Traffic>](
    repeating: BothPeers(Traffic()), count: MessageKind.count)
  /// The messages of each end in all.
  package private(set) var traffic = BothPeers(Traffic())
  /// What the PUBLISH packets of each end were like.
  package private(set) var publishes = BothPeers(Publishes())
  /// The bytes of payloads of PUBLISH.
  package private(set) var payloadSizes = Histogram(precision: 6)
  /// The first and the last time of what was selected.
  package private(set) var times: (first: Timestamp, last: Timestamp)?
  /// How long all files take together, in nanoseconds.
  package private(set) var duration = 0
  /// How many connections had something that was selected.
  package private(set) var connectionCount = 0
  /// How connections ended.
  package private(set) var ends: [ConnectionEnd: Int] = [:]
  /// The topics.
  package private(set) var topics: TopTable<TopicTraffic>
  /// The clients whose identifier is known.
  package private(set) var clients: TopTable<ClientTraffic>
  /// The connections with the most messages.
  package private(set) var busiest: [ConnectionSummary] = []
  /// What became of questions, by kind and by who asked.
  package private(set) var exchanges = [BothPeers<ExchangeTally>](
    repeating: BothPeers(ExchangeTally()), count: ExchangeKind.allCases.count)
  /// What went wrong.
  package private(set) var problems: [Problem: ProblemTally] = [:]
  /// How often something went wrong that there was no more room to tell apart.
  private(set) var otherProblems = 0
  /// How many PUBLISH packets name their topic by an alias that is not known.
  package private(set) var unknownTopics = 0
  /// How many questions were given up for lack of memory; they are among the undecided ones.
  package private(set) var givenUpQuestions = 0
  /// How many connections were given up for lack of memory before their end.
  package private(set) var givenUpConnections = 0

  private let limits: StatisticsLimits
  private let requestKeys: RequestKeys
  private var open: [Int: OpenConnection] = [:]
  /// The last of them that something happened on.
  private var current: OpenConnection?
  /// The open connections of clients, by client and server.
  private var holders: [UInt64: Int] = [:]
  private var openQuestions = 0
  private var order = Fifo<(connection: Int, key: ExchangeKey, serial: Int)>()
  private var aliasCount = 0
  private var fileTimes: (first: Timestamp, last: Timestamp)?

  /// Creates empty statistics.
  /// - Parameters:
  ///   - limits: How much is kept.
  ///   - requestKeys: How requests over WebSocket are told.
  package init(
    _ limits: StatisticsLimits = StatisticsLimits(), requestKeys: RequestKeys = .standard
  ) {
    self.limits = limits
    self.requestKeys = requestKeys
    topics = TopTable(capacity: limits.topics) { TopicTraffic() }
    clients = TopTable(capacity: limits.clients) { ClientTraffic() }
  }

  /// Takes the news that another file begins.
  package mutating func beginFile(_ name: String) {
    files.append(name)
    fileTimes = nil
  }

  /// Takes the news that the file ends.
  package mutating func endFile() {
    finishAll()
    guard let span = fileTimes else { return }
    duration.addSaturating(Int(max(0, span.last.nanoseconds(since: span.first))))
    fileTimes = nil
  }

  /// Takes the next event.
  /// - Parameters:
  ///   - event: The event; all of a session have to come, in order.
  ///   - isSelected: Whether it counts; of questions that don't the answers don't either.
  package mutating func consume(_ event: borrowing EventView, isSelected: Bool = true) {
    let connection = connection(of: event.context)
    connection.course.consume(event)
    connection.note(event)
    noteConnect(event, connection)
    pair(event, connection, isSelected)
    if isSelected { count(event, connection) }
    switch event.body {
    case .closed(let closing): finish(connection, closing, by: event.context.sender)
    case .attempted:
      if isSelected { ends[ConnectionEnd(cause: .failedAttempt), default: 0] += 1 }
      drop(connection)
    default: return
    }
  }

  /// The place of the file that is read among all.
  private var file: Int { max(0, files.count - 1) }

  // MARK: Connections

  private mutating func connection(of context: EventContext) -> OpenConnection {
    if let current, current.number == context.connection { return current }
    if let known = open[context.connection] {
      current = known
      return known
    }
    if open.count >= limits.connections {
      givenUpConnections += open.count
      finishAll()
    }
    let new = OpenConnection(context, requestKeys)
    open[context.connection] = new
    current = new
    return new
  }

  /// Finds the connection that a CONNECT takes over.
  private mutating func noteConnect(_ event: borrowing EventView, _ connection: OpenConnection) {
    guard case .mqtt(let packet) = event.body else { return }
    if packet.type == .connack, let code = packet.reasonCode, code != 0 {
      // A client that is refused takes nothing over.
      if let older = rivals.removeValue(forKey: connection.number) {
        open[older]?.course.rival = nil
      }
      return
    }
    guard packet.type == .connect, let connect = packet.connect, !connect.clientID.isEmpty,
      connection.identity == nil
    else { return }
    let server = Array((connection.course.opening?.server ?? "").utf8)
    let identity = Name.identity(of: connect.clientID, server.span.bytes)
    connection.identity = identity
    let context = event.context
    if let older = holders.updateValue(connection.number, forKey: identity),
      older != connection.number
    {
      open[older]?.course.rival = Rival(
        connection: connection.number, frame: context.frame, time: context.time)
      rivals[connection.number] = older
    }
  }

  /// The connections that newer ones may have taken over, by the newer ones.
  private var rivals: [Int: Int] = [:]

  private mutating func finish(
    _ connection: OpenConnection, _ closing: ConnectionClosing?, by closer: Peer
  ) {
    let summary = connection.summary(file: file, closing, by: closer)
    drop(connection)
    guard connection.isSelected else { return }
    if let end = summary.end { ends[end, default: 0] += 1 }
    if let client = summary.client {
      clients.add(client, weight: summary.messages) { $0.add(summary) }
    }
    keepIfBusy(summary)
  }

  private mutating func keepIfBusy(_ summary: ConnectionSummary) {
    let isFull = busiest.count >= limits.listed
    if isFull, let last = busiest.last, last.messages >= summary.messages { return }
    let place = busiest.firstIndex { $0.messages < summary.messages } ?? busiest.count
    busiest.insert(summary, at: place)
    if isFull { busiest.removeLast() }
  }

  private mutating func drop(_ connection: OpenConnection) {
    openQuestions -= connection.exchanges.count
    aliasCount -= connection.aliases.count
    open[connection.number] = nil
    rivals[connection.number] = nil
    if let identity = connection.identity, holders[identity] == connection.number {
      holders[identity] = nil
    }
    if current === connection { current = nil }
  }

  private mutating func finishAll() {
    for connection in open.values.sorted(by: { $0.number < $1.number }) {
      // Nothing tells how they end, so what they ask is undecided.
      let file = file
      connection.exchanges.giveUpAll { take($0, connection, file) }
      openQuestions = 0
      finish(connection, nil, by: .client)
    }
    open = [:]
    holders = [:]
    rivals = [:]
    order = Fifo()
    openQuestions = 0
    current = nil
  }

  // MARK: Questions and answers

  private mutating func pair(
    _ event: borrowing EventView, _ connection: OpenConnection, _ isSelected: Bool
  ) {
    let before = connection.exchanges.count
    let file = file
    connection.exchanges.consume(event, isSelected: isSelected) { outcome in
      take(outcome, connection, file)
    }
    connection.exchanges.takeAsked { key, serial in order.append((connection.number, key, serial)) }
    openQuestions += connection.exchanges.count - before
    if openQuestions > limits.questions { giveUpOldest() }
    guard order.count > 1_024 + 2 * openQuestions else { return }
    let open = open
    order.removeAll {
      open[$0.connection]?.exchanges.open.isOpen($0.key, serial: $0.serial) != true
    }
  }

  private mutating func take(
    _ outcome: ExchangeOutcome, _ connection: OpenConnection, _ file: Int
  ) {
    guard outcome.isSelected else { return }
    exchanges[Int(outcome.kind.rawValue)][outcome.asker].add(
      outcome, at: Place(file: file, frame: outcome.frame, connection: connection.number),
      of: connection.course.client)
  }

  private mutating func giveUpOldest() {
    while openQuestions > limits.questions, let oldest = order.popFirst() {
      guard let connection = open[oldest.connection],
        connection.exchanges.open.isOpen(oldest.key, serial: oldest.serial)
      else { continue }
      givenUpQuestions += 1
      openQuestions -= 1
      let file = file
      connection.exchanges.giveUp(oldest.key) { take($0, connection, file) }
    }
  }

  // MARK: Counting

  private mutating func count(_ event: borrowing EventView, _ connection: OpenConnection) {
    let context = event.context
    if !connection.isSelected {
      connection.isSelected = true
      connectionCount += 1
    }
    note(context.time)
    let sender = context.sender
    let whole = event.traffic
    kinds[MessageKind(event).index][sender].add(whole)
    let own = event.ownTraffic
    traffic[sender].add(own)
    connection.traffic[sender].add(own)
    if case .mqtt(let packet) = event.body, packet.type == .publish {
      count(packet, context, whole, connection)
    }
    var bytes = 0
    if case .gap(let gap) = event.body { bytes = gap.bytes }
    let place = Place(
      file: file, frame: context.frame, connection: context.connection)
    event.forEachProblem { count($0, bytes, place) }
  }

  private mutating func note(_ time: Timestamp) {
    times = times.map { (min($0.first, time), max($0.last, time)) } ?? (time, time)
    fileTimes = fileTimes.map { (min($0.first, time), max($0.last, time)) } ?? (time, time)
  }

  private mutating func count(_ problem: Problem, _ bytes: Int, _ place: Place) {
    if problems[problem] == nil {
      guard problems.count < Self.mostProblems else {
        otherProblems += 1
        return
      }
      problems[problem] = ProblemTally(first: place)
    }
    problems[problem]?.count += 1
    problems[problem]?.bytes.addSaturating(bytes)
  }

  private mutating func count(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ added: Traffic,
    _ connection: OpenConnection
  ) {
    let sender = context.sender
    publishes[sender].add(packet)
    connection.publishes[sender].add(packet)
    payloadSizes.add(packet.sentPayload)
    let file = file
    guard let alias = packet.topicAlias else {
      topics.add(packet.topic) { $0.add(packet, context, added, file: file) }
      return
    }
    let key = alias * 2 + (sender == .client ? 0 : 1)
    if packet.topic.isEmpty {
      guard let name = connection.aliases[key] else {
        unknownTopics += 1
        return
      }
      topics.add(name) { $0.add(packet, context, added, file: file) }
      return
    }
    let name = Name(packet.topic)
    topics.add(name) { $0.add(packet, context, added, file: file) }
    let before = connection.aliases.count
    guard connection.aliases[key] != nil || aliasCount < limits.aliases else { return }
    connection.aliases[key] = name
    aliasCount += connection.aliases.count - before
  }
}

/// How much statistics keep.
package struct StatisticsLimits: Sendable, Hashable {
  /// The most topics that are told apart.
  package var topics: Int
  /// The most clients that are told apart.
  package var clients: Int
  /// The most connections that are open at once.
  package var connections: Int
  /// The most questions without an answer.
  package var questions: Int
  /// The most topics that aliases stand for.
  var aliases: Int
  /// The most connections that are listed.
  var listed: Int

  /// Divides memory among what is kept.
  /// - Parameters:
  ///   - memory: The most bytes that all of it takes, about.
  ///   - listed: The most connections that are listed.
  package init(memory: Int = 64 << 20, listed: Int = 10) {
    // What each takes at most: a topic has two histograms, a name of up to 256 bytes, and its entry.
    topics = max(64, memory / 2 / 16_384)
    clients = max(64, memory / 4 / 1_024)
    connections = max(256, memory / 2_048)
    questions = max(1_024, memory / 4 / 160)
    aliases = max(256, memory / 8 / 384)
    self.listed = max(1, listed)
  }
}
