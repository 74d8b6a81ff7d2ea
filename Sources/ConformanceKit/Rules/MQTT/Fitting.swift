internal import RepriseCore
internal import Wire

// Properties that must not make a packet larger than its receiver accepts: the clauses on Reason String and User
// Property in sections 3.2.2.3, 3.4.2.2 to 3.7.2.2, 3.9.2.1, 3.11.2.1, 3.14.2.2 and 3.15.2.2 of 5.0.
extension ConnectionState {
  /// Judges whether what a packet tells of its reasons makes it larger than its receiver accepts, in bytes.
  func judgeReasons(
    _ packet: borrowing MQTTPacketView, within most: Int, isBound: Bool,
    _ event: borrowing EventView, _ hearing: Hearing, _ tally: inout Tally
  ) {
    guard let rules = MQTTRule.fitting(packet.type) else { return }
    let set = packet.propertySet
    let hasReason = set.contains(.reasonString)
    let hasUsers = set.contains(.userProperty)
    guard hasReason || hasUsers else { return }
    let size = packet.header.packetSize
    guard size > most else {
      if hasReason { tally.satisfy(rules.reason, hearing) }
      if hasUsers { tally.satisfy(rules.users, hearing) }
      return
    }
    let causes = packet.causesOfSize(above: most)
    for (has, isCause, rule, name) in [
      (hasReason, causes.reason, rules.reason, "Reason String"),
      (hasUsers, causes.users, rules.users, "User Properties"),
    ] where has {
      guard let isCause else {
        tally.leave(rule, .unreadableProperty, hearing)
        continue
      }
      // Without it the packet is too large as well: it is not what makes it so.
      guard isCause else { continue }
      guard isBound else {
        tally.leave(rule, .limitNotKnown, hearing)
        continue
      }
      let text = FindingText(
        "the \(event.context.sender.rawValue)'s \(packet.type.name) is larger than the "
          + "\(event.context.sender.other.rawValue) accepts because of its \(name)",
        expected: "no \(name) where the packet has more than \(most) bytes with it",
        actual: "\(size) bytes")
      tally.violate(rule, event, hearing, text)
    }
  }
}

extension MQTTPacketView {
  /// Whether it would not be too large without its Reason String, and without its User Properties.
  ///
  /// Where it takes both of them, both are causes; nil where they can't be read.
  fileprivate func causesOfSize(above most: Int) -> (reason: Bool?, users: Bool?) {
    guard propertySet.isWhole, missing == 0 else { return (nil, nil) }
    var reason = 0
    var users = 0
    var start: Int?
    var properties = properties
    while let property = properties.next() {
      if start == nil { start = property.offset }
      switch property.id {
      case .reasonString: reason += 3 + property.bytes(in: bytes).byteCount
      case .userProperty:
        users += 5 + property.bytes(in: bytes).byteCount + property.secondBytes(in: bytes).byteCount
      default: break
      }
    }
    guard let start else { return (nil, nil) }
    // Behind the properties there are codes at most.
    let codes = type == .suback || type == .unsuback ? reasonCodes.byteCount : 0
    let all = header.packetSize - start - codes
    let isReason = reason > 0 && size(without: reason, of: all) <= most
    let isUsers = users > 0 && size(without: users, of: all) <= most
    if !isReason, !isUsers, reason > 0, users > 0 {
      let isBoth = size(without: reason + users, of: all) <= most
      return (isBoth, isBoth)
    }
    return (isReason, isUsers)
  }

  /// The size of the packet with fewer bytes of properties, of so many that there are.
  private func size(without count: Int, of all: Int) -> Int {
    let saved = count + Self.variableSize(all) - Self.variableSize(all - count)
    let body = header.packetSize - header.size - saved
    return 1 + Self.variableSize(body) + body
  }

  /// How many bytes a Variable Byte Integer takes (section 1.5.5).
  private static func variableSize(_ value: Int) -> Int {
    switch value {
    case ..<128: 1
    case ..<16_384: 2
    case ..<2_097_152: 3
    default: 4
    }
  }
}

extension MQTTRule {
  /// The clauses on Reason String and User Properties of a type of packet.
  fileprivate static func fitting(
    _ type: MQTTPacketType
  ) -> (reason: MQTTRule, users: MQTTRule)? {
    switch type {
    case .connack: (.reasonFitsConnack, .usersFitConnack)
    case .puback: (.reasonFitsPuback, .usersFitPuback)
    case .pubrec: (.reasonFitsPubrec, .usersFitPubrec)
    case .pubrel: (.reasonFitsPubrel, .usersFitPubrel)
    case .pubcomp: (.reasonFitsPubcomp, .usersFitPubcomp)
    case .suback: (.reasonFitsSuback, .usersFitSuback)
    case .unsuback: (.reasonFitsUnsuback, .usersFitUnsuback)
    case .disconnect: (.reasonFitsDisconnect, .usersFitDisconnect)
    case .auth: (.reasonFitsAuth, .usersFitAuth)
    case .connect, .publish, .subscribe, .unsubscribe, .pingreq, .pingresp, .reserved: nil
    }
  }
}
