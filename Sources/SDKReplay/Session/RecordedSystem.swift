package import RepriseCore

/// Which of the SDK's systems a recorded session is of, by what its client does.
package enum RecordedSystem: Sendable, Hashable, CaseIterable {
  /// The long connection of an app.
  case channel
  /// An app that is the gateway of sub-devices.
  case gateway
  /// The long connection of an app, and its gateway that rides on it.
  case channelWithGateway
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
    var evidence: Set<RecordedMember> = []
    for step in try events.dialogue() {
      guard case .action(let action) = step.content else { continue }
      if case .connect(let options) = action.kind, !evidence.contains(.gateway),
        let name = RecordedLinkName(options.clientID)
      {
        self = name.streamChannel == nil ? .messageLink : .streamLink
        return
      }
      for topic in action.kind.topics {
        if let member = RecordedMember(showingItselfBy: topic) { evidence.insert(member) }
      }
      if evidence.count == RecordedMember.allCases.count { break }
    }
    self =
      !evidence.contains(.gateway)
      ? .channel : evidence.contains(.channel) ? .channelWithGateway : .gateway
  }
}
