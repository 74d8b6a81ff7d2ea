internal import RepriseCore
internal import Wire

/// What servers have to keep as the retained messages of topics, as far as a capture shows it (section 3.3.1.3).
///
/// That a message was stored, and was the last one, shows a client that was subscribed all the time, the watcher: it
/// got the message live and nothing on the topic behind it, whoever published it.
struct RetainedTopics {
  /// The last message with RETAIN on a topic.
  struct Kept {
    var key: UInt64 = 0
    var sent = Moment(time: Timestamp(nanoseconds: 0), frame: 0)
    var connection = 0
    var client: UInt64 = 0
    var qos: UInt8 = 0
    var isEmpty = false
    /// Whether it takes the place of another one.
    var replaces = false
    /// Whether others may have come to the server behind it.
    var isDoubtful = false
    /// The connection that got it live, and when.
    var watcher = 0
    var watcherUser: UInt64 = 0
    var watched = Moment(time: Timestamp(nanoseconds: 0), frame: 0)
    /// Whether a new subscription got it.
    var isServed = false
    /// The last message without RETAIN that the watcher got behind it; 0 where there is none.
    var plain: UInt64 = 0
    var plainTime = Timestamp(nanoseconds: 0)
    /// Whether there were others before it.
    var hasSeveralPlain = false
    var plainIsWill = false
    /// Whether something waits that a later message to the watcher takes back.
    var isAccused = false
  }

  private var topics = RowTable<Kept>(limit: maximum)
  private(set) var marks = TopicMarks()
  /// The connections that watch a topic, by the frames from which they do.
  private var watchers: [Int: Int] = [:]
  private static let maximum = 16_384
  private static let mostWatchers = 4_096

  subscript(topic: UInt64) -> Kept? { topics[topic] }

  /// Changes what is known of a topic; false where there is nothing.
  mutating func change(_ topic: UInt64, _ body: (inout Kept) -> Void) {
    topics.change(topic, body)
  }

  /// Takes a message that is to be kept from now on.
  mutating func keep(_ name: RawSpan, _ topic: UInt64, _ body: (inout Kept, Bool) -> Void) {
    marks.insert(name)
    _ = topics.update(topic, orElse: Kept(), body)
  }

  /// Takes note that a client got the message of a topic live.
  /// - Returns: Whether it can watch the topic.
  mutating func watch(_ connection: Int, _ frame: Int) -> Bool {
    if watchers[connection] == nil {
      guard watchers.count < Self.mostWatchers else { return false }
      watchers[connection] = frame
    }
    return true
  }

  /// Whether the watcher of a topic was subscribed all the time.
  func isWatched(_ kept: Kept) -> Bool {
    watchers[kept.watcher].map { $0 <= kept.watched.frame } ?? false
  }

  /// Takes note that a client may not get all that it is subscribed to any more.
  mutating func leave(_ connection: Int) {
    if !watchers.isEmpty { watchers[connection] = nil }
  }
}

// Retained messages that are stored, replaced and removed.
extension BrokerJudge {
  private static let rules: [MQTTRule] = [
    .retainedIsStored, .newSubscriptionGetsRetained, .qos0ReplacesRetained, .emptyClearsRetained,
    .emptyIsNotStored, .plainIsNotStored, .plainWillStaysPlain, .retainedWillIsRetained,
  ]

  /// Takes a message of a client with RETAIN.
  mutating func keep(
    _ packet: borrowing MQTTPacketView, _ name: RawSpan, _ key: UInt64, isRepeat: Bool,
    _ context: EventContext, _ state: inout ConnectionState
  ) {
    let topic = ContentHash.of(name, in: state.identity.endpoint)
    // One message of two topics would look like two of one.
    if name.holdsHidden { doubt(state.identity.endpoint, .hidden) }
    // Behind another message nobody looks any more for the copy that would take it back.
    if let old = retained[topic], old.isAccused { takeBack(old.watcher, nil) }
    let isAgain = isRepeat || packet.dup
    let (qos, isEmpty, client) = (packet.qos, packet.payload.byteCount == 0, state.identity.client)
    retained.keep(name, topic) { kept, isNew in
      guard !isAgain else {
        kept.isDoubtful = true
        return
      }
      // Whose message comes first where two send at once the server alone knows.
      let isRacing =
        !isNew && (kept.connection != context.connection || kept.qos != qos)
        && context.time.nanoseconds(since: kept.sent.time) < Self.settled
      var next = RetainedTopics.Kept()
      next.key = key
      next.sent = Moment(context)
      next.connection = context.connection
      next.client = client
      next.qos = qos
      next.isEmpty = isEmpty
      next.isDoubtful = isRacing
      next.replaces = !isNew && !kept.isEmpty && kept.key != key
      kept = next
    }
  }

