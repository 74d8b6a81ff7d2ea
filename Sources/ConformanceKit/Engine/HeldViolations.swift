internal import RepriseCore
internal import Wire

/// Violations that stand only if the rest of the file does not explain them: what is missing of a connection is told
/// when something comes behind it, and that what was sent arrived late is known when the connection is over.
struct HeldViolations {
  /// A stretch of time, in nanoseconds since 1970.
  private struct Stretch {
    var from: Int64
    var to: Int64
  }

  /// What the end of a connection says of the silences of its client.
  private enum Silences {
    /// It was not told.
    case untold
    /// The longest that is known, in nanoseconds; nil where the packets say it.
    case told(Int64?)
  }

  /// A violation that waits.
  struct Held {
    let rule: RuleIndex
    let event: Event
    let hearing: Hearing
    let text: FindingText
    /// What the client of the connection calls itself.
    let client: String?
    /// Whether it rests on the connection before, from which the client is said to have its session.
    let isOfSession: Bool
    /// Whether it rests on when something arrived.
    let isOfTime: Bool
  }

  /// The times between two connections of a client of which the second is judged by the first, by the second.
  private var gaps: [Int: Stretch] = [:]
  /// When a connection may have been there of which nothing, or not all, is in the capture.
  private var unseen: [Stretch] = []
  /// The connections on which something that was sent arrived late.
  private var late: Set<Int> = []
  /// The connections that were open where the clock may have been set, and whether it may have been set for any.
  private var set: Set<Int> = []
  private var mayAnyBeSet = false
  /// Whether the capture was put together of two whose clocks differ.
  private var clocksAreMerged = false
  /// What is known of the silences of clients that seem to have been silent for too long, by their connections.
  private var silences: [Int: Silences] = [:]
  /// Whether there were more of the former, or of the latter, than are kept: then any may be among them.
  private var hasMoreGaps = false
  private var hasMoreLate = false
  private var held: [Held] = []
  private static let maximum = 4_096
  private static let mostStretches = 65_536
  /// The most bytes of a packet that wait with it.
  private static let mostBytes = 4 << 10

  /// Takes note that a connection is judged by the one before, and of the time between the two.
  mutating func follow(_ connection: Int, from: Timestamp, to: Timestamp) {
    guard gaps.count < Self.mostStretches else { return hasMoreGaps = true }
    gaps[connection] = Stretch(from: from.nanoseconds, to: to.nanoseconds)
  }

  /// Takes note that a connection may have been there meanwhile of which nobody knows whose it was.
  mutating func noteUnseen(from: Timestamp, to: Timestamp) {
    let stretch = Stretch(from: from.nanoseconds, to: max(from, to).nanoseconds)
    if unseen.count < Self.mostStretches {
      unseen.append(stretch)
    } else {
      // From then on one stands for all.
      let last = unseen.count - 1
      unseen[last].from = min(unseen[last].from, stretch.from)
      unseen[last].to = max(unseen[last].to, stretch.to)
    }
  }

  /// Takes note of what the end of a connection says of all of it, where it is told.
  mutating func note(_ closing: ConnectionClosing, of connection: Int) {
    if closing.isLate {
      if late.count < Self.mostStretches { late.insert(connection) } else { hasMoreLate = true }
    }
    if closing.isOfMergedClocks { clocksAreMerged = true }
    if silences[connection] != nil { silences[connection] = .told(closing.clientSilence) }
  }

  /// Takes note that the clock may have been set while a connection was open.
  mutating func noteSet(_ connection: Int) {
    if set.count < Self.mostStretches { set.insert(connection) } else { mayAnyBeSet = true }
  }

  /// Takes note that nobody knows whether the clock was set.
  mutating func noteAnySet() { mayAnyBeSet = true }

  /// Whether a violation has to wait also where somebody wants to be told of it at once: what was captured away from a
  /// client shows no silence of it.
  func waitsForSilence(
    _ rule: RuleIndex, _ version: MQTTVersion
  ) -> Bool {
    switch MQTTRule(rawValue: rule.value - MQTTJudge.base(of: version)) {
    case .keepAlive, .serverKeepAliveIsKept, .connackKeepAliveIsKept: true
    default: false
    }
  }

  /// Whether a violation has to wait.
  func waits(_ rule: RuleIndex, _ event: borrowing EventView, _ version: MQTTVersion) -> Bool {
    if case .closed = event.body { return true }
    guard let fold = MQTTRule(rawValue: rule.value - MQTTJudge.base(of: version)) else {
      return false
    }
    return fold.restsOnTime || fold.restsOnSession && mayFollow(event.context.connection)
  }

  /// Keeps a violation.
  /// - Returns: Whether there was room for it.
  mutating func add(
    _ rule: RuleIndex, _ event: borrowing EventView, _ hearing: Hearing, of client: String?,
    _ text: FindingText
  ) -> Bool {
    guard held.count < Self.maximum else { return false }
    let fold = MQTTRule(rawValue: rule.value - MQTTJudge.base(of: hearing.version))
    let isOfSession = mayFollow(event.context.connection) && fold?.restsOnSession == true
    if text.silence != nil { watchSilence(event) }
    held.append(
      Held(
        rule: rule, event: Event(copying: event.start(of: Self.mostBytes)), hearing: hearing,
        text: text, client: client, isOfSession: isOfSession, isOfTime: fold?.restsOnTime == true))
    return true
  }

