public import RepriseCore
internal import Wire

/// Judges sessions by the clauses of the catalogue, in one pass and in memory that does not grow.
///
/// Events are handed over file by file: ``begin(file:)``, any number of ``consume(_:)``,
/// ``endFile()``; at the end ``report(toolVersion:)`` tells the verdicts over all files.
public struct ConformanceJudge: EventConsumer {
  private let clauses: [Clause]
  private let options: ConformanceOptions
  var tally: Tally
  var table: ConnectionTable
  var mqtt = MQTTJudge()
  var webSocket = WebSocketJudge()
  private var files: [String] = []
  /// Whether connections of the file may have been left out.
  private var isSelection = false
  var seen = SeenProtocols()
  var pauses = PauseWatch()
  /// The clauses in the order of their places in the tally; nil in the place of a rule without one.
  private static let places: [ClauseKey?] = MQTTJudge.clauses + WebSocketJudge.clauses
  /// The clauses that there are rules for.
  static let rules = places.compactMap { $0 }
  private static let knownRules = Set(rules)
  /// The places of the rules in the tally.
  private static let ranks = Dictionary(
    places.enumerated().compactMap { place, clause in
      clause.map { ($0, RuleIndex(value: place)) }
    }, uniquingKeysWith: { first, _ in first })
  /// Where the current file ended, as far as is known.
  var lastContext: EventContext?
  /// The open connections that speak TLS on the port of the Web.
  var pages: Set<Int> = []
  static let mostPages = 65_536
  /// How often what was known of a connection of the current file was given up for the memory that it
  /// takes: what depends on it is inconclusive.
  public internal(set) var forgottenConnections = 0

  /// Creates a judge.
  /// - Parameters:
  ///   - catalogue: The clauses.
  ///   - options: Which of them to report, and how.
  /// - Throws: ``ConformanceError`` for clauses and standards that the catalogue does not have, and
  ///   for a catalogue that does not fit the rules.
  public init(
    catalogue: Catalogue, options: ConformanceOptions = ConformanceOptions()
  ) throws(ConformanceError) {
    clauses = try Self.clauses(of: catalogue, options)
    self.options = options
    table = ConnectionTable(limit: options.memory)
    tally = Tally(
      bound: Self.bound(catalogue), maximumFindings: options.maximumFindings,
      redaction: options.redaction, kinds: options.listsEachKind ? FindingKinds(Self.places) : nil,
      subject: options.subject.map { ($0, Self.bothBound(catalogue)) })
  }

  /// Chooses the clauses that a judge reports, which is all that can go wrong when one is made.
  /// - Parameters:
  ///   - catalogue: The clauses.
  ///   - options: Which of them to report.
  /// - Returns: The clauses, in the catalogue's order.
  /// - Throws: ``ConformanceError`` as for a judge.
  @discardableResult
  package static func clauses(
    of catalogue: Catalogue, _ options: ConformanceOptions
  ) throws(ConformanceError) -> [Clause] {
    let clauses = try catalogue.select(specs: options.specs, options.clauses)
      .filter { $0.actor.binds(options.subject) }
    for clause in clauses where clause.status.hasRule != knownRules.contains(clause.key) {
      throw ConformanceError(
        .badCatalogue, "\(clause.id) is called \(clause.status.rawValue), which its rules deny")
    }
    return clauses
  }

  /// By the place of a rule, the ends that its clause binds.
  private static func bound(_ catalogue: Catalogue) -> [Blame] {
    var bound = [Blame](repeating: [.client, .server], count: places.count)
    for clause in catalogue.clauses {
      guard let rank = ranks[clause.key] else { continue }
      bound[rank.value] = Blame(Peer.allCases.filter { clause.actor.binds($0) }.map { Blame($0) })
    }
    return bound
  }

