internal import RepriseCore
internal import Wire

/// An UNSUBSCRIBE without its UNSUBACK.
struct PendingUnsubscribe {
  var moment: Moment
  /// Its place among the requests of the client.
  var order: Int
  var filterCount: Int
  /// The subscriptions that it ends.
  var subscriptions: [SubscriptionList.Reference]
  var isFaulty: Bool
  /// Whether bytes of it are missing.
  var isCut: Bool
  /// Whether one like it was answered before, as for ``PendingSubscribe/mayBeAnswered``.
  var mayBeAnswered: Bool
  /// The rules that ask for its answer.
  var rules: [MQTTRule]
  /// What is known of each of its filters, in their order; empty where their codes would tell no order.
  var standings: [FilterStanding] = []
}

/// What a client that unsubscribes from a filter has to do with it.
enum FilterStanding {
  /// The server granted it, and nothing that may have ended it came since.
  case granted
  /// The client never asked for it.
  case strange
  case unknown
}

/// What is known of UNSUBSCRIBEs.
struct UnsubscribingState {
  /// Those without an UNSUBACK.
  var open = PacketIDTable<PendingUnsubscribe>(limit: ConnectionState.maximumOpen)
}

// UNSUBSCRIBE and UNSUBACK: sections 3.10 and 3.11.
extension ConnectionState {
  mutating func clientUnsubscribes(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let context = event.context
    var ended: [SubscriptionList.Reference] = []
    var hasEnded = false
    var filterCount = 0
    var standings: [FilterStanding] = []
    var filters = packet.filters
    while let filter = filters.next() {
      filterCount += 1
      // Asked before the request itself puts it in doubt.
      if is5, filterCount <= Self.mostStandings {
        standings.append(subscribing.subscriptions.standing(of: filter.text))
      }
      guard let reference = subscribing.subscriptions.reference(to: filter.text) else { continue }
      hasEnded = true
      subscribing.subscriptions.doubt(reference)
      // One that is not kept stays a subscription.
      if requests.hasRoom(behind: ended.count) { ended.append(reference) }
    }
    exchanges.fromServer.markOpen()
    guard let id = packet.packetID, !takeEarlyAnswer() else { return }
    var rules: [MQTTRule] = [.unsubscribeIsAnswered]
    if !hasEnded {
      if subscriptionsAreKnown {
        rules.append(.emptyUnsubscribeIsAnswered)
      } else {
        tally.leave(.emptyUnsubscribeIsAnswered, .unknownSubscriptions, hearing)
      }
    }
    if filterCount > 1 { rules.append(.unsubscribeIsAnsweredOnce) }
    let isCut = packet.missing > 0 || unsubscribing.open[id]?.isCut == true
    let isRepeated = isCut ? nil : unsubscribing.open[id]?.filterCount == filterCount
    let mayBeAnswered =
      isRepeated == true
      ? mayBeAnswered(request: id)
      : !is5 && requests.answered.contains(.unsuback, id, wish: filterCount)
    let request = PendingUnsubscribe(
      moment: Moment(context), order: requests.add(), filterCount: filterCount,
      subscriptions: ended,
      isFaulty: !packet.isSound(context), isCut: packet.missing > 0,
      mayBeAnswered: mayBeAnswered, rules: rules,
      standings: filterCount > 1 && filterCount == standings.count ? standings : [])
    judgeIdentifier(id, ofRequest: isRepeated, event, hearing, &tally)
    if unsubscribing.open[id] != nil { requests.hasReusedIDs = true }
    let old = unsubscribing.open[id]?.subscriptions.count
    guard unsubscribing.open.insert(request, for: id) else {
      return tally.leave(.unsubscribeIsAnswered, .tooMany, hearing)
    }
    requests.open(ended.count, insteadOf: old)
  }

  /// Whether a packet is the answer to an UNSUBSCRIBE that holds no filter, or to one that is not known.
  func answersNothing(_ packet: borrowing MQTTPacketView) -> Bool {
    guard packet.type == .unsuback, let id = packet.packetID else { return false }
    return unsubscribing.open[id].map { $0.filterCount == 0 } ?? true
  }

  private var subscriptionsAreKnown: Bool {
    lossReason(of: .client) == nil && isNewSession == true && !subscribing.subscriptions.isOverfull
  }

  mutating func serverAnswersUnsubscribe(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let id = packet.packetID else { return }
    guard let request = unsubscribing.open.remove(id) else {
      return answersAgain(id, event, hearing, &tally)
    }
    requests.close(request.subscriptions.count)
    noteWait(of: request.moment, event.context)
    requests.answered.add(
      .unsuback, id, wish: request.filterCount, isMultiple: request.filterCount > 1)
    tally.satisfy(.answersKeepIdentifiers, hearing)
    for rule in request.rules { tally.satisfy(rule, hearing) }
    if is5 { judgeCount(of: packet, request, event, hearing, &tally) }
    if !request.standings.isEmpty { judgeOrder(of: packet, request, event, hearing, &tally) }
    removeSubscriptions(of: request, packet, hearing)
  }

  /// So many filters of one UNSUBSCRIBE are held against the codes of its answer.
  private static let mostStandings = 64

