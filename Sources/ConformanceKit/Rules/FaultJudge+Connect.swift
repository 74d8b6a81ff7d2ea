internal import RepriseCore
internal import Wire

extension FaultJudge {
  /// Judges a CONNECT by a rule, as far as its flags make the rule speak of it.
  func judgeConnect(
    _ rule: FaultRule, _ rank: RuleIndex, _ packet: borrowing MQTTPacketView,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let condition = rule.connect, let connect = packet.connect else { return }
    let faults = packet.faults
    let cut = faults.first { $0.code == .fieldCut }?.field.placeInConnect ?? .max
    // Flags that are cut off announce nothing, and deny nothing either.
    let hasFlags = cut > MQTTField.connectFlags.placeInConnect && packet.missing == 0
    guard condition == .always || (hasFlags && condition.holds(connect, cut: cut, packet)) else {
      return
    }
    if let fault = rule.match(faults) {
      return tally.violate(rank, event, hearing, .init(rule, packet, fault, event.context.sender))
    }
    if rule.isDoubtful(faults) { return tally.leave(rank, .earlierFieldCut, hearing) }
    if condition.dependsOnUnread(connect, packet) {
      return tally.leave(rank, .unreadableProperty, hearing)
    }
    if cut <= (rule.lastField ?? .payload).placeInConnect {
      return tally.leave(rank, .earlierFieldCut, hearing)
    }
    guard packet.missing == 0 else { return tally.leave(rank, .incompletePacket, hearing) }
    if let extra = rule.extra, let fault = faults.first(where: { $0.code == .trailingBytes }) {
      let fields = ExtraFields(packet, from: fault.offset)
      let isCertain =
        packet.version.rules.hasProperties
        ? fields.containLogin(extra, connect.flags) : fields.contain(extra, connect.flags)
      guard isCertain else {
        return tally.leave(rank, .leftOverBytes, hearing)
      }
      return tally.violate(rank, event, hearing, .init(rule, packet, fault, event.context.sender))
    }
    if condition == .severalFields, hasOddFields(faults) {
      return tally.leave(rank, .oddFields, hearing)
    }
    tally.satisfy(rank, hearing)
  }

  private func hasOddFields(_ faults: [MQTTFault]) -> Bool {
    faults.contains {
      [.clientID, .willTopic, .username].contains($0.field) && $0.code != .emptyClientID
    }
  }
}

extension FaultRule.ConnectCondition {
  func holds(
    _ connect: borrowing MQTTConnectView, cut: Int, _ packet: borrowing MQTTPacketView
  ) -> Bool {
    switch self {
    case .always: true
    case .will: connect.hasWill
    case .noWill: !connect.hasWill
    case .username: connect.hasUsername
    case .noUsername: !connect.hasUsername
    case .password: connect.hasPassword
    case .noPassword: !connect.hasPassword
    case .noClientID: cut > MQTTField.clientID.placeInConnect && connect.clientID.byteCount == 0
    case .severalFields: connect.hasWill || connect.hasUsername || connect.hasPassword
    case .property(let id): packet.propertySet.contains(id)
    case .willProperty(let id): connect.willPropertySet.contains(id)
    }
  }

  /// Whether it is about a property that may stand again behind one that can't be read.
  func dependsOnUnread(
    _ connect: borrowing MQTTConnectView, _ packet: borrowing MQTTPacketView
  ) -> Bool {
    switch self {
    case .property: !packet.propertySet.isWhole
    case .willProperty: !connect.willPropertySet.isWhole
    default: false
    }
  }
}

/// The bytes behind the last field that the flags of a CONNECT announce, read as further fields.
private struct ExtraFields {
  /// How many length-prefixed fields end exactly with the packet; nil if none do.
  private let count: Int?
  /// Whether they may as well be the fields of a will of 5.0, which begin with properties.
  private let mayBeWill: Bool

