internal import RepriseCore
internal import Wire

/// Judges the format of packets of one version by the rules that are data.
struct FaultJudge: Sendable {
  let rules: [FaultRule]
  private let version: MQTTVersion
  /// The place of the first rule in the tally.
  let base: Int
  /// Packets by ``Kind`` and first byte.
  private var cells = [Int](repeating: 0, count: Kind.count << 8)
  /// Packets by kind, type and property that they have.
  private var properties: PropertyCells?
  /// By cell, where its first packets were, up to the limit; only of cells that a rule may leave undecided.
  private var firstPlaces: [Int: [(number: Int, place: UndecidedPlace)]] = [:]
  /// How many places are kept, which numbers them.
  private var placeCount = 0
  /// By rule, the whole and the incomplete packets among those in the cells that violated it, or left it
  /// open.
  private var exceptions: [(whole: Int, incomplete: Int)]
  // The rules that may have something to say of a packet: asked one by one, all of them
  // would make a stream of bad packets three times as dear.
  private let ofFault: [MQTTFault.Code: RuleSet]
  /// What was found last there: bad packets come in runs.
  private var latest: (code: MQTTFault.Code, places: RuleSet)
  private let ofFirstByte: [RuleSet]
  /// By rule, the first bytes of the packets that it speaks of.
  private let firstBytes: [[Int]]
  private let ofConnect: RuleSet
  /// The same rules with the CONNECTs that they speak of.
  private let connectConditions: [(index: RuleIndex, condition: FaultRule.ConnectCondition)]
  private let ofRefusal: RuleSet
  private let ofProperty: RuleSet

  /// What the cells tell packets by, besides their bytes.
  private struct Kind {
    static let count = 8
    let index: Int

    init(isWhole: Bool, isJudged: Bool, _ sender: Peer) {
      index = (isWhole ? 0 : 1) + (isJudged ? 0 : 2) + (sender == .client ? 0 : 4)
    }

    /// The sender of the packets of a kind.
    static func sender(of index: Int) -> Peer { index < 4 ? .client : .server }
  }

  init(_ version: MQTTVersion, base: Int) {
    let rules = FaultRule.rules(of: version)
    self.rules = rules
    self.version = version
    self.base = base
    if version.rules.hasProperties { properties = PropertyCells(kinds: Kind.count) }
    exceptions = Array(repeating: (0, 0), count: rules.count)
    precondition(rules.count <= RuleSet.capacity, "more rules of faults than a set of them holds")
    func places(_ isMeant: (FaultRule) -> Bool) -> RuleSet {
      rules.enumerated().reduce(into: RuleSet()) { if isMeant($1.element) { $0.insert($1.offset) } }
    }
    var ofFault: [MQTTFault.Code: RuleSet] = [:]
    for (place, rule) in rules.enumerated() {
      for pattern in rule.patterns { ofFault[pattern.code, default: RuleSet()].insert(place) }
      for pattern in rule.doubts { ofFault[pattern.code, default: RuleSet()].insert(place) }
    }
    self.ofFault = ofFault
    latest = (.fieldCut, ofFault[.fieldCut] ?? RuleSet())
    var ofFirstByte = [RuleSet](repeating: RuleSet(), count: 256)
    firstBytes = rules.enumerated().map { place, rule in
      let bytes = (0..<256).filter { rule.speaks(of: UInt8($0), in: version) }
      for byte in bytes { ofFirstByte[byte].insert(place) }
      return bytes
    }
    self.ofFirstByte = ofFirstByte
    ofConnect = places { $0.connect != nil }
    connectConditions = rules.enumerated().compactMap { place, rule in
      guard rule.sender != .server, let condition = rule.connect else { return nil }
      return (RuleIndex(value: base + place), condition)
    }
    ofRefusal = places {
      if case .refusals = $0.subject { true } else { false }
    }
    ofProperty = places { $0.property != nil }
  }

  /// Counts a packet, and judges it if it has faults or is one that counts do not describe.
  /// - Returns: The rules by which its receiver must close the connection.
  @inline(__always)
  mutating func take(
    _ packet: borrowing MQTTPacketView, isFaultless: Bool, answersNothing: Bool = false,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) -> RuleSet {
    let type = packet.type
    if type == .connack, hearing.version == .v5_0, packet.isOfOlderServer {
      leaveOlderServer(hearing, &tally)
      return RuleSet()
    }
    if event.context.isRebuilt, packet.missing == 0 {
      leaveRebuilt(packet, event, hearing, &tally)
      return RuleSet()
    }
    let isWhole = packet.missing == 0 || Self.isWholeButForPayload(packet)
    if hearing.isReported { count(packet, isWhole: isWhole, event, hearing, &tally) }
    guard !isFaultless || type == .connect || type == .connack else { return RuleSet() }
    if isFaultless, type == .connect, satisfy(packet, event, hearing, &tally) { return RuleSet() }
    return judge(
      packet, event, isWhole: isWhole, answersNothing: answersNothing, hearing, &tally)
  }

