internal import RepriseCore

/// Where rules report: flat counters, and the findings up to a limit.
///
/// A report of a rule costs an addition to an array; text is made for listed findings only.
struct Tally {
  /// The file of the current event.
  var file = "" {
    didSet { clients = [:] }
  }
  /// The ends that broke a rule by the current event.
  private(set) var blamed = Blame()
  private(set) var satisfied: [Int]
  private(set) var violated: [Int]
  /// By rule, and within it by reason.
  private(set) var undecided: [Int]
  /// By rule, whether it was undecided anywhere.
  private var isLeft: [Bool]
  private(set) var findings: [[Finding]]
  /// Where rules were undecided, up to the limit.
  private(set) var places: [[UndecidedPlace]]
  private var causes = Causes()
  /// What the clients of open connections call themselves, by the number of the connection.
  private var clients: [Int: String] = [:]
  /// The findings that nobody was told yet; nil where nobody waits for them.
  private var news: [(rule: RuleIndex, finding: Finding)]?
  /// The violations that wait for the end of the file.
  var held = HeldViolations()
  /// How many violations wait to be confirmed, on all connections.
  private(set) var suspicions = 0
  /// What waited and is being reported.
  private var settling: HeldViolations.Held?
  /// The bytes of the packets that findings have.
  private var packetBytes = 0
  let maximumFindings: Int
  /// How many violations have no finding: their clauses have enough of them.
  private(set) var untold = 0
  /// The connections whose findings are kept beside those of others; nil where all count alike.
  private(set) var focus: FindingFocus?
  /// The kinds of findings, where each is to be listed, however many there are; nil where not.
  private(set) var kinds: FindingKinds?
  private let redaction: RedactionRules
  /// Whose conduct is judged where a clause binds both ends, and which rules do; nil is that of both.
  private let subject: (peer: Peer, bothBound: [Bool])?
  /// By rule, the ends that it binds.
  private let bound: [Blame]
  private static let reasons = UndecidedReason.allCases.count
  private static let mostPacketBytes = 32 << 20
  private static let mostSuspicions = 4_096
  /// Longer names are cut: one can have 64 KiB.
  private static let mostClientBytes = 128

  init(
    bound: [Blame], maximumFindings: Int, redaction: RedactionRules, kinds: FindingKinds? = nil,
    subject: (peer: Peer, bothBound: [Bool])? = nil
  ) {
    let ruleCount = bound.count
    self.bound = bound
    self.kinds = kinds
    self.subject = subject
    satisfied = Array(repeating: 0, count: ruleCount)
    violated = satisfied
    undecided = Array(repeating: 0, count: ruleCount * Self.reasons)
    isLeft = Array(repeating: false, count: ruleCount)
    findings = Array(repeating: [], count: ruleCount)
    places = Array(repeating: [], count: ruleCount)
    self.maximumFindings = maximumFindings
    self.redaction = redaction
  }

  /// Starts an event that the rules are going to report on.
  @inline(__always)
  mutating func beginEvent() {
    blamed = []
    causes.beginEvent()
  }

  /// Takes note that something may be wrong with the current event, which its receiver saw.
  mutating func suspect(_ event: borrowing EventView) { blamed.formUnion(Blame(event)) }

  /// Whether the conduct of an end is judged by a rule.
  /// - Parameters:
  ///   - rule: The rule.
  ///   - peer: The end; nil is either.
  /// - Returns: Whether it is.
  @inline(__always)
  func judges(_ rule: RuleIndex, of peer: Peer?) -> Bool {
    guard let subject, let peer, peer != subject.peer else { return true }
    return !subject.bothBound[rule.value]
  }

  /// The end that a rule is about and that is not heard as it spoke; nil where there is none.
  @inline(never)
  private func altered(_ rule: RuleIndex, _ hearing: Hearing, _ sender: Peer? = nil) -> Peer? {
    var ends =
      bound[rule.value] == [.client, .server]
      ? hearing.subject.map { Blame($0) } ?? [.client, .server] : bound[rule.value]
    if let sender { ends.formUnion(Blame(sender)) }
    return Peer.allCases.first { hearing.altered.intersection(ends).contains(Blame($0)) }
  }