  /// By the place of a rule, whether its clause binds both ends.
  private static func bothBound(_ catalogue: Catalogue) -> [Bool] {
    var bound = [Bool](repeating: false, count: places.count)
    for clause in catalogue.clauses where clause.actor == .both {
      if let rank = ranks[clause.key] { bound[rank.value] = true }
    }
    return bound
  }

  /// Starts a file, whose connections are counted anew.
  public mutating func begin(file: String) {
    endFile()
    isSelection = false
    files.append(file)
    seen.file = file
    tally.file = file
    mqtt.broker.isDriven = options.isDriven
    mqtt.broker.hasOwnMessages = options.hasOwnMessages || options.isDriven
    table.beginFile(reporting: options.connections.map { $0[file] ?? [] })
    forgottenConnections = 0
    pauses = PauseWatch()
    pages = []
    webSocket.beginFile()
  }

  /// Takes the next event of the file.
  public mutating func consume(_ event: borrowing EventView) {
    if case .closed(let closing) = event.body {
      tally.held.note(closing, of: event.context.connection)
    }
    if event.context.isSelected { note(.leftOut) }
    let (pause, isDoubtful) = pauses.take(event.context.time)
    if pause > 0 || isDoubtful { watchPauses(pause, event) }
    take(event)
    if table.reserved > table.limit { makeRoom(event.context) }
  }

  /// Has at hand what is known of a connection, of which one of the next events is.
  /// - Parameter connection: Its number; it need not be known, and the event need not come.
  public func expect(connection: Int) { table.prefetch(connection) }

  /// Takes for possible that any client had another connection at any time, and that messages had other publishers.
  mutating func doubtConnections(_ reason: UndecidedReason) {
    guard !isSelection else { return }
    isSelection = true
    tally.held.noteUnseen(
      from: Timestamp(nanoseconds: .min), to: Timestamp(nanoseconds: .max))
    mqtt.broker.doubt(everywhere: reason)
  }

  /// Takes an event.
  /// - Parameters:
  ///   - event: The event.
  ///   - givingUp: Why all that is open of its connection is given up by it; nil where it is not.
  mutating func take(_ event: borrowing EventView, givingUp: UndecidedReason? = nil) {
    // There was no connection, and so nothing that a clause speaks of.
    if case .attempted = event.body { return }
    if event.context.wire == .tls { return takeTLS(event) }
    // No clause speaks of HTTP.
    if event.context.wire == .http {
      if case .opened = event.body, table.reports(event.context.connection) { seen.add(.http) }
      return
    }
    tally.beginEvent()
    if case .gap(let gap) = event.body {
      if gap.reason == .leftOut { return leaveOut(event) }
      if gap.reason == .altered { table.alter(event.context) }
      let number = event.context.connection
      let last =
        table.knows(number) ? table[table.place(of: number)][event.context.sender].lastTime : nil
      mqtt.noteLoss(event.context, behind: last, &tally)
    }
    switch event.context.wire {
    case .mqtt(.v3_1_1), .mqtt(.v5_0): takeMQTT(event, .judged, givingUp)
    case .mqttInferred(.v3_1_1), .mqttInferred(.v5_0), .mqttUndetermined:
      takeMQTT(event, .inferred, givingUp)
    case .mqtt: consumeOther(event)
    case .mqttInferred: consumeUnnamed(event)
    case .webSocket: consumeCarrier(event, givingUp)
    case .http, .tls: break
    }
  }

