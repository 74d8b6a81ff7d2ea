package import Wire

// What differs between two packets, whichever end has sent them.
extension ReplayComparison {
  /// Compares two packets but for their identifiers, which every run gives anew, and DUP, which tells of time.
  ///
  /// Topics stand in both as they are meant, and not by an alias. Unless it is ``ReplayMatch/strict``, what servers
  /// say of themselves in the properties of CONNACK, reasons for people and how long a message has left do not count.
  /// - Parameters:
  ///   - expected: The recorded one.
  ///   - actual: That of this run.
  package mutating func compare(_ expected: MQTTPacket, _ actual: MQTTPacket) {
    guard expected.version == actual.version else {
      return note("version", "\(expected.version.rawValue)", "\(actual.version.rawValue)")
    }
    guard expected.type == actual.type else {
      return note("kind", "\(expected.type.name)", "\(actual.type.name)")
    }
    switch (expected.content, actual.content) {
    case (.publish(let expected), .publish(let actual)):
      compare(Message(expected), Message(actual))
      compareProperties(expected.properties, actual.properties)
    case (.subscribe(_, let expected, let properties), .subscribe(_, let actual, let others)):
      compare(expected.map(Subscription.init), actual.map(Subscription.init))
      compareProperties(properties, others)
    case (.unsubscribe(_, let expected, let properties), .unsubscribe(_, let actual, let others)):
      compareFilters(expected, actual)
      compareProperties(properties, others)
    default:
      if options.match != .topic { compareSigns(expected, actual) }
    }
  }

  /// Takes note that there is something of another kind, or nothing.
  /// - Parameters:
  ///   - expected: The recorded kind; nil where no packet is recorded.
  ///   - actual: That of this run.
  package mutating func noteOther(_ expected: String?, _ actual: String) {
    note("kind", expected, actual)
  }

  /// Compares packets that have neither topics nor filters.
  private mutating func compareSigns(_ expected: MQTTPacket, _ actual: MQTTPacket) {
    switch (expected.content, actual.content) {
    case (.connect(let expected), .connect(let actual)):
      compare(ConnectOptions(expected), ConnectOptions(actual))
      compareProperties(expected.properties, actual.properties)
      compareProperties(expected.will?.properties ?? [], actual.will?.properties ?? [], "will.")
    case (.connack(let expected), .connack(let actual)):
      compare("sessionPresent", expected.sessionPresent, actual.sessionPresent)
      compare("reasonCode", expected.code, actual.code)
      if options.match == .strict { compareProperties(expected.properties, actual.properties) }
    case (.suback(_, let expected, let properties), .suback(_, let actual, let others)),
      (.unsuback(_, let expected, let properties), .unsuback(_, let actual, let others)):
      compare("reasonCodes", expected, actual)
      compareProperties(properties, others)
    case (.acknowledgement(_, _, let expected), .acknowledgement(_, _, let actual)),
      (.disconnect(let expected), .disconnect(let actual)),
      (.auth(let expected), .auth(let actual)):
      // Left out, a code is that of success (MQTT 5.0 section 3.4.2.1).
      compare("reasonCode", expected.code ?? 0, actual.code ?? 0)
      compareProperties(expected.properties ?? [], actual.properties ?? [])
    default: return
    }
  }

  // MARK: Properties

  /// What says nothing of the session unless it is compared strictly.
  private static let passing: Set<MQTTPropertyID> = [
    .reasonString, .messageExpiryInterval, .correlationData, .authenticationData,
  ]

  private mutating func compareProperties(
    _ expected: [MQTTProperty], _ actual: [MQTTProperty], _ prefix: String = ""
  ) {
    guard options.match != .topic else { return }
    for id in MQTTPropertyID.allCases where id != .topicAlias {
      if options.match != .strict, Self.passing.contains(id) { continue }
      let (recorded, performed) = (Self.text(of: id, in: expected), Self.text(of: id, in: actual))
      guard recorded != performed else { continue }
      if let recorded, let performed, Self.isHidden(recorded, of: performed) { continue }
      note("\(prefix)properties.\(id.name)", recorded, performed)
    }
  }

  /// The values of a property in order; nil where it is not there.
  private static func text(of id: MQTTPropertyID, in properties: [MQTTProperty]) -> String? {
    let values = properties.filter { $0.id == id }.map { property in
      switch property.value {
      case .integer(let number): "\(number)"
      case .string(let text): text
      case .binary(let bytes): bytes.map { String($0, radix: 16) }.joined(separator: " ")
      case .pair(let name, let value): "\(name)=\(value)"
      }
    }
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}

extension Message {
  /// Creates the message of a packet.
  init(_ publish: MQTTPacket.Publish) {
    self.init(
      topic: publish.topic, payload: publish.payload,
      qos: QoS(rawValue: publish.qos) ?? .exactlyOnce, isRetained: publish.retain,
      properties: MessageProperties(publish.properties))
  }
}