  /// Looks at a message on a topic of which something is retained.
  mutating func judgeKept(
    _ packet: borrowing MQTTPacketView, _ name: RawSpan, _ topic: UInt64, _ content: ContentHash,
    _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let kept = retained[topic] else {
      keepWill(packet, name, topic, content, delivery, event, state.identity.user)
      return
    }
    let isWatcher = kept.watcher == event.context.connection
    if kept.isAccused { takeBack(event.context.connection, delivery.key) }
    if packet.retain {
      if isWatcher, delivery.key != kept.key {
        retained.change(topic) { $0.isDoubtful = true }
      }
      if delivery.isNew, delivery.key != kept.key {
        pending.settle(
          .retainedIsMarked, on: event.context.connection, key: Self.otherKept, hearing)
      }
      guard delivery.isNew, !packet.dup, delivery.isKnown, !delivery.matching.somePublished,
        state.opening.connect?.isBridge == false, !name.extracting(first: 1).equals("$"),
        isSettled(kept.sent.time, before: delivery),
        publication(of: delivery).map({ $0.isWill || isSettled($0.last, before: delivery) })
          ?? true
      else { return }
      judgeStored(kept, topic, delivery, event, state.identity.user, hearing, &tally)
    } else if !packet.dup {
      watch(
        packet, kept, name, topic, content, delivery, event, state.identity.user, hearing, &tally)
    }
  }

  /// Takes back what waited where somebody said meanwhile what a new subscription got, whatever version that speaks.
  private mutating func takeBack(_ watcher: Int, _ key: UInt64?) {
    for version in MQTTJudge.versions {
      for rule in Self.rules where rule.clauses[version] != nil {
        pending.takeBack(rule.index(in: version), on: watcher, key: key)
      }
    }
  }

  // MARK: What a watcher gets

  private mutating func watch(
    _ packet: borrowing MQTTPacketView, _ kept: RetainedTopics.Kept, _ name: RawSpan,
    _ topic: UInt64, _ content: ContentHash, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ user: UInt64, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let connection = event.context.connection
    if delivery.key == kept.key {
      guard let source = source(of: delivery), source.retain, isEstablished(delivery, source),
        !delivery.matching.isShared, hasOwnMessages || delivery.matching.grantedQoS > 0,
        retained.watch(connection, event.context.frame)
      else { return }
      retained.change(topic) {
        $0.watcher = connection
        $0.watcherUser = user
        $0.watched = Moment(event.context)
      }
      // An empty message is for those who are there like any other.
      if kept.isEmpty { tally.satisfy(.emptyClearsRetained, hearing) }
      return
    }
    countCleared(kept, delivery, hearing, &tally)
    let isKept = keepWill(packet, name, topic, content, delivery, event, user)
    guard connection == kept.watcher, !isKept else { return }
    let isPlain =
      publication(of: delivery).map {
        !$0.retain && !$0.isMixed && !$0.wasThere
          && ($0.isWill ? wills[content.value]?.holders == $0.count : $0.count == 1)
      } ?? false
    let isWill = publication(of: delivery)?.isWill ?? false
    retained.change(topic) {
      // More copies than messages are of a publisher that is not in the capture.
      guard isPlain, $0.plain != delivery.key else {
        $0.isDoubtful = true
        return
      }
      if $0.plain != 0 { $0.hasSeveralPlain = true }
      $0.plain = delivery.key
      $0.plainTime = event.context.time
      $0.plainIsWill = isWill
    }
  }

  /// Takes a will with Will Retain, which the server keeps once it published it.
  /// - Returns: Whether the message is one.
  @discardableResult
  private mutating func keepWill(
    _ packet: borrowing MQTTPacketView, _ name: RawSpan, _ topic: UInt64, _ content: ContentHash,
    _ delivery: borrowing Delivery, _ event: borrowing EventView, _ user: UInt64
  ) -> Bool {
    guard let publication = publication(of: delivery), publication.isWill, publication.retain,
      publication.count == 1, !packet.retain, !packet.dup,
      let will = wills[content.value], will.holders == 1
    else { return false }
    let connection = event.context.connection
    let alive = Timestamp(nanoseconds: will.due?.alive ?? .max)
    let canWatch =
      will.due != nil && isEstablished(delivery, at: alive) && !delivery.matching.isShared
      && (hasOwnMessages || delivery.matching.grantedQoS > 0)
      && retained.watch(connection, event.context.frame)
    retained.keep(name, topic) { kept, isNew in
      guard kept.key != delivery.key else { return }
      var next = RetainedTopics.Kept()
      next.key = delivery.key
      next.sent = Moment(event.context)
      next.connection = will.connection
      next.client = publication.client
      next.qos = publication.qos
      next.isEmpty = packet.payload.byteCount == 0
      next.replaces = !isNew && !kept.isEmpty
      // Of two at once the server alone knows which one came first.
      let isOlder = kept.sent.time >= (will.due?.moment.time ?? kept.sent.time)
      next.isDoubtful =
        !isNew && (isOlder || next.sent.time.nanoseconds(since: kept.sent.time) < Self.settled)
      if canWatch {
        next.watcher = connection
        next.watcherUser = user
        next.watched = next.sent
      }
      kept = next
    }
    return true
  }

