internal import RepriseCore

/// Violations that hold only if nothing else in the file speaks against them: a copy of the message that comes later,
/// or messages of publishers that are not in the capture.
struct PendingFindings {
  /// What a violation rests on, besides its connection.
  enum Basis {
    /// What clients published.
    case messages
    /// What an end made of a session that goes on, between its two connections.
    case session(of: Peer, ClosedRange<Timestamp>)
    /// That there was a session between two connections, which another one may have begun.
    case presence(ClosedRange<Timestamp>)
  }

  /// Behind what end of its connection a rule of the server may say the same as the will of a client.
  enum LoneWill {
    case disconnect
    case anyEnd
  }

  struct Entry {
    var rule: RuleIndex
    var event: Event
    var text: FindingText
    var hearing: Hearing
    /// The connection and the message that it is about.
    var connection: Int
    var key: UInt64
    /// The server that must have had no other publishers; 0 where that does not matter.
    var server: UInt64
    /// Whether a later delivery of the message that is as it should be takes it back.
    var isTakenBack = false
    /// The QoS of that delivery: what comes at QoS 0 may overtake it, but not what was published later than it came.
    var copyQoS: UInt8 = 0
    var basis = Basis.messages
    /// Whether another message has to show the same: one alone may be that of a publisher which is not in the capture and
    /// says the same, where nobody is to get the one that is.
    var needsAnother = false
    /// Whether what shows that it did not come was published later: what the server had before may come before it, as
    /// retained messages do, of which there may be many.
    var needsLater = false
    /// Behind what nobody but the will must say that a client is gone; nil where that does not matter.
    var needsLoneWill: LoneWill?
    /// Whether another message was delivered behind it, before which such a copy would have come.
    var isPassed = false

    fileprivate init(
      _ rule: MQTTRule, _ event: borrowing EventView, _ hearing: Hearing, on connection: Int,
      key: UInt64, server: UInt64, _ text: FindingText
    ) {
      self.rule = rule.index(in: hearing.version)
      self.event = Event(copying: event.start(of: PendingFindings.mostBytes))
      self.text = text.shortened
      self.hearing = hearing
      self.connection = connection
      self.key = key
      self.server = server
    }

    /// Whether it says something, with all that there are.
    func isShown(by entries: [Entry]) -> Bool {
      !needsAnother
        || entries.contains { $0.rule == rule && $0.server == server && $0.key != key }
    }
  }

  private(set) var entries: [Entry] = []
  /// The connections of those that nothing has passed yet.
  private var waiting: Set<Int> = []
  /// Those that have, or had, one that a copy at a QoS above 0 takes back.
  private var withCopies: Set<Int> = []
  /// The copies that were as they should be.
  private var settled = FlatTable(limit: 65_536, empty: ())
  static let maximum = 1_024
  /// The most bytes of a packet that wait with it.
  fileprivate static let mostBytes = 4 << 10

  /// Keeps a violation; beyond a limit it is left undecided.
  ///
  /// The copy that takes it back may be one on another connection.
  mutating func add(
    _ rule: MQTTRule, _ event: borrowing EventView, _ hearing: Hearing, key: UInt64,
    server: UInt64, isTakenBack: Bool = false, copyQoS: UInt8 = 0, needsAnother: Bool = false,
    needsLater: Bool = false, needsLoneWill: LoneWill? = nil, on other: Int? = nil,
    _ tally: inout Tally, _ text: FindingText
  ) {
    guard entries.count < Self.maximum else { return tally.leave(rule, .tooMany, hearing) }
    let connection = other ?? event.context.connection
    var entry = Entry(rule, event, hearing, on: connection, key: key, server: server, text)
    entry.isTakenBack = isTakenBack
    entry.copyQoS = copyQoS
    entry.needsAnother = needsAnother
    entry.needsLater = needsLater
    entry.needsLoneWill = needsLoneWill
    entries.append(entry)
    if isTakenBack { waiting.insert(connection) }
    if isTakenBack, copyQoS > 0 { withCopies.insert(connection) }
  }

  /// Keeps a violation about what an end knows of a session from the connection before, as far as there is room.
  ///
  /// What clients publish does not matter for it. The key tells the message of the session that it is about.
  mutating func add(
    _ rule: MQTTRule, by basis: Basis, _ event: borrowing EventView,
    _ hearing: Hearing, key: UInt64 = 0, server: UInt64, _ tally: inout Tally,
    _ text: FindingText
  ) {
    guard entries.count < Self.maximum else { return tally.leave(rule, .tooMany, hearing) }
    var entry = Entry(
      rule, event, hearing, on: event.context.connection, key: key, server: server, text)
    entry.basis = basis
    entries.append(entry)
  }

  /// Notes that a message was delivered.
  /// - Parameters:
  ///   - connection: Where.
  ///   - key: Which one it is.
  ///   - published: When, as far as it may overtake others; nil where that is not known.
  mutating func pass(on connection: Int, key: UInt64, published: Timestamp?) {
    guard !waiting.isEmpty, waiting.contains(connection) else { return }
    var rest = false
    for index in entries.indices where entries[index].connection == connection {
      let came = entries[index].event.context.time
      let isFree = entries[index].copyQoS == 0 && !entries[index].needsLater
      let passes = isFree || published.map { $0 > came } ?? false
      if entries[index].key != key, passes { entries[index].isPassed = true } else { rest = true }
    }
    if !rest { waiting.remove(connection) }
  }

