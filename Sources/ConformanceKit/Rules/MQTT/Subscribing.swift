internal import RepriseCore
internal import Wire

/// A SUBSCRIBE without its SUBACK.
struct PendingSubscribe {
  var moment: Moment
  /// Its place among the requests of the client.
  var order: Int
  var filterCount = 0
  /// The requested QoS of each filter, of the first ones where they are too many.
  var requested: [UInt8] = []
  /// The filters in the list of subscriptions, as far as they are kept.
  var filters: [SubscriptionList.Reference?] = []
  var isFaulty: Bool
  /// Whether bytes of it are missing.
  var isCut = false
  /// Whether one like it was answered before, so that it may be that one sent again by a client that had not seen the
  /// answer.
  var mayBeAnswered = false

  /// What it asks for.
  var wish: Int {
    var hasher = Hasher()
    hasher.combine(requested)
    hasher.combine(filters.map(\.?.index))
    return hasher.finalize()
  }

  /// Whether another one has the same filters with the same QoS, so that it may be this one sent again.
  func asksForSame(as other: PendingSubscribe) -> Bool {
    requested == other.requested && filters.map(\.?.index) == other.filters.map(\.?.index)
  }
}

/// What is known of SUBSCRIBEs, and of what came of them.
struct SubscribingState {
  /// Those without a SUBACK.
  var open = PacketIDTable<PendingSubscribe>(limit: ConnectionState.maximumOpen)
  var subscriptions = SubscriptionList()
}

// SUBSCRIBE and SUBACK: sections 3.8 and 3.9.
extension ConnectionState {
  mutating func clientSubscribes(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    let context = event.context
    var request = PendingSubscribe(
      moment: Moment(context), order: requests.add(),
      isFaulty: !packet.isSound(context))
    let identifier =
      packet.propertySet.contains(.subscriptionIdentifier)
      ? UInt32(clamping: packet.properties.integer(.subscriptionIdentifier) ?? 0) : 0
    var filters = packet.filters
    subscribing.subscriptions.connection = UInt32(clamping: context.connection)
    while let filter = filters.next() {
      request.filterCount += 1
      if is5, MQTTTopicFilter.withoutShare(filter.text).byteCount < filter.text.byteCount {
        terms?.value.told.note(share: filter.text)
      }
      let reference = subscribing.subscriptions.request(
        filter.text, options: filter.options, identifier, at: context.time.nanoseconds,
        knowsShares: is5)
      guard requests.hasRoom(behind: request.requested.count) else { continue }
      request.requested.append(filter.qos)
      request.filters.append(reference)
    }
    if request.isFaulty { subscribing.subscriptions.hasFaultyRequest = true }
    // Bytes that are missing may hold filters: what comes for them can't be told from what must not.
    if packet.missing > 0 { client.hasGap = true }
    guard let id = packet.packetID, !takeEarlyAnswer() else { return }
    let isCut = packet.missing > 0 || subscribing.open[id]?.isCut == true
    request.isCut = packet.missing > 0
    let isRepeated =
      isCut ? nil : subscribing.open[id].map { $0.asksForSame(as: request) } ?? false
    request.mayBeAnswered =
      isRepeated == true
      ? mayBeAnswered(request: id)
      : !is5 && requests.answered.contains(.suback, id, wish: request.wish)
    judgeIdentifier(id, ofRequest: isRepeated, event, hearing, &tally)
    if subscribing.open[id] != nil { requests.hasReusedIDs = true }
    let old = subscribing.open[id]?.requested.count
    guard subscribing.open.insert(request, for: id) else {
      return tally.leave(.subscribeIsAnswered, .tooMany, hearing)
    }
    requests.open(request.requested.count, insteadOf: old)
  }

  mutating func serverAnswersSubscribe(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let id = packet.packetID else { return }
    guard let request = subscribing.open.remove(id) else {
      return unmatched(.suback, id, event, hearing, &tally)
    }
    requests.close(request.requested.count)
    noteWait(of: request.moment, event.context)
    requests.answered.add(.suback, id, wish: request.wish)
    for rule in [.answersKeepIdentifiers, .subackKeepsIdentifier, .subscribeIsAnswered]
      as [MQTTRule]
    { tally.satisfy(rule, hearing) }
    let codes = [UInt8](copying: packet.reasonCodes)
    if is5 { judgeRange(of: codes, event, hearing, &tally) }
    // Its answer may be missing, and another request of its identifier, which is free behind that, as well.
    if client.hasGap, requests.isLost(request.order) {
      for filter in request.filters {
        if let filter { subscribing.subscriptions.settleUnread(filter) }
      }
      leaveGrants(request, .serverGap, hearing, &tally)
      tally.leave(.subackHasCodePerFilter, .serverGap, hearing)
      if request.filterCount > 1 { tally.leave(.filtersAreTakenSingly, .serverGap, hearing) }
      return
    }
    if is5 { judgeGrants(codes, of: request.requested, hearing, &tally) }
    for (code, filter) in zip(codes, request.filters) {
      if let filter { subscribing.subscriptions.settle(filter, code: code, at: hearing.moment) }
    }
    if packet.missing > 0 {
      for filter in request.filters.dropFirst(codes.count) {
        if let filter { subscribing.subscriptions.settleUnread(filter) }
      }
    }
    let doubt: UndecidedReason? =
      if packet.missing > 0 {
        .incompletePacket
      } else if request.isFaulty {
        .faultyRequest
      } else if is5, packet.mayLackPropertyLength(before: request.filterCount) {
        .readsOtherwise
      } else {
        nil
      }
    guard let doubt else { return judge(codes, request, event, hearing, &tally) }
    tally.leave(.subackHasCodePerFilter, doubt, hearing)
    if request.filterCount > 1 { tally.leave(.filtersAreTakenSingly, doubt, hearing) }
  }