  /// Judges whether an UNSUBACK has a code for each filter (section 3.11.3); that it has none is a fault of its own.
  private func judgeCount(
    of packet: borrowing MQTTPacketView, _ request: PendingUnsubscribe,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let count = packet.reasonCodes.byteCount
    guard count > 0, count != request.filterCount else { return }
    let rule = MQTTJudge.unsubackHasCodes
    if packet.missing > 0 { return tally.leave(rule, .incompletePacket, hearing) }
    if request.isFaulty { return tally.leave(rule, .faultyRequest, hearing) }
    // It may answer another UNSUBSCRIBE of the same identifier.
    if requests.hasReusedIDs { return tally.leave(rule, .repeatedMessage, hearing) }
    if let reason = lossReason(of: .client) { return tally.leave(rule, reason, hearing) }
    if packet.mayLackPropertyLength(before: request.filterCount) {
      return tally.leave(rule, .readsOtherwise, hearing)
    }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the server's UNSUBACK does not answer each filter of the UNSUBSCRIBE of frame "
          + "\(request.moment.frame)",
        expected: "\(request.filterCount) codes", actual: "\(count) codes"))
  }

  /// Judges whether the codes of an UNSUBACK stand in the order of the filters (section 3.11.3).
  private func judgeOrder(
    of packet: borrowing MQTTPacketView, _ request: PendingUnsubscribe,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let rule = MQTTRule.unsubackKeepsOrder
    let codes = [UInt8](copying: packet.reasonCodes)
    if let reason = lossReason(of: .client) { return tally.leave(rule, reason, hearing) }
    guard !request.isFaulty, packet.missing == 0, !packet.hasFaults,
      codes.count == request.standings.count
    else { return tally.leave(rule, .incompletePacket, hearing) }
    guard subscriptionsAreKnown, !request.standings.contains(.unknown) else {
      return tally.leave(rule, .unknownSubscriptions, hearing)
    }
    guard Set(codes).count > 1 else { return tally.leave(rule, .sameCodes, hearing) }
    let fitting = request.standings.map { $0 == .granted ? 0x00 : 0x11 as UInt8 }
    if codes == fitting { return tally.satisfy(rule, hearing) }
    // A server that ended a subscription itself, or made one, gives codes that fit in no order.
    guard codes.sorted() == fitting.sorted() else {
      return tally.leave(rule, .noOrderFits, hearing)
    }
    tally.violate(
      rule, event, hearing,
      FindingText(
        "the server's UNSUBACK says of a filter that was granted that there was no subscription, and of "
          + "one that was never subscribed to that it is removed",
        expected: fitting.map(\.hexadecimal).joined(separator: " "),
        actual: codes.map(\.hexadecimal).joined(separator: " "),
        evidence: [
          Finding.Evidence(
            frame: request.moment.frame, connection: event.context.connection,
            role: "UNSUBSCRIBE that is answered")
        ]))
  }

  /// Takes the filters of an UNSUBSCRIBE for removed, where a code of 5.0 does not say otherwise.
  private mutating func removeSubscriptions(
    of request: PendingUnsubscribe, _ packet: borrowing MQTTPacketView, _ hearing: Hearing
  ) {
    // Which code belongs to which of them is known where all of them were subscriptions.
    let codes = is5 ? [UInt8](copying: packet.reasonCodes) : []
    let isSure = !codes.contains { $0 >= 0x80 } && (!is5 || codes.count == request.filterCount)
    guard isSure else { return }
    for reference in request.subscriptions {
      subscribing.subscriptions.remove(reference, at: hearing.moment)
    }
  }

  private mutating func answersAgain(
    _ id: UInt16, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    if lossReason(of: .client) == nil, !requests.hasReusedIDs,
      requests.answered.containsMultiple(.unsuback, id)
    {
      return ownRare.suspicions.add(
        .unsubscribeIsAnsweredOnce, event, hearing, &tally, id: id,
        FindingText(
          "the server answered UNSUBSCRIBE \(id), which has several filters, more than once",
          expected: "one UNSUBACK \(id)", actual: "another UNSUBACK \(id)"))
    }
    unmatched(.unsuback, id, event, hearing, &tally)
  }

  /// Judges the UNSUBSCRIBEs that were never answered.
  func closeUnsubscribes(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let hearing = hearing.of(.server)
    for (id, request) in unsubscribing.open.entries.sorted(by: { $0.id < $1.id }) {
      let absence = absence(since: request.moment.time, by: .server, at: close)
      let isLost = requests.isLost(request.order)
      for rule in rules(ofAnswer: request.rules, to: request.moment, by: .server) {
        if request.isFaulty || isLost {
          tally.leave(
            rule, isLost ? .serverGap : .faultyRequest, hearing, at: request.moment)
        } else if case .undecided(let reason) = absence {
          tally.leave(rule, reason, hearing, at: request.moment)
        } else {
          tally.violate(
            rule, event, hearing,
            FindingText(
              "the server never answered UNSUBSCRIBE \(id) of frame \(request.moment.frame), though "
                + "it went on sending for more than 30 s",
              expected: "UNSUBACK \(id)",
              actual: "none in \(close.time.seconds(since: request.moment.time))",
              evidence: hearing.evidence(request.moment, "UNSUBSCRIBE")))
        }
      }
    }
  }
}
