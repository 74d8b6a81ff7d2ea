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
  var rules: [MQTT311Rule]
}

/// The last identifiers that were answered, so that a second answer is known for one.
struct AnsweredRequests {
  private var ring: [(type: MQTTPacketType, id: UInt16, isMultiple: Bool)] = []
  private var next = 0
  private static let size = 64

  mutating func add(_ type: MQTTPacketType, _ id: UInt16, isMultiple: Bool = false) {
    // An identifier that is used again stands for its last request.
    if let index = ring.firstIndex(where: { $0.type == type && $0.id == id }) {
      ring[index].isMultiple = isMultiple
    } else if ring.count < Self.size {
      ring.append((type, id, isMultiple))
    } else {
      ring[next] = (type, id, isMultiple)
      next = (next + 1) % Self.size
    }
  }

  func contains(_ type: MQTTPacketType, _ id: UInt16) -> Bool {
    ring.contains { $0.type == type && $0.id == id }
  }

  func containsMultiple(_ type: MQTTPacketType, _ id: UInt16) -> Bool {
    ring.contains { $0.type == type && $0.id == id && $0.isMultiple }
  }
}

// UNSUBSCRIBE and UNSUBACK: sections 3.10 and 3.11.
extension ConnectionState {
  mutating func clientUnsubscribes(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ tally: inout Tally
  ) {
    var ended: [SubscriptionList.Reference] = []
    var hasEnded = false
    var filterCount = 0
    var filters = packet.filters
    while let filter = filters.next() {
      filterCount += 1
      guard let reference = subscriptions.reference(to: filter.text) else { continue }
      hasEnded = true
      // One that is not kept stays a subscription.
      if requests.hasRoom(behind: ended.count) { ended.append(reference) }
    }
    fromServer.markOpen()
    guard let id = packet.packetID, !takeEarlyAnswer() else { return }
    var rules: [MQTT311Rule] = [.unsubscribeIsAnswered]
    if !hasEnded {
      if subscriptionsAreKnown {
        rules.append(.emptyUnsubscribeIsAnswered)
      } else {
        tally.leave(.emptyUnsubscribeIsAnswered, .unknownSubscriptions)
      }
    }
    if filterCount > 1 { rules.append(.unsubscribeIsAnsweredOnce) }
    let request = PendingUnsubscribe(
      moment: Moment(context), order: requests.add(), filterCount: filterCount,
      subscriptions: ended,
      isFaulty: !packet.faults.isEmpty || packet.missing > 0, rules: rules)
    if unsubscribes[id] != nil { hasReusedIDs = true }
    let old = unsubscribes[id]?.subscriptions.count
    guard unsubscribes.insert(request, for: id) else {
      return tally.leave(.unsubscribeIsAnswered, .tooMany)
    }
    requests.open(ended.count, insteadOf: old)
  }

  private var subscriptionsAreKnown: Bool {
    lossReason(of: .client) == nil && isNewSession == true && !subscriptions.isOverfull
  }

  mutating func serverAnswersUnsubscribe(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    guard let id = packet.packetID else { return }
    guard let request = unsubscribes.remove(id) else {
      return answersAgain(id, event, &tally)
    }
    requests.close(request.subscriptions.count)
    answered.add(.unsuback, id, isMultiple: request.filterCount > 1)
    tally.satisfy(.answersKeepIdentifiers)
    for rule in request.rules { tally.satisfy(rule) }
    for reference in request.subscriptions { subscriptions.remove(reference) }
  }

  private mutating func answersAgain(
    _ id: UInt16, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    if lossReason(of: .client) == nil, answered.containsMultiple(.unsuback, id) {
      return suspicions.add(
        .unsubscribeIsAnsweredOnce, event, &tally, id: id,
        FindingText(
          "the server answered UNSUBSCRIBE \(id), which has several filters, more than once",
          expected: "one UNSUBACK \(id)", actual: "another UNSUBACK \(id)"))
    }
    unmatched(.unsuback, id, event, &tally)
  }

  /// Judges the UNSUBSCRIBEs that were never answered.
  func closeUnsubscribes(_ close: Closing, _ event: borrowing EventView, _ tally: inout Tally) {
    for (id, request) in unsubscribes.entries.sorted(by: { $0.id < $1.id }) {
      let absence = absence(since: request.moment.time, by: .server, at: close)
      let isLost = requests.isLost(request.order)
      for rule in request.rules {
        if request.isFaulty || isLost {
          tally.leave(
            rule, isLost ? .serverGap : .faultyRequest, at: request.moment)
        } else if case .undecided(let reason) = absence {
          tally.leave(rule, reason, at: request.moment)
        } else {
          tally.violate(
            rule.index, event,
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