  /// Waits for what is known of the client's silences; its own end says it at once.
  private mutating func watchSilence(_ event: borrowing EventView) {
    let connection = event.context.connection
    if case .closed(let closing) = event.body {
      silences[connection] = .told(closing.clientSilence)
    } else if silences[connection] == nil {
      silences[connection] = .untold
    }
  }

  /// Whether a connection is judged by the one before, or may be.
  private func mayFollow(_ connection: Int) -> Bool { hasMoreGaps || gaps[connection] != nil }

  /// Ends a file: tells of each violation why it does not stand; nil where it does.
  mutating func end() -> [(violation: Held, doubt: UndecidedReason?)] {
    defer { self = HeldViolations() }
    guard !held.isEmpty else { return [] }
    let merged = mergedStretches
    return held.map { ($0, doubt(of: $0, merged)) }
  }

  private func doubt(of violation: Held, _ unseen: [Stretch]) -> UndecidedReason? {
    let own = violation.event.context.connection
    if violation.isOfSession {
      guard let gap = gaps[own] else { return .tooMany }
      if Self.overlaps(gap, unseen) { return .connectionsUnseen }
    }
    if let least = violation.text.silence, let silences = silences[own] {
      switch silences {
      case .untold: return .endOfCapture
      case .told(let known?) where known < least: return .silenceNotShown
      case .told: break
      }
    }
    if hasMoreLate { return .tooMany }
    let others = violation.text.evidence.map(\.connection)
    // Connections that were over before it showed are concerned as well.
    if clocksAreMerged, violation.isOfTime || others.contains(where: { $0 != own }) {
      return .arrivedLate
    }
    let all = [own] + others
    if all.contains(where: late.contains) { return .arrivedLate }
    return mayAnyBeSet || all.contains(where: set.contains) ? .clockMayBeSet : nil
  }

  /// The times of unseen connections in their order, none of which touches the next.
  private var mergedStretches: [Stretch] {
    var merged: [Stretch] = []
    for stretch in unseen.sorted(by: { $0.from < $1.from }) {
      if let last = merged.last, stretch.from <= last.to {
        merged[merged.count - 1].to = max(last.to, stretch.to)
      } else {
        merged.append(stretch)
      }
    }
    return merged
  }

  private static func overlaps(_ gap: Stretch, _ merged: [Stretch]) -> Bool {
    var (low, high) = (0, merged.count)
    while low < high {
      let middle = (low + high) / 2
      if merged[middle].to < gap.from { low = middle + 1 } else { high = middle }
    }
    return low < merged.count && merged[low].from < gap.to
  }
}

extension MQTTRule {
  /// Whether it judges by what is known of the client's connection before.
  fileprivate var restsOnSession: Bool {
    switch self {
    case .topicMatchesFilter, .matchingIsRaw, .wildcardsSpareDollarTopics, .grantedQoSIsKept,
      .sharedQoSIsKept, .overlapsGetHighestQoS, .overlapsAreNumbered, .mergedCopyHasAllNumbers,
      .copiesHaveOwnNumbers, .numbersAreOfSubscriptions, .noLocalIsKept, .unsubscribedGetsNothing,
      .unsubscribedIsExact, .liveIsNotRetained, .retainIsAsPublished, .retainedIsMarked,
      .newSubscriptionGetsRetained, .handlingSendsOnce, .handlingSendsNothing, .orderIsKept,
      .everySubscriberGetsIt:
      true
    case .absentSessionIsTold, .cleanStartEndsSession, .absentSessionIsMade, .sessionEndsInTime,
      .presentSessionIsTold, .repeatsHaveDup, .repeatsComeWithSession, .repeatsKeepOrder,
      .nothingAgainBehindPubrel, .qos2TakesFreeIdentifier:
      true
    default: false
    }
  }

  /// Whether it judges by when something arrived, of which a capture shows when it was sent.
  fileprivate var restsOnTime: Bool {
    switch self {
    case .expiryIsCountedDown, .expiredIsDeleted, .olderConnectionEnds, .keepAlive,
      .keepAliveIsEnforced, .clientKeepAliveIsEnforced, .serverKeepAliveIsKept,
      .connackKeepAliveIsKept, .retainedIsMarked, .refusedIsNotRepeated, .grantedQoSIsKept,
      .formatIsForwarded, .responseTopicIsForwarded, .correlationIsForwarded,
      .userPropertiesAreForwarded, .userPropertiesKeepOrder, .contentTypeIsForwarded,
      .disconnectDropsWill, .willIsRemoved, .absentSessionIsTold, .cleanStartEndsSession,
      .absentSessionIsMade, .sessionEndsInTime:
      true
    default: false
    }
  }
}
