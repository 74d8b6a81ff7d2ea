internal import RepriseCore
internal import Wire

/// The last messages that servers gave to members of groups, each of which one member alone is to get.
struct SharedTurns {
  /// How far a member has got with a message.
  enum Stage {
    case given
    /// The member has refused it.
    case refused(Moment)
    /// The member's session ended while it was on its way at QoS 2.
    case broken(Moment)

    /// By which clause it may not be given to another one, and since when.
    var end: (rule: MQTTRule, moment: Moment)? {
      switch self {
      case .given: nil
      case .refused(let moment): (.refusedIsNotPassedOn, moment)
      case .broken(let moment): (.brokenIsNotPassedOn, moment)
      }
    }
  }

  /// One message of a group.
  struct Turn {
    let key: UInt64
    let content: ContentHash
    let share: UInt64
    let connection: Int
    var stage = Stage.given
  }

  fileprivate var turns: [Turn] = []
  private static let most = 64

  fileprivate mutating func add(_ turn: Turn) {
    if turns.count == Self.most { turns.removeFirst() }
    turns.append(turn)
  }

  /// Changes what is known of the message of a connection.
  fileprivate mutating func change(
    _ content: ContentHash, on connection: Int, to stage: Stage
  ) {
    for place in turns.indices
    where turns[place].content == content && turns[place].connection == connection {
      turns[place].stage = stage
    }
  }

  fileprivate func given(on connection: Int) -> [ContentHash] {
    turns.compactMap { turn in
      guard turn.connection == connection, case .given = turn.stage else { return nil }
      return turn.content
    }
  }
}

// Messages of shared subscriptions that a member has not got to the end: section 4.8.2 of 5.0.
//
// A group is one name with one filter: of clients that ever had another one nothing is said.
extension BrokerJudge {
  /// Looks at a message that comes to a member of a group.
  mutating func judgeSharing(
    _ packet: borrowing MQTTPacketView, _ content: ContentHash, _ source: Publication,
    _ delivery: borrowing Delivery, _ event: borrowing EventView,
    _ state: inout ConnectionState, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard delivery.matching.isShared, !delivery.matching.isPlain, delivery.matching.count == 1,
      hearing.version == .v5_0, !packet.retain, source.isSingle
    else { return }
    let connection = event.context.connection
    guard !packet.dup else {
      let isLeft = packet.packetID.map { id in
        resumed[connection]?.left.fromServer.contains { $0.id == id && $0.content == content }
          == true
      }
      if isLeft == true, packet.qos == 2 { tally.satisfy(.brokenIsCompleted, hearing) }
      return
    }
    guard !source.wasRepeated, let share = state.terms?.value.told.onlyShare else { return }
    countKept(behind: source, share, hearing, &tally)
    guard
      let place = shared.turns.firstIndex(where: {
        $0.key == delivery.key && $0.share == share && $0.connection != connection
      })
    else {
      return shared.add(
        .init(key: delivery.key, content: content, share: share, connection: connection))
    }
    let turn = shared.turns.remove(at: place)
    guard let end = turn.stage.end else { return }
    judge(turn, end.rule, end.moment, source, delivery, event, hearing, &tally)
  }

  private mutating func judge(
    _ turn: SharedTurns.Turn, _ rule: MQTTRule, _ end: Moment, _ source: Publication,
    _ delivery: borrowing Delivery, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    // It may have been given to both before.
    let isLater =
      event.context.time.nanoseconds(since: end.time) > Self.settled
      || isSurely(
        Timestamp(nanoseconds: delivery.matching.requested), after: end.time.nanoseconds)
    guard isLater else { return tally.leave(rule, .onItsWay, hearing) }
    let what =
      rule == .refusedIsNotPassedOn
      ? "had refused it" : "had lost its session on the way to get it"
    // The client that sends a job once more when it was refused need not be in the capture.
    add(
      rule, delivery, event, hearing, needsAnother: true, &tally,
      FindingText(
        "the server gave the message of frame \(source.first.frame) to another member of a group, though "
          + "the first one \(what) in frame \(end.frame)",
        expected: "no delivery to another member", actual: "PUBLISH",
        evidence: source.evidence + [
          Finding.Evidence(
            frame: end.frame, connection: turn.connection,
            role: rule == .refusedIsNotPassedOn ? "refusal" : "end of the session")
        ]))
  }

  /// Counts the messages that were given to nobody else when a later one comes to the group.
  private mutating func countKept(
    behind source: Publication, _ share: UInt64, _ hearing: Hearing, _ tally: inout Tally
  ) {
    for place in shared.turns.indices.reversed() {
      let turn = shared.turns[place]
      guard turn.share == share, turn.key != source.key, let end = turn.stage.end,
        isSurely(source.first.time, after: end.moment.time.nanoseconds)
      else { continue }
      tally.satisfy(end.rule, hearing)
      shared.turns.remove(at: place)
    }
  }

  /// Takes an acknowledgement of a client that refuses a message.
  mutating func refuse(
    _ packet: borrowing MQTTPacketView, _ context: EventContext,
    _ state: borrowing ConnectionState
  ) {
    guard !shared.turns.isEmpty, let code = packet.reasonCode, code >= 0x80,
      let id = packet.packetID, let exchange = state.exchanges.fromServer[id],
      exchange.lost == nil, !exchange.isRepeated, let content = exchange.content
    else { return }
    shared.change(content, on: context.connection, to: .refused(Moment(context)))
  }

  /// Takes the end of a connection whose session ends with it.
  mutating func breakOff(_ moment: Moment, _ connection: Int, _ state: borrowing ConnectionState) {
    guard !shared.turns.isEmpty else { return }
    for content in shared.given(on: connection) {
      let isOpen = state.exchanges.fromServer.entries.contains {
        $0.value.content == content && $0.value.qos == 2 && $0.value.lost == nil
      }
      if isOpen { shared.change(content, on: connection, to: .broken(moment)) }
    }
  }
}
