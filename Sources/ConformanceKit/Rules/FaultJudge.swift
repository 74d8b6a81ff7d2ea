internal import RepriseCore
internal import Wire

/// Judges the format of packets by the rules that are data.
struct FaultJudge {
  let rules: [FaultRule]
  /// The place of the first rule in the tally.
  let base: Int
  /// Packets by kind (judged or inferred, whole or not) and first byte.
  private var cells = [Int](repeating: 0, count: 4 * 256)
  /// By cell, where its first packets were, up to the limit; only of cells that a rule may leave undecided.
  private var firstPlaces: [Int: [(number: Int, place: UndecidedPlace)]] = [:]
  /// How many places are kept, which numbers them.
  private var placeCount = 0
  /// By rule, the whole and the incomplete packets among those in the cells that violated it.
  private var violations: [(whole: Int, incomplete: Int)]
  // The rules that may have something to say of a packet: asked one by one, all of them
  // would make a stream of bad packets three times as dear.
  private let ofFault: [MQTTFault.Code: RuleSet]
  /// What was found last there: bad packets come in runs.
  private var latest: (code: MQTTFault.Code, places: RuleSet)
  private let ofFirstByte: [RuleSet]
  private let ofConnect: RuleSet
  private let ofRefusal: RuleSet

  init(_ rules: [FaultRule], base: Int) {
    self.rules = rules
    self.base = base
    violations = Array(repeating: (0, 0), count: rules.count)
    precondition(rules.count <= RuleSet.capacity, "more rules of faults than a set of them holds")
    func places(_ isMeant: (FaultRule) -> Bool) -> RuleSet {
      rules.enumerated().reduce(into: RuleSet()) { if isMeant($1.element) { $0.insert($1.offset) } }
    }
    let codes = MQTTFault.Code.allCases.map { code in
      (code, places { rule in rule.patterns.contains { $0.code == code } })
    }
    ofFault = Dictionary(uniqueKeysWithValues: codes)
    latest = (.fieldCut, ofFault[.fieldCut] ?? RuleSet())
    ofFirstByte = (0...UInt8.max).map { byte in places { $0.speaks(of: byte) } }
    ofConnect = places { $0.connect != nil }
    ofRefusal = places {
      if case .refusals = $0.subject { true } else { false }
    }
  }

  /// Counts a packet, and judges it if it has faults or is one that counts do not describe.
  /// - Returns: The rules by which its receiver must close the connection.
  @inline(__always)
  mutating func take(
    _ packet: borrowing MQTTPacketView, isFaultless: Bool, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) -> RuleSet {
    let isWhole = packet.missing == 0 || Self.isWholeButForPayload(packet)
    let kind = (hearing.mode == .judged ? 0 : 2) + (isWhole ? 0 : 1)
    let cell = kind << 8 | Int(packet.header.firstByte)
    // Of what may stay undecided the first places are kept.
    if kind != 0, cells[cell] < tally.maximumFindings {
      let place = tally.place(kind == 1 ? .incompletePacket : .inferredVersion, hearing)
      firstPlaces[cell, default: []].append((placeCount, place))
      placeCount += 1
    }
    cells[cell] += 1
    let type = packet.type
    guard !isFaultless || type == .connect || type == .connack else { return RuleSet() }
    return judge(packet, event, isWhole: isWhole, hearing, &tally)
  }

  private static func isWholeButForPayload(_ packet: borrowing MQTTPacketView) -> Bool {
    packet.type == .publish && packet.topic.byteCount > 0
      && (packet.qos == 0 || packet.packetID != nil)
  }

