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
}

/// What the requests of a client without an answer have in common.
struct RequestCounts {
  /// The requests so far.
  var count = 0
  /// How many of them came before bytes of the server went missing in which their answers may be.
  var lost = 0
  /// The filters that are kept of those that are open.
  private(set) var filters = 0
  /// The most filters that are kept of one request, and of all.
  static let maximumFilters = 4_096
  static let maximumOpenFilters = 16_384

  /// The memory that the filters take, in bytes.
  var reserved: Int {
    filters * (1 + MemoryLayout<SubscriptionList.Reference?>.stride)
  }

  /// Whether the answer to a request may be among missing bytes.
  func isLost(_ order: Int) -> Bool { order <= lost }

  /// Counts a request, and returns its place.
  mutating func add() -> Int {
    count += 1
    return count
  }

  /// Whether another filter of a request is kept that has so many.
  func hasRoom(behind kept: Int) -> Bool {
    kept < Self.maximumFilters && filters + kept < Self.maximumOpenFilters
  }

  /// Notes that a request is open, in the place of one that may have been.
  mutating func open(_ kept: Int, insteadOf old: Int?) { filters += kept - (old ?? 0) }

  /// Notes that a request is answered.
  mutating func close(_ kept: Int) { filters -= kept }
}

// SUBSCRIBE and SUBACK: sections 3.8 and 3.9.
extension ConnectionState {
  mutating func clientSubscribes(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ tally: inout Tally
  ) {
    var request = PendingSubscribe(
      moment: Moment(context), order: requests.add(),
      isFaulty: !packet.faults.isEmpty || packet.missing > 0)
    var filters = packet.filters
    while let filter = filters.next() {
      request.filterCount += 1
      let reference = subscriptions.request(filter.text)
      guard requests.hasRoom(behind: request.requested.count) else { continue }
      request.requested.append(filter.qos)
      request.filters.append(reference)
    }
    // Bytes that are missing may hold filters: what comes for them can't be told from what must not.
    if packet.missing > 0 { client.hasGap = true }
    guard let id = packet.packetID, !takeEarlyAnswer() else { return }
    if subscribes[id] != nil { hasReusedIDs = true }
    let old = subscribes[id]?.requested.count
    guard subscribes.insert(request, for: id) else {
      return tally.leave(.subscribeIsAnswered, .tooMany)
    }
    requests.open(request.requested.count, insteadOf: old)
  }

  /// Tells whether the answer to the current request was captured before it.
  mutating func takeEarlyAnswer() -> Bool {
    defer { wasAnsweredEarly = false }
    return wasAnsweredEarly
  }

  mutating func serverAnswersSubscribe(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    guard let id = packet.packetID else { return }
    guard let request = subscribes.remove(id) else {
      return unmatched(.suback, id, event, &tally)
    }
    requests.close(request.requested.count)
    answered.add(.suback, id)
    for rule in [.answersKeepIdentifiers, .subackKeepsIdentifier, .subscribeIsAnswered]
      as [MQTT311Rule]
    { tally.satisfy(rule) }
    let codes = [UInt8](copying: packet.reasonCodes)
    for (code, filter) in zip(codes, request.filters) {
      if let filter { subscriptions.settle(filter, isGranted: code < 0x80) }
    }
    if packet.missing > 0 {
      tally.leave(.subackHasCodePerFilter, .incompletePacket)
    } else if request.isFaulty {
      tally.leave(.subackHasCodePerFilter, .faultyRequest)
    } else {
      judge(codes, request, event, &tally)
    }
  }

