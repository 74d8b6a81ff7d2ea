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
    guard condition == .always || (hasFlags && condition.holds(connect, cut: cut)) else { return }
    if let fault = rule.match(faults) {
      return tally.violate(rank, event, hearing, .init(rule, packet, fault, event.context.sender))
    }
    if cut <= (rule.lastField ?? .payload).placeInConnect {
      return tally.leave(rank, .earlierFieldCut, hearing)
    }
    guard packet.missing == 0 else { return tally.leave(rank, .incompletePacket, hearing) }
    if let extra = rule.extra, let fault = faults.first(where: { $0.code == .trailingBytes }) {
      guard ExtraFields(packet, from: fault.offset).contain(extra, connect.flags) else {
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
  func holds(_ connect: borrowing MQTTConnectView, cut: Int) -> Bool {
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
    }
  }
}

/// The bytes behind the last field that the flags of a CONNECT announce, read as further fields.
private struct ExtraFields {
  /// How many length-prefixed fields end exactly with the packet; nil if none do.
  private let count: Int?

  init(_ packet: borrowing MQTTPacketView, from offset: Int) {
    let bytes = packet.bytes
    var position = offset
    var count = 0
    while position + 2 <= bytes.byteCount, position >= 0 {
      position +=
        2 + Int(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self)) << 8
        + Int(bytes.unsafeLoad(fromByteOffset: position + 1, as: UInt8.self))
      count += 1
    }
    self.count = position == bytes.byteCount && count > 0 ? count : nil
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