  /// Counts a packet for the rules that speak of packets with its first byte and its properties.
  @inline(__always)
  private mutating func count(
    _ packet: borrowing MQTTPacketView, isWhole: Bool, _ event: borrowing EventView,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    let kind = Kind(
      isWhole: isWhole, isJudged: hearing.mode == .judged, event.context.sender
    ).index
    let cell = kind << 8 | Int(packet.header.firstByte)
    // Of what may stay undecided the first places are kept.
    if kind & 3 != 0, cells[cell] < tally.maximumFindings { keepPlace(cell, kind, hearing, &tally) }
    cells[cell] += 1
    if properties != nil, !packet.propertySet.isEmpty {
      count(packet.propertySet, of: packet.type, kind, hearing, &tally)
    }
  }

  private mutating func keepPlace(
    _ cell: Int, _ kind: Int, _ hearing: Hearing, _ tally: inout Tally
  ) {
    let place = tally.place(kind & 3 == 1 ? .incompletePacket : .inferredVersion, hearing)
    firstPlaces[cell, default: []].append((placeCount, place))
    placeCount += 1
  }

  private mutating func count(
    _ set: MQTTPropertySet, of type: MQTTPacketType, _ kind: Int, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    set.forEach { id in
      let cell = PropertyCells.cell(kind, type, id)
      if kind & 3 != 0, properties?[cell] ?? 0 < tally.maximumFindings {
        keepPlace(cells.count + cell, kind, hearing, &tally)
      }
      properties?.add(cell)
    }
  }

  /// Counts a CONNECT that is all there and has no fault: it keeps each rule that speaks of it.
  /// - Returns: Whether it is one.
  private func satisfy(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) -> Bool {
    guard event.context.sender == .client, packet.missing == 0, let connect = packet.connect
    else { return false }
    if version.rules.hasProperties {
      guard packet.propertySet.isWhole, connect.willPropertySet.isWhole || !connect.hasWill
      else { return false }
    }
    for (index, condition) in connectConditions where condition.holds(connect, cut: .max, packet) {
      tally.satisfy(index, hearing)
    }
    return true
  }

  private static func isWholeButForPayload(_ packet: borrowing MQTTPacketView) -> Bool {
    guard packet.type == .publish, packet.qos == 0 || packet.packetID != nil else { return false }
    guard packet.version.rules.hasProperties else { return packet.topic.byteCount > 0 }
    return packet.hasProperties
  }

  /// Leaves all rules of a packet open that was put together from its fields: what was wrong with it is not in it.
  private func leaveRebuilt(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    tally.suspect(event)
    var places = ofFirstByte[Int(packet.header.firstByte)]
    if packet.type == .connect { places.formUnion(ofConnect) }
    while let place = places.popFirst() {
      let rule = rules[place]
      guard rule.sender == nil || rule.sender == event.context.sender else { continue }
      // A method of what is borrowed, handed on as a value, can't be optimized by Swift 6.3.
      if let property = rule.property, !packet.propertySet.contains(property) { continue }
      tally.leave(RuleIndex(value: base + place), .hidden, hearing)
    }
  }

  /// Leaves all rules of a CONNACK open that a server of an earlier version may have sent.
  private func leaveOlderServer(_ hearing: Hearing, _ tally: inout Tally) {
    let firstByte = MQTTPacketType.connack.rawValue << 4
    var rules = ofFirstByte[Int(firstByte)]
    rules.formUnion(ofRefusal)
    for index in indices(of: rules) where !ofProperty.contains(index.value - base) {
      tally.leave(index, .olderServer, hearing)
    }
  }