  private func judge(
    _ codes: [UInt8], _ request: PendingSubscribe, _ event: borrowing EventView,
    _ tally: inout Tally
  ) {
    let requested = request.requested
    let isDefined = codes.allSatisfy { $0 <= 2 || $0 == 0x80 }
    guard codes.count == request.filterCount, isDefined else {
      return tally.violate(
        MQTT311Rule.subackHasCodePerFilter.index, event,
        FindingText(
          "the server's SUBACK does not answer each filter of the SUBSCRIBE of frame "
            + "\(request.moment.frame)",
          expected: "\(request.filterCount) codes, each 0x00, 0x01, 0x02 or 0x80",
          actual: "\(codes.count) codes: \(Self.hex(codes))"))
    }
    tally.satisfy(.subackHasCodePerFilter)
    guard request.filterCount > 1 else { return }
    guard requested.count == request.filterCount else {
      return tally.leave(.subackKeepsOrder, .tooMany)
    }
    guard Set(requested).count > 1 else { return tally.leave(.subackKeepsOrder, .sameRequest) }
    if codes == requested { return tally.satisfy(.subackKeepsOrder) }
    let granted = zip(codes, requested).filter { $0.0 != 0x80 }
    guard granted.contains(where: { $0.0 > $0.1 }) else {
      return tally.leave(.subackKeepsOrder, .loweredQoS)
    }
    guard Self.someOrderFits(codes, requested) else {
      return tally.leave(.subackKeepsOrder, .noOrderFits)
    }
    tally.violate(
      MQTT311Rule.subackKeepsOrder.index, event,
      FindingText(
        "the server's SUBACK grants more than was asked for; its codes fit in another order only",
        expected: "codes no higher than \(Self.hex(requested)), in that order",
        actual: Self.hex(codes)))
  }

  /// Tells whether the codes can be dealt to the requests so that none grants too much.
  private static func someOrderFits(_ codes: [UInt8], _ requested: [UInt8]) -> Bool {
    let codes = codes.map { $0 == 0x80 ? 0 : $0 }.sorted()
    return zip(codes, requested.sorted()).allSatisfy { $0 <= $1 }
  }

  private static func hex(_ codes: [UInt8]) -> String {
    codes.prefix(16).map(\.hexadecimal)
      .joined(separator: " ") + (codes.count > 16 ? " …" : "")
  }

  /// Judges a SUBACK or UNSUBACK whose request is not open.
  mutating func unmatched(
    _ type: MQTTPacketType, _ id: UInt16, _ event: borrowing EventView, _ tally: inout Tally
  ) {
    let rules: [MQTT311Rule] =
      type == .suback
      ? [.answersKeepIdentifiers, .subackKeepsIdentifier]
      : [.answersKeepIdentifiers, .unsubscribeIsAnswered]
    let loss = lossReason(of: .client)
    if let reason = loss ?? (answered.contains(type, id) ? .answeredBefore : nil) {
      for rule in rules { tally.leave(rule, reason) }
      return suspicions.note(answerTo: id)
    }
    let request = type == .suback ? "SUBSCRIBE" : "UNSUBSCRIBE"
    for rule in rules {
      suspicions.add(
        rule, event, &tally, id: id,
        FindingText(
          "the server's \(type.name) has identifier \(id), but no open \(request) of the client has",
          expected: "the identifier of an open \(request)", actual: "identifier \(id)"))
    }
  }

  /// Judges the SUBSCRIBEs that were never answered.
  func closeSubscribes(_ close: Closing, _ event: borrowing EventView, _ tally: inout Tally) {
    for (id, request) in subscribes.entries.sorted(by: { $0.id < $1.id }) {
      let isLost = requests.isLost(request.order)
      guard !request.isFaulty, !isLost else {
        tally.leave(
          .subscribeIsAnswered, isLost ? .serverGap : .faultyRequest, at: request.moment)
        continue
      }
      switch absence(since: request.moment.time, by: .server, at: close) {
      case .undecided(let reason): tally.leave(.subscribeIsAnswered, reason, at: request.moment)
      case .violation:
        tally.violate(
          MQTT311Rule.subscribeIsAnswered.index, event,
          FindingText(
            "the server never answered SUBSCRIBE \(id) of frame \(request.moment.frame), though it "
              + "went on sending for more than 30 s",
            expected: "SUBACK \(id)",
            actual: "none in \(close.time.seconds(since: request.moment.time))"))
      }
    }
  }
}