  /// Reports that a clause was kept.
  @inline(__always)
  mutating func satisfy(_ rule: RuleIndex, _ hearing: Hearing) {
    if let doubt = hearing.mode.doubt { return leave(rule, doubt, hearing) }
    if !hearing.altered.isEmpty, let end = altered(rule, hearing) {
      return leave(rule, .altered(by: end), hearing)
    }
    guard hearing.isReported, judges(rule, of: hearing.subject) else { return }
    add(1, satisfying: rule)
  }

  /// Adds what was counted apart, on connections that are judged.
  @inline(__always)
  mutating func add(_ count: Int, satisfying rule: RuleIndex) { satisfied[rule.value] += count }

  /// Reports that the capture does not decide.
  /// - Parameters:
  ///   - rule: The rule.
  ///   - reason: Why it does not.
  ///   - hearing: How the event is judged.
  ///   - moment: The packet that it is about; nil is that of the event.
  @inline(__always)
  mutating func leave(
    _ rule: RuleIndex, _ reason: UndecidedReason, _ hearing: Hearing, at moment: Moment? = nil
  ) {
    guard hearing.isReported, judges(rule, of: hearing.subject) else { return }
    undecided[rule.value * Self.reasons + hearing.reason(for: reason).rawValue] += 1
    isLeft[rule.value] = true
    if places[rule.value].count < maximumFindings {
      places[rule.value].append(place(hearing.reason(for: reason), hearing, moment))
    }
  }

  /// Reports what was counted apart, with the places that were kept of it.
  mutating func leave(
    _ rule: RuleIndex, _ reason: UndecidedReason, times count: Int, at kept: [UndecidedPlace]
  ) {
    guard count > 0 else { return }
    undecided[rule.value * Self.reasons + reason.rawValue] += count
    isLeft[rule.value] = true
    let room = max(0, maximumFindings - places[rule.value].count)
    places[rule.value] += kept.prefix(min(room, count))
  }

  /// The place of a packet, or of the event.
  func place(
    _ reason: UndecidedReason, _ hearing: Hearing, _ moment: Moment? = nil
  ) -> UndecidedPlace {
    let moment = moment ?? hearing.moment
    return UndecidedPlace(
      file: file, scenario: nil, frame: moment.frame, connection: hearing.connection,
      time: moment.time, reason: reason.text)
  }

  /// Reports a violation.
  /// - Parameters:
  ///   - rule: The rule.
  ///   - event: What violates it.
  ///   - hearing: How the current event is judged.
  ///   - isOfAnyVersion: Whether it is one in all versions of MQTT, so that it need not be known.
  ///   - text: What is said of it.
  mutating func violate(
    _ rule: RuleIndex, _ event: borrowing EventView, _ hearing: Hearing,
    isOfAnyVersion: Bool = false, _ text: @autoclosure () -> FindingText
  ) {
    blamed.formUnion(Blame(event))
    guard hearing.isReported, judges(rule, of: hearing.subject) else { return }
    if let doubt = hearing.mode.doubt, !(isOfAnyVersion && hearing.mode == .inferred) {
      return leave(rule, doubt, hearing)
    }
    if !hearing.altered.isEmpty {
      // A packet of an altered stream may have become one that only the other end sends.
      let isSent = if case .closed = event.body { false } else { true }
      if let end = altered(rule, hearing, isSent ? event.context.sender : nil) {
        return leave(rule, .altered(by: end), hearing)
      }
    }
    guard !event.context.isRebuilt, !event.isHidden(from: rule, hearing.version) else {
      return leave(rule, .hidden, hearing)
    }
    // A caller that waits for news is told at once, as nobody knows when a live connection ends.
    if settling == nil,
      news == nil
        ? held.waits(rule, event, hearing.version) : held.waitsForSilence(rule, hearing.version)
    {
      let client = clients[event.context.connection]
      if !held.add(rule, event, hearing, of: client, text().shortened) {
        leave(rule, .tooMany, hearing)
      }
      return
    }
    violated[rule.value] += 1
    let isBeyond = isBeyond(rule, event.context.connection)
    guard !isBeyond || kinds != nil else {
      untold += 1
      return
    }
    let text = text().shortened
    let context = event.context
    var packet: [UInt8] = []
    // Of a large packet its start is shown; of what comes when there was too much of it already, less.
    let most = packetBytes < Self.mostPacketBytes ? 1 << 16 : 1 << 9
    EventJSONWriter(hiding: redaction, file: file).append(event.start(of: most), to: &packet)
    packetBytes += packet.count
    var finding = Finding(
      file: file, frame: context.frame, connection: context.connection, time: context.time,
      message: redaction.shown(text.message), packet: packet,
      expected: redaction.shown(text.expected), actual: redaction.shown(text.actual))
    finding.evidence = text.evidence
    finding.client = settling?.client ?? clients[context.connection]
    finding.cause = causes.number(of: text.cause, frame: context.frame)
    if kinds?.take(finding, of: rule, isBeyond: isBeyond) == false { return }
    findings[rule.value].append(finding)
    news?.append((rule, finding))
  }