  init(_ packet: borrowing MQTTPacketView, from offset: Int) {
    count = packet.prefixedFields(from: offset)
    let will = packet.prefixedFields(behindPropertiesAt: offset)
    mayBeWill = will.map { (2...4).contains($0) } ?? false
  }

  /// Tells whether a user name or a password that 5.0 does not announce must be among them.
  ///
  /// Either may come alone there: what is certain is the second of two fields.
  func containLogin(_ field: FaultRule.ExtraField, _ flags: UInt8) -> Bool {
    guard let count, flags & 0b100 != 0 || !mayBeWill else { return false }
    let (hasUsername, hasPassword) = (flags & 0b1000_0000 != 0, flags & 0b0100_0000 != 0)
    if !hasUsername, !hasPassword { return field != .will && count == 2 }
    switch field {
    case .will: return false
    case .username: return !hasUsername && count == 1
    case .password: return !hasPassword && count == 1
    }
  }

  /// Tells whether a field that is not announced must be among them.
  ///
  /// The payload has one order, so the first field too many is the first that is not announced and
  /// may follow. Will fields come in a pair, before the user name: three fields are more than a user
  /// name and a password, and two without a will may be either.
  func contain(_ field: FaultRule.ExtraField, _ flags: UInt8) -> Bool {
    guard let count, count <= 4 else { return false }
    let hasWill = flags & 0b100 != 0
    let hasUsername = flags & 0b1000_0000 != 0
    let login = hasUsername ? 1 : 2
    switch field {
    case .will: return !hasWill && count > login
    case .username: return hasWill ? true : count == 1 || count > 2
    case .password:
      return hasUsername ? count == 1 || count > 2 : count == 4 || (hasWill && count == 2)
    }
  }
}

extension MQTTPacketView {
  /// The two bytes of a length at a place that the caller has checked.
  private func length(at position: Int) -> Int {
    let high = Int(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self))
    let low = Int(bytes.unsafeLoad(fromByteOffset: position + 1, as: UInt8.self))
    return high << 8 | low
  }

  /// How many length-prefixed fields stand from a byte on and end exactly with the packet; nil if none do.
  fileprivate func prefixedFields(from offset: Int) -> Int? {
    var position = offset
    var count = 0
    while position + 2 <= bytes.byteCount, position >= 0 {
      position += 2 + length(at: position)
      count += 1
    }
    return position == bytes.byteCount && count > 0 ? count : nil
  }

  /// The same behind a Property Length and its properties; nil where there can be none.
  fileprivate func prefixedFields(behindPropertiesAt offset: Int) -> Int? {
    guard offset >= 0,
      case .value(let length, let size) = VariableByteInteger.read(
        bytes, at: offset, end: bytes.byteCount)
    else { return nil }
    return prefixedFields(from: offset + size + length)
  }

  /// Whether the fields of a CONNECT or a request fill it exactly if there is no Property Length: its sender
  /// may have left that out, and then none of what it is read as is there.
  var fillsItselfWithoutPropertyLength: Bool {
    // Of requests any bytes may follow that make it so.
    guard missing == 0 else { return type == .subscribe || type == .unsubscribe }
    switch type {
    case .connect:
      guard let connect else { return false }
      // Name, level, flags and Keep Alive come first.
      let start = header.size + 2 + connect.protocolName.byteCount + 4
      let (flags, fields) = (connect.flags, prefixedFields(from: start))
      let login = (flags & 0b1000_0000 != 0 ? 1 : 0) + (flags & 0b0100_0000 != 0 ? 1 : 0)
      return fields == 1 + (flags & 0b100 != 0 ? 2 : 0) + login
    case .unsubscribe: return prefixedFields(from: header.size + 2) != nil
    case .subscribe: return areFiltersWithOptions(from: header.size + 2)
    default: return false
    }
  }

  private func areFiltersWithOptions(from offset: Int) -> Bool {
    var position = offset
    while position + 2 <= bytes.byteCount {
      let length = length(at: position)
      guard length > 0 else { return false }
      position += 3 + length
    }
    return position == bytes.byteCount && position > offset
  }
}
