package import DeviceSDK
package import RepriseCore

/// What an application can ask a link for, as steps of scenarios write it.
package protocol LinkCall: Sendable {
  /// The call that closes what the link has opened.
  static var goodbye: Self { get }

  /// Reads a call; nil when a link of this kind has none of that name.
  /// - Parameters:
  ///   - kind: The name of the call.
  ///   - fields: Its arguments.
  /// - Throws: ``ConformanceError`` for an argument that makes no sense.
  init?(_ kind: String, _ fields: JSONValue) throws(ConformanceError)
}

extension MessageLinkMachine.Call: LinkCall {
  /// Logs out.
  package static var goodbye: Self { .logout }

  /// Reads a call of the message service.
  package init?(_ kind: String, _ fields: JSONValue) throws(ConformanceError) {
    let channel = fields["channel"]?.text ?? ""
    switch kind {
    case "login": self = .login(token: fields["token"]?.text ?? "")
    case "logout": self = .logout
    case "renew": self = .renewToken(fields["token"]?.text ?? "")
    case "subscribe": self = .subscribe(channel, try Self.features(fields))
    case "unsubscribe": self = .unsubscribe(channel)
    case "publish": self = .publish(channel, Array((fields["text"]?.text ?? "").utf8))
    case "setStates", "removeStates": self = .changeStates(channel, fields.stateChanges)
    case "admitStream": self = .admitStream(channel)
    case "releaseStream": self = .releaseStream(channel)
    case "network": self = .noteNetwork(try LinkNetworkChange(fields))
    default: return nil
    }
  }

  private static func features(
    _ fields: JSONValue
  ) throws(ConformanceError) -> LinkSubscribeFeatures {
    guard let names = fields["features"]?.texts else { return [.message, .presence] }
    var features: LinkSubscribeFeatures = []
    for name in names {
      switch name {
      case "message": features.insert(.message)
      case "presence": features.insert(.presence)
      case "beQuiet": features.insert(.beQuiet)
      default: throw ConformanceError(.badCatalogue, "a subscription has no feature \(name)")
      }
    }
    return features
  }
}

extension StreamLinkMachine.Call: LinkCall {
  /// Leaves the channel.
  package static var goodbye: Self { .leave }

  /// Reads a call of a stream channel.
  package init?(_ kind: String, _ fields: JSONValue) throws(ConformanceError) {
    switch kind {
    case "join": self = .join(token: fields["token"]?.text ?? "", try Self.features(fields))
    case "leave": self = .leave
    case "renew": self = .renewToken(fields["token"]?.text ?? "")
    case "setStates", "removeStates": self = .changeStates(fields.stateChanges)
    case "joinTopic", "leaveTopic", "publish", "subscribeTopic", "unsubscribeTopic":
      self = try Self.onTopic(kind, fields)
    case "serviceFails": self = .noteServiceFailure
    case "network": self = .noteNetwork(try LinkNetworkChange(fields))
    default: return nil
    }
  }

  private static func onTopic(
    _ kind: String, _ fields: JSONValue
  ) throws(ConformanceError) -> Self {
    let topic = fields["topic"]?.text ?? ""
    let users = fields["users"]?.texts ?? []
    switch kind {
    case "joinTopic": return .joinTopic(topic, try LinkTopicOptions(fields))
    case "leaveTopic": return .leaveTopic(topic)
    case "publish": return .publish(topic, Array((fields["text"]?.text ?? "").utf8))
    case "subscribeTopic": return .subscribeTopic(topic, users)
    default: return .unsubscribeTopic(topic, users)
    }
  }

  private static func features(_ fields: JSONValue) throws(ConformanceError) -> LinkJoinFeatures {
    guard let names = fields["features"]?.texts else { return .presence }
    var features: LinkJoinFeatures = []
    for name in names {
      switch name {
      case "presence": features.insert(.presence)
      case "metadata": features.insert(.metadata)
      case "lock": features.insert(.lock)
      case "beQuiet": features.insert(.beQuiet)
      default: throw ConformanceError(.badCatalogue, "joining has no feature \(name)")
      }
    }
    return features
  }
}

extension LinkTopicOptions {
  fileprivate init(_ fields: JSONValue) throws(ConformanceError) {
    self.init(meta: fields["meta"]?.text ?? "")
    switch fields["qos"]?.text {
    case nil, "unordered": qos = .unordered
    case "ordered": qos = .ordered
    case let name?:
      throw ConformanceError(.badCatalogue, "a topic is ordered or unordered, and not \(name)")
    }
  }
}

extension LinkNetworkChange {
  fileprivate init(_ fields: JSONValue) throws(ConformanceError) {
    switch fields["change"]?.text {
    case "lost": self = .lost
    case "regained": self = .regained
    case "switched": self = .switched
    default:
      throw ConformanceError(
        .badCatalogue, "a network's change is lost, regained or switched")
    }
  }
}

extension JSONValue {
  /// The temporary states that a step sets, and the `keys` of those that it takes away.
  fileprivate var stateChanges: [String: String?] {
    var changes: [String: String?] = [:]
    if case .object(let members) = self["states"] {
      for member in members { changes.updateValue(member.value.text ?? "", forKey: member.key) }
    }
    for key in self["keys"]?.texts ?? [] { changes.updateValue(nil, forKey: key) }
    return changes
  }
}
