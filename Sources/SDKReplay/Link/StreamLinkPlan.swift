package import DeviceSDK
package import RepriseCore

/// What the people and the code of a recorded application did on the link of one stream channel.
package struct StreamLinkPlan: LinkPlan {
  private let link: RecordedLink
  private let channel: String
  private var session: RecordedLinkSession { link.session }

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the link and its server said to each other.
  /// - Throws: `DataClientError` when it is no session of such a link, or not from its beginning.
  package init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    link = try RecordedLink(dialogue)
    guard let channel = link.streamChannel else {
      throw DataClientError(.unsupported, "the session is that of the message service")
    }
    self.channel = channel
  }

  /// Whose session it is.
  package var subject: String { link.subject }
  /// What was taken for granted.
  package var notes: [String] { link.notes }
  /// Whether the session ends while its last connection is open.
  package var breaksOff: Bool { session.breaksOff }

  /// Makes the link.
  package func makeMachine(_ capabilities: Capabilities) throws -> StreamLinkMachine {
    try StreamLinkMachine(channel, link.configuration)
  }

  /// Closes the link.
  package var goodbye: StreamLinkMachine.Call { .leave }

  /// Takes events until the end.
  package static func loop(_ driver: Driver<StreamLinkMachine>) async throws {
    try await driver.loop()
  }

  /// Returns a call in words.
  package func words(for call: StreamLinkMachine.Call) -> ReplayedCall.Words? {
    switch call {
    case .join(_, let features): .init("join", nil, .string("features \(features.rawValue)"))
    case .leave: .init("leave")
    case .renewToken: .init("renew")
    case .changeStates(let changes): .init("states", nil, states: changes)
    case .noteServiceFailure: .init("service", nil, "failed")
    case .noteNetwork(let change): .init("network", nil, .string("\(change)"))
    }
  }

  // MARK: Calls

  /// Returns what the app called when its client did something that the link does not do by itself.
  /// - Parameters:
  ///   - ordinal: The number of the action in the session, from 0.
  ///   - link: The link as it is.
  ///   - ending: What was told so far.
  /// - Returns: The calls; none when no call of a stream channel brings it about.
  package func calls(
    for ordinal: Int, on link: StreamLinkMachine, _ ending: LinkState
  ) -> [StreamLinkMachine.Call] {
    let state = link.state
    guard session.actions.indices.contains(ordinal) else { return [] }
    switch session.actions[ordinal] {
    case .connect: return [state == .connecting ? .noteNetwork(.regained) : join(after: ordinal)]
    case .disconnect:
      if state == .connected { return [.noteNetwork(.lost)] }
      return [session.connectsNext(after: ordinal) ? join(after: ordinal) : .leave]
    case .publish(let message):
      let request = JSONValue(parsing: message.payload) ?? .null
      switch session.verb(of: message).flatMap(LinkVerb.init) {
      case .leave: return [.leave]
      case .renew: return [.renewToken(request["token"]?.text ?? "")]
      case .state: return [.changeStates(session.stateChanges[ordinal] ?? [:])]
      case .login, .logout, .join, .subscribe, .unsubscribe, nil: return []
      }
    case .subscribe, .unsubscribe, .send, .sendText, .sendBinary: return []
    }
  }

  private func join(after ordinal: Int) -> StreamLinkMachine.Call {
    let features = session.greeting(after: ordinal)?["features"]?.lenientInteger
    return .join(
      token: session.token(after: ordinal),
      LinkJoinFeatures(rawValue: features ?? LinkJoinFeatures.presence.rawValue))
  }
}