  private mutating func judge(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, isWhole: Bool,
    _ hearing: Hearing, _ tally: inout Tally
  ) -> RuleSet {
    let faults = packet.faults
    let type = packet.type
    var reactions = RuleSet()
    var candidates = RuleSet()
    for fault in faults {
      if fault.code != latest.code { latest = (fault.code, ofFault[fault.code] ?? RuleSet()) }
      candidates.formUnion(latest.places)
    }
    if type == .connect {
      candidates.formUnion(ofConnect)
    } else {
      candidates.formIntersection(ofFirstByte[Int(packet.header.firstByte)])
      if type == .connack { candidates.formUnion(ofRefusal) }
    }
    while let index = candidates.popFirst() {
      let rule = rules[index]
      let rank = RuleIndex(value: base + index)
      if type == .connect {
        judgeConnect(rule, rank, packet, event, hearing, &tally)
      } else if type == .connack, ofRefusal.contains(index) {
        judgeRefusal(rule, rank, packet, event, hearing, &tally)
      }
      guard let fault = rule.match(faults), Self.applies(rule, packet, fault) else { continue }
      let isSubject = ofFirstByte[Int(packet.header.firstByte)].contains(index)
      // What a clause says of a receiver it says of its own packets only.
      if isSubject || type == .connect, rule.mustClose(event.context.sender.other) {
        reactions.insert(index)
      }
      guard isSubject, hearing.mode == .judged else { continue }
      if isWhole { violations[index].whole += 1 } else { violations[index].incomplete += 1 }
      tally.violate(rank, event, hearing, .init(rule, packet, fault, event.context.sender))
    }
    return reactions
  }

  private static func applies(
    _ rule: FaultRule, _ packet: borrowing MQTTPacketView, _ fault: MQTTFault
  ) -> Bool {
    guard packet.type != .connect else { return rule.connect != nil }
    guard rule.needsNoFilter, fault.code == .fieldCut else { return true }
    var filters = packet.filters
    return filters.next() == nil
  }

  private func judgeRefusal(
    _ rule: FaultRule, _ rank: RuleIndex, _ packet: borrowing MQTTPacketView,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let code = packet.reasonCode, code != 0 else { return }
    guard let fault = rule.match(packet.faults) else { return tally.satisfy(rank, hearing) }
    tally.violate(rank, event, hearing, .init(rule, packet, fault, event.context.sender))
  }

  /// The places of rules in the tally.
  func indices(of rules: RuleSet) -> [RuleIndex] {
    var rest = rules
    var indices: [RuleIndex] = []
    while let place = rest.popFirst() { indices.append(RuleIndex(value: base + place)) }
    return indices
  }

  /// The places in the order in which they came.
  private static func ordered(
    _ places: [(number: Int, place: UndecidedPlace)]
  ) -> [UndecidedPlace] {
    places.sorted { $0.number < $1.number }.map(\.place)
  }

  /// Reports what the counts of first bytes say; called once, when everything was taken.
  func finish(_ tally: inout Tally) {
    for (index, rule) in rules.enumerated() {
      let rank = RuleIndex(value: base + index)
      var counts = [0, 0, 0, 0]
      var places: [[(number: Int, place: UndecidedPlace)]] = [[], [], [], []]
      for byte in 0..<256 where rule.speaks(of: UInt8(byte)) {
        for kind in 0..<4 {
          counts[kind] += cells[kind << 8 | byte]
          if let first = firstPlaces[kind << 8 | byte] { places[kind] += first }
        }
      }
      let whole = counts[0] - violations[index].whole
      let incomplete = counts[1] - violations[index].incomplete
      tally.add(whole + (rule.isOfFirstByte ? incomplete : 0), satisfying: rank)
      if !rule.isOfFirstByte {
        tally.leave(rank, .incompletePacket, times: incomplete, at: Self.ordered(places[1]))
      }
      tally.leave(
        rank, .inferredVersion, times: counts[2] + counts[3],
        at: Self.ordered(places[2] + places[3]))
    }
  }
}

extension FaultRule {
  /// Tells whether a peer that receives a violation must close the connection.
  func mustClose(_ receiver: Peer) -> Bool {
    switch reaction {
    case .none: false
    case .receiverCloses: true
    case .serverCloses: receiver == .server
    }
  }
}

extension FindingText {
  init(
    _ rule: FaultRule, _ packet: borrowing MQTTPacketView, _ fault: MQTTFault, _ sender: Peer
  ) {
    self.init(
      "the \(sender.rawValue) sent a bad \(packet.type.name): \(fault.code.message)",
      expected: rule.expected, actual: fault.value(in: packet),
      cause: "\(fault.code.rawValue) \(fault.offset)")
  }
}