  /// Takes an event of a connection of the version that is judged.
  @inline(__always)
  private mutating func takeMQTT(
    _ event: borrowing EventView, _ mode: Hearing.Mode, _ givingUp: UndecidedReason?
  ) {
    let place = table.place(of: event.context.connection)
    let suspicions = tally.suspicions
    note(event)
    if !table[place].isNoted { noteFirst(event, at: place) }
    let isOtherVersion = table[place].takeVersion(of: event.context.wire)
    let wasRare = table[place].rare != nil
    let opensMessage = event.opensMessage
    // What carries it is judged beside it.
    if event.context.over != nil { table[place].meetCarrier() }
    let hearing = hear(event, at: place, mode, givingUp)
    if wasRare, isOtherVersion { mqtt.forgetVersion(&table[place], hearing, &tally) }
    switch event.body {
    case .mqtt(let packet):
      if packet.type == .connect, let connect = packet.connect {
        tally.meet(
          connect.clientID, on: event.context.connection, isReported: table[place].isReported)
      }
      mqtt.take(packet, event, &table[place], hearing, &tally)
    case .opened(let opening):
      mqtt.open(opening, event.context, &tally)
      table.open(opening, at: place, event.context.wire)
    case .gap, .malformed: mqtt.lose(from: event.context.sender, &table[place], hearing, &tally)
    case .closed(let closing):
      let isNamed = table[place].opening.connect != nil
      mqtt.endUnnamed(event.context, isNamed: isNamed, &tally)
      mqtt.close(Closing(closing, event), event, &table[place], hearing, &tally)
      lastContext = event.context
      tally.forgetClient(of: event.context.connection)
      // Nothing is kept at its place, and nothing of that counted.
      return table.remove(at: place)
    case .attempted, .handshake, .webSocket, .http, .tls: break
    }
    // Of its frames a rule of what carries it wants to know.
    if event.context.over != nil { table[place].ownRare.webSocket.note(tally.blamed) }
    let isRare = table[place].rare != nil
    // Measured whole it would be behind each of them.
    let hasGrown = opensMessage && table[place].exchanges.takeGrowth(of: event.context.sender)
    if hasGrown || event.mayGrow || tally.suspicions != suspicions || isRare != wasRare {
      table.account(at: place)
    }
    lastContext = event.context
  }

  /// Says how an event is judged, and notes where bytes are missing before it, or where it is not known
  /// what came first in which direction: then whatever is open may be settled already, as if bytes of both
  /// sides were missing.
  @inline(__always)
  mutating func hear(
    _ event: borrowing EventView, at place: Int, _ mode: Hearing.Mode,
    _ givingUp: UndecidedReason?
  ) -> Hearing {
    switch event.body {
    case .gap, .malformed: table[place].hasLoss = true
    case .opened, .closed, .attempted, .mqtt, .handshake, .webSocket, .http, .tls: break
    }
    noteTime(event, at: place)
    if event.context.isOrderUncertain { table[place].isOrderUncertain = true }
    let hearing = Hearing(
      event.context, mode, &table[place], of: event.subject, givingUp: givingUp)
    if event.context.isOrderUncertain || table[place].isLastMisplaced {
      doubtOrder(at: place, hearing)
      table[place].isLastMisplaced = event.context.isOrderUncertain
    }
    if !table[place].altered.isEmpty { doubtAltered(at: place, hearing) }
    return hearing
  }

  /// Compares the times of both directions.
  @inline(__always)
  private mutating func noteTime(_ event: borrowing EventView, at place: Int) {
    switch event.body {
    case .mqtt, .handshake, .webSocket:
      table[place].clocks.take(Moment(event.context), of: event.context.sender)
    case .closed(let closing) where closing.how != .endOfCapture:
      table[place].clocks.take(
        Moment(time: closing.firstTime, frame: closing.firstFrame), of: event.context.sender)
      // The event itself has the time of the FIN that answers.
      if closing.how == .fin, closing.isAnswered {
        table[place].clocks.take(Moment(event.context), of: event.context.sender.other)
      }
    // A loss has the time of what shows it.
    case .closed, .attempted, .gap, .malformed, .opened, .http, .tls: return
    }
    if table[place].clocks.differ, table[place].rare != nil {
      table[place].ownRare.webSocket.clockDoubt = table[place].clocks.doubt
    }
  }