  /// Takes back what is missing a copy at a QoS above 0, which came, whatever is known of the subscriptions by now.
  mutating func takeBackCopies(on connection: Int, key: UInt64, _ qos: UInt8) {
    guard !entries.isEmpty, withCopies.contains(connection) else { return }
    entries.removeAll {
      $0.isTakenBack && $0.copyQoS > 0 && $0.copyQoS <= qos && $0.connection == connection
        && $0.key == key
    }
  }

  /// Takes back what a delivery shows to be no violation, now and later: the copy that is as it should be came.
  mutating func settle(_ rule: MQTTRule, on connection: Int, key: UInt64, _ hearing: Hearing) {
    if !settled.isFull { _ = settled.update(Self.copy(rule, connection, key)) { _, _ in } }
    takeBack(rule, on: connection, key: key, hearing)
  }

  /// Takes back what a delivery shows to be no violation.
  mutating func takeBack(_ rule: MQTTRule, on connection: Int, key: UInt64, _ hearing: Hearing) {
    takeBack(rule.index(in: hearing.version), on: connection, key: key)
  }

  /// Takes back what a delivery of one message, or of any where the key is nil, shows to be no violation.
  mutating func takeBack(_ rule: RuleIndex, on connection: Int, key: UInt64?) {
    guard !entries.isEmpty else { return }
    entries.removeAll {
      $0.isTakenBack && $0.rule == rule && $0.connection == connection
        && (key == nil || $0.key == key)
    }
  }

  /// Takes out those about a message that was published once more about when it was delivered: which of the two was is
  /// not known, as the one that comes later in the capture may have been the earlier one.
  mutating func removeAmbiguous(_ key: UInt64, at time: Timestamp) -> [Entry] {
    guard !entries.isEmpty else { return [] }
    func isAmbiguous(_ entry: Entry) -> Bool {
      entry.key == key
        && time.nanoseconds(since: entry.event.context.time).magnitude
          <= BrokerJudge.longAgo.magnitude
    }
    let ambiguous = entries.filter(isAmbiguous)
    if !ambiguous.isEmpty { entries.removeAll(where: isAmbiguous) }
    return ambiguous
  }

  /// Whether the copy that is as it should be came before, or may have.
  func isSettled(_ rule: MQTTRule, on connection: Int, key: UInt64) -> Bool {
    settled.isFull || settled.contains(Self.copy(rule, connection, key))
  }

  /// Has at hand whether such a copy came, which is asked for soon.
  @inline(__always)
  func prefetch(_ rule: MQTTRule, on connection: Int, key: UInt64) {
    settled.prefetch(Self.copy(rule, connection, key))
  }

  @inline(__always)
  private static func copy(_ rule: MQTTRule, _ connection: Int, _ key: UInt64) -> UInt64 {
    let place = UInt64(truncatingIfNeeded: connection) << 16 | UInt64(rule.rawValue)
    return key ^ place &* 0x9E37_79B9_7F4A_7C15
  }

  /// Takes out those of a connection that a copy may take back, which may be among what was lost, or have waited.
  /// - Parameters:
  ///   - connection: The connection.
  ///   - time: Whether those alone that came from then on; nil takes out all.
  /// - Returns: What was taken out.
  mutating func removeCopies(on connection: Int, from time: Timestamp? = nil) -> [Entry] {
    guard !entries.isEmpty else { return [] }
    func mayBeTakenBack(_ entry: Entry) -> Bool {
      guard entry.isTakenBack, entry.connection == connection else { return false }
      return time.map { entry.event.context.time >= $0 } ?? true
    }
    let lost = entries.filter(mayBeTakenBack)
    if !lost.isEmpty { entries.removeAll(where: mayBeTakenBack) }
    if time == nil { waiting.remove(connection) }
    return lost
  }

  /// Takes out those of some rules on a connection.
  mutating func remove(_ rules: [RuleIndex], on connection: Int) -> [Entry] {
    guard !entries.isEmpty else { return [] }
    func isOne(_ entry: Entry) -> Bool {
      entry.connection == connection && rules.contains(entry.rule)
    }
    let found = entries.filter(isOne)
    if !found.isEmpty { entries.removeAll(where: isOne) }
    return found
  }

  /// Takes out those of a rule about a message, on whichever connection.
  mutating func remove(_ rule: MQTTRule, about key: UInt64) -> [Entry] {
    guard !entries.isEmpty else { return [] }
    func isOne(_ entry: Entry) -> Bool {
      entry.key == key && entry.rule == rule.index(in: entry.hearing.version)
    }
    let found = entries.filter(isOne)
    if !found.isEmpty { entries.removeAll(where: isOne) }
    return found
  }

  /// Whether a connection has one of a rule.
  func contains(_ rule: MQTTRule, on connection: Int, _ hearing: Hearing) -> Bool {
    let index = rule.index(in: hearing.version)
    return entries.contains { $0.connection == connection && $0.rule == index }
  }

  mutating func removeAll() -> [Entry] {
    defer { self = PendingFindings() }
    return entries
  }
}
