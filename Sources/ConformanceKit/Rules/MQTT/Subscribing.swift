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
      let reference = subscribing.subscriptions.request(
        filter.text, options: filter.options, identifier, at: context.time.nanoseconds)
      guard requests.hasRoom(behind: request.requested.count) else { continue }
      request.requested.append(filter.qos)
      request.filters.append(reference)
    }
    // Bytes that are missing may hold filters: what comes for them can't be told from what must not.
    if packet.missing > 0 { client.hasGap = true }
    guard let id = packet.packetID, !takeEarlyAnswer() else { return }
    let isRepeated = subscribing.open[id].map { $0.asksForSame(as: request) } ?? false
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
    requests.answered.add(.suback, id)
    for rule in [.answersKeepIdentifiers, .subackKeepsIdentifier, .subscribeIsAnswered]
      as [MQTTRule]
    { tally.satisfy(rule, hearing) }
    let codes = [UInt8](copying: packet.reasonCodes)
    if is5 { judgeRange(of: codes, event, hearing, &tally) }
    for (code, filter) in zip(codes, request.filters) {
      if let filter { subscribing.subscriptions.settle(filter, code: code, at: hearing.moment) }
    }
    if packet.missing > 0 {
      tally.leave(.subackHasCodePerFilter, .incompletePacket, hearing)
    } else if request.isFaulty {
      tally.leave(.subackHasCodePerFilter, .faultyRequest, hearing)
    } else if is5, packet.mayLackPropertyLength(before: request.filterCount) {
      tally.leave(.subackHasCodePerFilter, .readsOtherwise, hearing)
    } else {
      judge(codes, request, event, hearing, &tally)
    }
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
    guard codes.count == request.filterCount, isDefined else {
      return tally.violate(
        .subackHasCodePerFilter, event, hearing,
        FindingText(
          "the server's SUBACK does not answer each filter of the SUBSCRIBE of frame "
            + "\(request.moment.frame)",
          expected: "\(request.filterCount) codes" + (is5 ? "" : ", each 0x00, 0x01, 0x02 or 0x80"),
          actual: "\(codes.count) codes: \(Self.hex(codes))"))
    }
    tally.satisfy(.subackHasCodePerFilter, hearing)
    guard request.filterCount > 1 else { return }
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
    for (id, request) in subscribing.open.entries.sorted(by: { $0.id < $1.id }) {
      let isLost = requests.isLost(request.order)
      guard !request.isFaulty, !isLost else {
        tally.leave(
          .subscribeIsAnswered, isLost ? .serverGap : .faultyRequest, hearing, at: request.moment)
        continue
      }
      switch absence(since: request.moment.time, by: .server, at: close) {
      case .undecided(let reason):
        tally.leave(.subscribeIsAnswered, reason, hearing, at: request.moment)
      case .violation:
        tally.violate(
          .subscribeIsAnswered, event, hearing,
          FindingText(
            "the server never answered SUBSCRIBE \(id) of frame \(request.moment.frame), though it "
              + "went on sending for more than 30 s",
            expected: "SUBACK \(id)",
            actual: "none in \(close.time.seconds(since: request.moment.time))"))
      }
    }
  }
}

extension MQTTPacketView {
  /// Whether it is a SUBACK of 5.0 that may as well be codes without a Property Length before them.
  fileprivate func mayLackPropertyLength(before count: Int) -> Bool {
    header.packetSize == header.size + 2 + count
      || faults.contains { $0.field == .properties && $0.code != .repeatedProperty }
  }
}