  /// Whether a clause has enough findings without one on a connection.
  private mutating func isBeyond(_ rule: RuleIndex, _ connection: Int) -> Bool {
    if focus?.contains(connection) == true { return focus?.takes(rule) == false }
    return findings[rule.value].count - (focus?[rule] ?? 0) >= maximumFindings
  }

  /// Keeps the findings on a connection from now on, however many others have.
  mutating func focus(on connection: Int) {
    if focus == nil { focus = FindingFocus(ruleCount: findings.count) }
    focus?.insert(connection)
  }

  /// Reports what waited for the end of the file, and nothing in it explains.
  mutating func settleHeld() {
    let all = held.end()
    defer { settling = nil }
    for (violation, doubt) in all {
      settling = violation
      if let doubt {
        leave(violation.rule, doubt, violation.hearing, at: Moment(violation.event.context))
        continue
      }
      beginEvent()
      violation.event.withView {
        violate(violation.rule, $0, violation.hearing, isOfAnyVersion: true, violation.text)
      }
    }
  }

  /// Takes note of what the client of a connection calls itself.
  mutating func meet(_ clientID: RawSpan, on connection: Int, isReported: Bool) {
    guard clientID.byteCount > 0, clients[connection] == nil else { return }
    clients[connection] = Self.name(of: clientID, redaction)
    if isReported, let client = clients[connection] { kinds?.meet(client) }
  }

  /// What a client is called in findings.
  static func name(of clientID: RawSpan, _ redaction: RedactionRules) -> String {
    let shown = clientID.extracting(..<min(clientID.byteCount, mostClientBytes))
    return redaction.shown(shown.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }

  /// Forgets what the client of a connection calls itself: the connection is over.
  mutating func forgetClient(of connection: Int) {
    if !clients.isEmpty { clients.removeValue(forKey: connection) }
  }

  /// Takes the findings that were made since the last call; from the first one on they are kept for it.
  mutating func takeNews() -> [(rule: RuleIndex, finding: Finding)] {
    defer { news = [] }
    return news ?? []
  }

  /// Takes note of a violation that will wait; false when too many do.
  mutating func addSuspicion() -> Bool {
    guard suspicions < Self.mostSuspicions else { return false }
    suspicions += 1
    return true
  }

  /// Takes note that violations wait no more.
  mutating func removeSuspicions(_ count: Int) { suspicions -= count }

  /// Returns how often a rule was undecided, by reason, the most frequent first.
  func reasons(of rule: RuleIndex) -> [UndecidedCount] {
    // Of most rules nothing is.
    guard isLeft[rule.value] else { return [] }
    return [UndecidedCount](counting: { undecided[rule.value * Self.reasons + $0.rawValue] })
  }
}

/// The place of a rule in the flat counters.
struct RuleIndex: Hashable {
  let value: Int
}

/// The ends of a connection that broke a rule.
struct Blame: OptionSet {
  let rawValue: UInt8

  static let client = Blame(rawValue: 1)
  static let server = Blame(rawValue: 2)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(_ peer: Peer) { self = peer == .client ? .client : .server }

  /// The end that sent what breaks a rule; where a connection ends it may be either.
  init(_ event: borrowing EventView) {
    if case .closed = event.body {
      self = [.client, .server]
    } else {
      self = Blame(event.context.sender)
    }
  }
}

/// The causes of findings: several clauses may speak of the same bytes.
private struct Causes {
  /// Those of the current event, with their numbers.
  private var known: [(cause: String, frame: Int, number: Int)] = []
  private var next = 0

  @inline(__always)
  mutating func beginEvent() {
    if !known.isEmpty { known.removeAll() }
  }

  /// Numbers a cause; one that was met in the current event keeps its number.
  mutating func number(of cause: String, frame: Int) -> Int {
    if let met = known.first(where: { $0.cause == cause && $0.frame == frame }) {
      return met.number
    }
    known.append((cause, frame, next))
    next += 1
    return next - 1
  }
}
