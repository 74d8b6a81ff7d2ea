import DeviceSDK
package import RepriseCore

/// Which of the SDK's systems a recorded session is of, by what its client does.
package enum RecordedSystem: Sendable, Hashable, CaseIterable {
  /// The long connection of an app.
  case channel
  /// An app that is the gateway of sub-devices.
  case gateway
  /// A link of the message service.
  case messageLink
  /// A link of one stream channel.
  case streamLink
  /// A connection for requests.
  case requests

  /// Finds out which system a session is of; a channel if it shows no other.
  /// - Parameter events: The events of one client.
  /// - Throws: `DataClientError` when the session has not the one client.
  package init(_ events: ReplayEvents) throws(DataClientError) {
    guard try !ReplayClient(events).capabilities.contains(.frames) else {
      self = .requests
      return
    }
    self = .channel
    for step in try events.dialogue() {
      guard case .action(let action) = step.content else { continue }
      switch action.kind {
      case .connect(let options):
        guard let name = RecordedLinkName(options.clientID) else { continue }
        self = name.streamChannel == nil ? .messageLink : .streamLink
        return
      case .subscribe(let wanted):
        guard wanted.contains(where: { GatewayEvidence.isOfGateway($0.filter) }) else { continue }
        self = .gateway
        return
      case .publish(let message):
        guard GatewayEvidence.isOfGateway(message.topic) else { continue }
        self = .gateway
        return
      case .unsubscribe, .send, .sendText, .sendBinary, .disconnect: continue
      }
    }
  }
}

/// What only gateways say.
enum GatewayEvidence {
  /// Whether a topic is one that only gateways use: of sessions of sub-devices, of the topology, of registrations.
  static func isOfGateway(_ topic: String) -> Bool {
    if topic.hasPrefix("/ext/session/") || topic.hasPrefix("/ext/error/") { return true }
    return GatewayTopic(topic)?.isOfGateway == true
  }
}
