import RepriseCore
import Wire

/// What a client was seen to do when it was met first.
struct ClientAbilities: Sendable, Hashable {
  /// The version that its CONNECT names; nil where none came, or it was none of MQTT.
  var version: MQTTVersion?
  /// The highest QoS that it publishes by; nil where it does not publish.
  var publishedQoS: UInt8?
  /// The highest QoS that it asks for; nil where it does not subscribe.
  var askedQoS: UInt8?
  /// Whether its session is to outlive its connection.
  var keepsSession = false
  /// The method of authentication that its CONNECT names; nil where it names none.
  var method: String?
  /// Whether WebSocket carries its MQTT.
  var usesWebSocket = false

  /// Takes a packet of it.
  mutating func take(_ packet: HeardPacket) {
    switch packet.content {
    case .connect(let connect):
      version = version ?? packet.version
      method = connect.properties.string(.authenticationMethod)
      keepsSession =
        packet.version == .v5_0
        ? connect.properties.integer(.sessionExpiryInterval) ?? 0 > 0 : !connect.cleanStart
    case .subscribe(_, let subscriptions, _):
      askedQoS = subscriptions.map { $0.options & 3 }.reduce(askedQoS ?? 0, max)
    default: break
    }
    if packet.type == .publish { publishedQoS = max(publishedQoS ?? 0, packet.qos) }
  }

  /// Whether it does what a command is for.
  func does(_ role: ClientCommand.Role) -> Bool {
    switch role {
    case .any: publishedQoS != nil || askedQoS != nil
    case .publishes: publishedQoS != nil
    case .subscribes: askedQoS != nil
    }
  }

  /// Whether it publishes or subscribes, as a plan needs it.
  func plays(for plan: CasePlan) -> Bool {
    let needs = plan.driven.needs
    return (!needs.contains(.publishes) || publishedQoS != nil)
      && (!needs.contains(.subscribes) || askedQoS != nil)
  }

  /// Why a plan can't be run by it; nil where it can.
  /// - Parameters:
  ///   - plan: The plan.
  ///   - file: The recording in which it was met first.
  /// - Returns: The reason, for people; nil where there is none.
  func obstacle(to plan: CasePlan, in file: String) -> String? {
    let most: UInt8? =
      plan.driven.needs.contains(.publishes)
      ? publishedQoS
      : plan.driven.needs.contains(.subscribes)
        ? askedQoS : [publishedQoS, askedQoS].compactMap(\.self).max()
    for need in plan.driven.needs {
      let lack: String? =
        switch need {
        case .publishes where publishedQoS == nil: "publishes nothing"
        case .subscribes where askedQoS == nil: "subscribes to nothing"
        case .qos1 where most ?? 0 < 1: "does not use QoS 1"
        case .qos2 where most ?? 0 < 2: "does not use QoS 2"
        case .sessions where !keepsSession: "asks for no session that outlives its connection"
        case .authentication where method == nil: "names no method of authentication"
        default: nil
        }
      if let lack { return "the client \(lack), see \(file)" }
    }
    if let wanted = plan.qos, wanted > most ?? 0 {
      return "the client does not use QoS \(wanted), see \(file)"
    }
    return nil
  }
}

extension CasePlan {
  /// The QoS of its row; nil where it has none.
  var qos: Int? { values.first { $0.key == "qos" }?.value.integer }

  /// A value of its row as a text; nil where it has none of that name.
  func text(_ name: String) -> String? {
    guard let value = values.first(where: { $0.key == name })?.value else { return nil }
    let filled = CaseTemplate.fill(value) { _ in nil }
    return filled.text ?? filled.description
  }
}