  /// Takes whatever is open for settled, as if bytes were missing: the ends may have said something else each time.
  @inline(never)
  private mutating func doubtAltered(at place: Int, _ hearing: Hearing) {
    let isWebSocket = table[place].rare?.value.webSocket.isSeen == true
    for peer in Peer.allCases where table[place].altered.contains(Blame(peer)) {
      if isWebSocket { table[place].ownRare.webSocket.lose(from: peer, hearing, &tally) }
      mqtt.lose(from: peer, &table[place], hearing, &tally)
    }
  }

  private mutating func doubtOrder(at place: Int, _ hearing: Hearing) {
    let isWebSocket = table[place].rare?.value.webSocket.isSeen == true
    for peer in Peer.allCases {
      if isWebSocket { table[place].ownRare.webSocket.lose(from: peer, hearing, &tally) }
      mqtt.lose(from: peer, &table[place], hearing, &tally)
    }
  }

  /// Notes what a connection speaks: where it opens, and where it turns out to carry MQTT.
  mutating func note(_ event: borrowing EventView) {
    if case .opened = event.body {
      if table.reports(event.context.connection) { seen.add(event.context.wire) }
      return
    }
    guard event.context.over != nil else { return }
    let place = table.place(of: event.context.connection)
    guard table[place].wire == .webSocket else { return }
    // What was forgotten was counted before.
    if table[place].givenUp == nil, table[place].isReported { seen.add(event.context.wire) }
    table[place].wire = event.context.wire
  }

  /// Notes what a connection speaks by its first event, which need not be its opening.
  mutating func noteFirst(_ event: borrowing EventView, at place: Int) {
    table[place].isNoted = true
    if case .opened = event.body { return }
    // What was forgotten was noted before, and so was what carries it.
    guard table[place].givenUp == nil, table[place].isReported, event.context.over == nil else {
      return
    }
    seen.add(event.context.wire)
  }

  /// Takes the findings of clauses that are reported, of which none was told yet, in the order in which they were made.
  ///
  /// Before the first call none are kept for it. Of each clause there are as many as the options say.
  /// - Returns: The findings with their clauses.
  package mutating func takeNews() -> [(clause: Clause, finding: Finding)] {
    tally.takeNews().compactMap { rule, finding in
      clauses.first { Self.ranks[$0.key] == rule }.map { ($0, finding) }
    }
  }

  /// How many violations have no finding, as there are as many of their clauses as the options say.
  package var untoldFindings: Int { tally.untold }

  /// Keeps the findings on a connection from now on, up to 1,000 of a clause, beside as many on others as the options say.
  /// - Parameter connection: The number of the connection in the file that is being judged.
  package mutating func focus(on connection: Int) { tally.focus(on: connection) }

  /// Tells the verdicts over everything that was consumed.
  /// - Parameter toolVersion: The version that the report names.
  /// - Returns: The report.
  public consuming func report(toolVersion: String) -> ConformanceReport {
    endFile()
    mqtt.finish(&tally)
    let results = clauses.map { clause in
      ClauseResult(
        clause, Self.ranks[clause.key].map { tally[$0] }, seen, isStrict: options.isStrict)
    }
    var report = ConformanceReport(
      toolVersion: toolVersion, inputs: files, results: results,
      isComplete: options.clauses.isEmpty, subjects: tally.kinds?.subjects ?? [], seen: seen,
      subject: options.subject)
    report.untold = tally.focus?.untold ?? tally.untold
    report.isAlone = options.hasOwnMessages
    return report
  }
}

extension EventView {
  /// The end whose conduct it shows; nil where a connection ends, which either end may be to blame for.
  @inline(__always)
  fileprivate var subject: Peer? {
    if case .closed = body { nil } else { context.sender }
  }
}

extension WireProtocol {
  /// Whether it is MQTT of a version whose clauses are judged, be it only inferred.
  var isJudged: Bool { version.map(MQTTJudge.versions.contains) ?? false }
}
