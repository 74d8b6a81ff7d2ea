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
  /// The rules that ask for its answer.
  var rules: [MQTTRule]
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
    var filters = packet.filters
    while let filter = filters.next() {
      filterCount += 1
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
    let request = PendingUnsubscribe(
      moment: Moment(context), order: requests.add(), filterCount: filterCount,
      subscriptions: ended,
      isFaulty: !packet.faults.isEmpty || packet.missing > 0, rules: rules)
    let isRepeated = unsubscribing.open[id]?.filterCount == filterCount
    judgeIdentifier(id, ofRequest: isRepeated, event, hearing, &tally)
    if unsubscribing.open[id] != nil { requests.hasReusedIDs = true }
    let old = unsubscribing.open[id]?.subscriptions.count
    guard unsubscribing.open.insert(request, for: id) else {
      return tally.leave(.unsubscribeIsAnswered, .tooMany, hearing)
    }
    requests.open(ended.count, insteadOf: old)
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
    requests.answered.add(.unsuback, id, isMultiple: request.filterCount > 1)
    tally.satisfy(.answersKeepIdentifiers, hearing)
    for rule in request.rules { tally.satisfy(rule, hearing) }
    removeSubscriptions(of: request, packet, hearing)
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
    if lossReason(of: .client) == nil, requests.answered.containsMultiple(.unsuback, id) {
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
    for (id, request) in unsubscribing.open.entries.sorted(by: { $0.id < $1.id }) {
      let absence = absence(since: request.moment.time, by: .server, at: close)
      let isLost = requests.isLost(request.order)
      for rule in request.rules {
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
              actual: "none in \(close.time.seconds(since: request.moment.time))"))
        }
      }
    }
  }
}