  private mutating func judge(
    _ packet: borrowing MQTTPacketView, _ event: borrowing EventView, isWhole: Bool,
    answersNothing: Bool, _ hearing: Hearing, _ tally: inout Tally
  ) -> RuleSet {
    let faults = packet.faults
    let type = packet.type
    let sender = event.context.sender
    let isReadOtherwise =
      version.rules.hasProperties && !faults.isEmpty && packet.fillsItselfWithoutPropertyLength
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
      if !packet.propertySet.isWhole, !packet.propertySet.isEmpty {
        var others = ofProperty
        others.formIntersection(ofFirstByte[Int(packet.header.firstByte)])
        candidates.formUnion(others)
      }
    }
    while let index = candidates.popFirst() {
      let rule = rules[index]
      let rank = RuleIndex(value: base + index)
      guard rule.sender == nil || rule.sender == sender else { continue }
      if isReadOtherwise, !rule.isOfFirstByte {
        leaveReadOtherwise(rule, index, packet, isWhole: isWhole, hearing, &tally)
        continue
      }
      if type == .connect {
        judgeConnect(rule, rank, packet, event, hearing, &tally)
      } else if type == .connack, ofRefusal.contains(index) {
        judgeRefusal(rule, rank, packet, event, hearing, &tally)
      }
      guard let fault = rule.match(faults), Self.applies(rule, packet, fault) else {
        leaveOpen(rule, index, packet, isWhole: isWhole, hearing, &tally)
        continue
      }
      let isSubject = ofFirstByte[Int(packet.header.firstByte)].contains(index)
      // What a clause says of a receiver it says of its own packets only.
      if isSubject || type == .connect, rule.mustClose(sender.other) {
        reactions.insert(index)
      }
      guard isSubject, hearing.mode == .judged else { continue }
      except(index, isWhole: isWhole, hearing, tally)
      // As many codes as there were filters: that there was none is for the clauses about the request.
      if answersNothing, fault.code == .emptyList {
        tally.leave(rank, .faultyRequest, hearing)
        continue
      }
      tally.violate(rank, event, hearing, .init(rule, packet, fault, sender))
    }
    return reactions
  }

  private mutating func except(
    _ index: Int, isWhole: Bool, _ hearing: Hearing, _ tally: Tally
  ) {
    guard hearing.isReported, tally.judges(RuleIndex(value: base + index), of: hearing.subject)
    else { return }
    if isWhole { exceptions[index].whole += 1 } else { exceptions[index].incomplete += 1 }
  }

  /// Leaves a rule open that a bad packet may keep or break, because it can't be read to its end.
  private mutating func leaveOpen(
    _ rule: FaultRule, _ index: Int, _ packet: borrowing MQTTPacketView, isWhole: Bool,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard packet.type != .connect, hearing.mode == .judged, isWhole else { return }
    let reason: UndecidedReason
    if let property = rule.property, packet.propertySet.contains(property),
      !packet.propertySet.isWhole
    {
      reason = .unreadableProperty
    } else if rule.isDoubtful(packet.faults) {
      reason = .earlierFieldCut
    } else {
      return
    }
    except(index, isWhole: isWhole, hearing, tally)
    tally.leave(RuleIndex(value: base + index), reason, hearing)
  }

  /// Leaves a rule open of a packet that has no fault when it is read as that of an earlier version.
  private mutating func leaveReadOtherwise(
    _ rule: FaultRule, _ index: Int, _ packet: borrowing MQTTPacketView, isWhole: Bool,
    _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard hearing.mode == .judged else { return }
    if packet.type != .connect {
      guard isWhole, rule.property.map(packet.propertySet.contains) ?? true else { return }
      except(index, isWhole: isWhole, hearing, tally)
    }
    tally.leave(RuleIndex(value: base + index), .readsOtherwise, hearing)
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
      for (kind, count, place) in counted(by: rule, at: index)
      where tally.judges(rank, of: Kind.sender(of: kind)) {
        counts[kind & 3] += count
        if let first = firstPlaces[place] { places[kind & 3] += first }
      }
      let whole = counts[0] - exceptions[index].whole
      let incomplete = counts[1] - exceptions[index].incomplete
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

/// Packets by kind, type and property.
private struct PropertyCells: Sendable {
  private var counts: [Int]

  init(kinds: Int) { counts = [Int](repeating: 0, count: kinds << 10) }

  /// The place of a property of packets of a type and kind.
  static func cell(_ kind: Int, _ type: MQTTPacketType, _ id: Int) -> Int {
    kind << 10 | Int(type.rawValue & 15) << 6 | id & 63
  }

  subscript(cell: Int) -> Int { counts[cell] }

  mutating func add(_ cell: Int) { counts[cell] += 1 }
}

extension FaultJudge {
  /// The cells of the packets that a rule speaks of: their kind, how many there are, and the place that their
  /// first ones are kept at.
  private func counted(by rule: FaultRule, at index: Int) -> [(kind: Int, count: Int, place: Int)] {
    var found: [(kind: Int, count: Int, place: Int)] = []
    for kind in 0..<Kind.count where rule.sender == nil || rule.sender == Kind.sender(of: kind) {
      if case .property(let id, let types) = rule.subject, let properties {
        for type in types {
          let cell = PropertyCells.cell(kind, type, Int(id.rawValue))
          found.append((kind, properties[cell], cells.count + cell))
        }
        continue
      }
      for byte in firstBytes[index] where cells[kind << 8 | byte] > 0 {
        found.append((kind, cells[kind << 8 | byte], kind << 8 | byte))
      }
    }
    return found
  }
}

extension MQTTPacketView {
  /// Whether it is a CONNACK in the form of an earlier version that refuses one of 5.0, as a server must that
  /// speaks earlier ones only (3.1.1 MQTT-3.1.2-2).
  var isOfOlderServer: Bool {
    guard type == .connack, header.packetSize == 4, let code = explicitReasonCode else {
      return false
    }
    return (1...5).contains(code) || code == 0x84
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