  /// Judges whether each code grants a QoS or is a failure.
  private func judgeRange(
    of codes: [UInt8], _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard !codes.isEmpty else { return }
    guard let other = codes.first(where: { $0 > 2 && $0 < 0x80 }) else {
      return tally.satisfy(.subackCodesAreDefined, hearing)
    }
    tally.violate(
      .subackCodesAreDefined, event, hearing,
      FindingText(
        "the server's SUBACK has a code that neither grants a QoS nor is a failure",
        expected: "0x00, 0x01, 0x02, or 0x80 and above", actual: other.hexadecimal))
  }

  private func judge(
    _ codes: [UInt8], _ request: PendingSubscribe, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let requested = request.requested
    // Which codes there are is in 5.0 a matter of the packet alone.
    let isDefined = is5 || codes.allSatisfy { $0 <= 2 || $0 == 0x80 }
    let hasAll = codes.count == request.filterCount
    guard hasAll, isDefined else {
      // Of several filters another clause says the same.
      let isOfSeveral = !hasAll && request.filterCount > 1
      for rule in [.subackHasCodePerFilter] + (isOfSeveral ? [.filtersAreTakenSingly] : [])
        as [MQTTRule]
      {
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the server's SUBACK does not answer each filter of the SUBSCRIBE of frame "
              + "\(request.moment.frame)",
            expected: "\(request.filterCount) codes"
              + (is5 ? "" : ", each 0x00, 0x01, 0x02 or 0x80"),
            actual: "\(codes.count) codes: \(Self.hex(codes))"))
      }
      return
    }
    tally.satisfy(.subackHasCodePerFilter, hearing)
    guard request.filterCount > 1 else { return }
    tally.satisfy(.filtersAreTakenSingly, hearing)
    guard requested.count == request.filterCount else {
      return tally.leave(.subackKeepsOrder, .tooMany, hearing)
    }
    guard Set(requested).count > 1 else {
      return tally.leave(.subackKeepsOrder, .sameRequest, hearing)
    }
    if codes == requested { return tally.satisfy(.subackKeepsOrder, hearing) }
    let granted = zip(codes, requested).filter { $0.0 < 0x80 }
    guard granted.contains(where: { $0.0 > $0.1 }) else {
      return tally.leave(.subackKeepsOrder, .loweredQoS, hearing)
    }
    let isKnown = codes.allSatisfy { $0 <= 2 || $0 >= 0x80 }
    guard isKnown, Self.someOrderFits(codes, requested) else {
      return tally.leave(.subackKeepsOrder, .noOrderFits, hearing)
    }
    tally.violate(
      .subackKeepsOrder, event, hearing,
      FindingText(
        "the server's SUBACK grants more than was asked for; its codes fit in another order only",
        expected: "codes no higher than \(Self.hex(requested)), in that order",
        actual: Self.hex(codes)))
  }

  /// Tells whether the codes can be dealt to the requests so that none grants too much.
  private static func someOrderFits(_ codes: [UInt8], _ requested: [UInt8]) -> Bool {
    let codes = codes.map { $0 >= 0x80 ? 0 : $0 }.sorted()
    return zip(codes, requested.sorted()).allSatisfy { $0 <= $1 }
  }

  private static func hex(_ codes: [UInt8]) -> String {
    codes.prefix(16).map(\.hexadecimal)
      .joined(separator: " ") + (codes.count > 16 ? " …" : "")
  }

  /// Judges the SUBSCRIBEs that were never answered.
  func closeSubscribes(
    _ close: Closing, _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let hearing = hearing.of(.server)
    for (id, request) in subscribing.open.entries.sorted(by: { $0.id < $1.id }) {
      let isLost = requests.isLost(request.order)
      let absence: Absence =
        request.isFaulty || isLost
        ? .undecided(isLost ? .serverGap : .faultyRequest)
        : absence(since: request.moment.time, by: .server, at: close)
      leaveGrants(request, absence.reason ?? .needNotCheck, hearing, &tally)
      for rule in rules(ofAnswer: [.subscribeIsAnswered], to: request.moment, by: .server) {
        if let reason = absence.reason {
          tally.leave(rule, reason, hearing, at: request.moment)
          continue
        }
        tally.violate(
          rule, event, hearing,
          FindingText(
            "the server never answered SUBSCRIBE \(id) of frame \(request.moment.frame), though it "
              + "went on sending for more than 30 s",
            expected: "SUBACK \(id)",
            actual: "none in \(close.time.seconds(since: request.moment.time))",
            evidence: hearing.evidence(request.moment, "SUBSCRIBE")))
      }
    }
  }
}

extension MQTTPacketView {
  /// Whether it is a SUBACK or UNSUBACK of 5.0 that may as well be codes without a Property Length before them.
  func mayLackPropertyLength(before count: Int) -> Bool {
    header.packetSize == header.size + 2 + count
      || faults.contains { $0.field == .properties && $0.code != .repeatedProperty }
  }
}