  /// Counts that nothing came from a topic that was cleared, to one that subscribed later and gets its next message.
  private func countCleared(
    _ kept: RetainedTopics.Kept, _ delivery: borrowing Delivery, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard kept.isEmpty, !kept.isDoubtful, kept.watcher != 0, delivery.isNew, delivery.isKnown,
      let source = source(of: delivery), isEstablished(delivery, source),
      isSettled(kept.watched.time, before: delivery)
    else { return }
    tally.satisfy(.emptyClearsRetained, hearing)
    tally.satisfy(.emptyIsNotStored, hearing)
  }

  // MARK: What a new subscription gets

  private mutating func judgeStored(
    _ kept: RetainedTopics.Kept, _ topic: UInt64, _ delivery: borrowing Delivery,
    _ event: borrowing EventView, _ user: UInt64, _ hearing: Hearing, _ tally: inout Tally
  ) {
    if delivery.key == kept.key, !kept.isEmpty {
      tally.satisfy(.retainedIsStored, hearing)
      if hearing.version == .v3_1_1 {
        if kept.qos == 0, kept.replaces { tally.satisfy(.qos0ReplacesRetained, hearing) }
        if let end = sessions[kept.client]?.end, end.lasts == 0 {
          tally.satisfy(.retainedOutlivesSession, hearing)
        }
      }
      if kept.plain != 0, isSettled(kept.plainTime, before: delivery) {
        tally.satisfy(kept.plainIsWill ? .plainWillStaysPlain : .plainIsNotStored, hearing)
      }
      return retained.change(topic) { $0.isServed = true }
    }
    let isPlain = delivery.key == kept.plain
    let rules = rules(
      for: kept, isSame: delivery.key == kept.key, isPlain: isPlain, hearing.version)
    guard !kept.isDoubtful, kept.watcher != 0, retained.isWatched(kept),
      kept.watcher != event.context.connection, kept.watcherUser == user,
      isSettled(kept.watched.time, before: delivery)
    else {
      for rule in rules { tally.leave(rule, .publishersUnseen, hearing) }
      return
    }
    // One that was there before may be what came back, be it said again meanwhile.
    guard
      !isPlain
        || kept.isServed && !kept.hasSeveralPlain && isSettled(kept.plainTime, before: delivery)
    else {
      for rule in rules { tally.leave(rule, .ambiguousMessage, hearing) }
      return
    }
    retained.change(topic) { $0.isAccused = true }
    for rule in rules {
      pending.add(
        rule, event, hearing, key: delivery.key, server: delivery.server, isTakenBack: true,
        on: kept.watcher, &tally, text(for: kept, isPlain, delivery))
    }
  }

  /// The rules that another message than the last one breaks.
  private func rules(
    for kept: RetainedTopics.Kept, isSame: Bool, isPlain: Bool, _ version: MQTTVersion
  ) -> [MQTTRule] {
    if isSame { return [.emptyIsNotStored] }
    let isWill = ledger[kept.key]?.isWill ?? false
    if isPlain { return [kept.plainIsWill ? .plainWillStaysPlain : .plainIsNotStored] }
    if kept.isEmpty { return [.emptyClearsRetained] }
    if isWill { return [.retainedIsStored, .retainedWillIsRetained] }
    guard version == .v3_1_1 else { return [.retainedIsStored] }
    // A server need not keep a message of QoS 0, only no older one.
    return kept.qos == 0
      ? [.qos0ReplacesRetained] : [.retainedIsStored, .newSubscriptionGetsRetained]
  }

  private func text(
    for kept: RetainedTopics.Kept, _ isPlain: Bool, _ delivery: borrowing Delivery
  ) -> FindingText {
    FindingText(
      isPlain
        ? "the server gave a new subscription a message as retained that was published without RETAIN"
        : "the server gave a new subscription another retained message of the topic than the last one",
      expected: kept.isEmpty ? "none, as it was cleared" : "the one of frame \(kept.sent.frame)",
      actual: delivery.key == kept.key ? "an empty one" : "another payload with RETAIN 1",
      evidence: [
        Finding.Evidence(
          frame: kept.sent.frame, connection: kept.connection,
          role: "the last message with RETAIN"),
        Finding.Evidence(
          frame: kept.watched.frame, connection: kept.watcher,
          role: "its delivery to a client that was subscribed all the time"),
      ] + delivery.matching.evidence)
  }

  /// Whether something was over before the subscription that a message answers was asked for.
  private func isSettled(_ time: Timestamp, before delivery: borrowing Delivery) -> Bool {
    isSurely(
      Timestamp(nanoseconds: delivery.matching.requested),
      after: time.nanoseconds.addingSaturating(Self.settled))
  }
}

extension BrokerJudge.Delivery {
  /// Whether it is of one subscription that was new when it was asked for.
  var isNew: Bool {
    matching.count == 1 && matching.isCertain && !matching.wereThere && !matching.isShared
  }
}
