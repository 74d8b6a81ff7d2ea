package import DeviceSDK
package import RepriseCore

/// What the people and the code of a recorded app did on a channel.
///
/// CONNECT is there because the app started the channel, a PUBLISH that is answered because it sent a request, and so
/// on. The plan also has the configuration under which a channel does of itself what the recorded client did of itself.
package struct ChannelPlan: ReplayPlan {
  /// The identity of the app.
  package let identity: ChannelIdentity
  /// How the channel has to behave.
  package let configuration: ChannelConfiguration
  /// Which values differ from run to run.
  package let roles: ReplayRoles
  /// What was taken for granted, one sentence each, to be shown to people.
  package let notes: [String]
  /// The filters that the first connection had before the capture began.
  let adopted: [String]
  /// The filters that the first connection asks for at once, as one does that comes back.
  let resumed: [String]
  /// Whether the session ends while its last connection is open.
  package let breaksOff: Bool
  private let session: RecordedSession
  private let requests: RecordedRequests

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the app's client and its server said to each other.
  /// - Throws: `DataClientError` when it is no app's session.
  package init(_ dialogue: some Sequence<ReplayDialogue.Step>) throws(DataClientError) {
    let session = RecordedSession(dialogue)
    let connect = session.firstConnect
    let identity = try session.identity(connect)
    let topics = ChannelTopics(
      productKey: identity.productKey, deviceName: identity.deviceName)
    let isFromStart = session.actions.first?.isImplied != true
    requests = RecordedRequests(session, topics, isFromStart: isFromStart)
    var guess = ConfigurationGuess(session, identity, topics, connect)
    guess.configuration.replySubscription = requests.replySubscription
    self.session = session
    self.identity = identity
    breaksOff = session.breaksOff
    resumed = session.subscriptionsAtOnce
    adopted = isFromStart || !resumed.isEmpty ? [] : session.subscriptionsBefore(topics)
    configuration = guess.configuration
    var roles = ReplayRoles.channel
    // An app that signs in by another name still is the same on its topics.
    if let connect, connect.username != identity.clientID { roles.connectFields.insert(.username) }
    if Self.lacksParams(session, requests, identity) { roles.optionalPaths.insert("params") }
    self.roles = roles
    if !adopted.isEmpty {
      guess.notes.append(
        "the session begins in the middle of a connection; the app is taken to have subscribed to "
          + adopted.joined(separator: ", ") + " before")
    }
    if !resumed.isEmpty {
      guess.notes.append(
        "the app asks for \(resumed.count) filters at once, and so is taken to have come back after a loss"
      )
    }
    notes = guess.notes
  }

  private static func lacksParams(
    _ session: RecordedSession, _ requests: RecordedRequests, _ identity: ChannelIdentity
  ) -> Bool {
    requests.publications.contains { number in
      guard case .publish(let message) = session.actions[number].kind else { return false }
      return RecordedEnvelope(message.payload, clientID: identity.clientID)?.params == nil
    }
  }

  // MARK: Calls

  /// Returns what the app called when its client did something that the channel does not do by itself.
  package func calls(
    for ordinal: Int, on machine: ChannelStateMachine, _ ending: Ending
  ) -> [ChannelStateMachine.Call] {
    guard let call = call(for: ordinal) else { return [] }
    guard case .bind = call, machine.account == .needsLogin else { return [call] }
    // Several tokens were refused, and yet there is a new one: so the user has logged in again.
    return [.noteLogin, call]
  }

  private func call(for ordinal: Int) -> ChannelStateMachine.Call? {
    guard session.actions.indices.contains(ordinal) else { return nil }
    switch session.actions[ordinal].kind {
    case .connect: return .start
    case .disconnect: return .stop
    case .subscribe(let wanted):
      guard let filter = wanted.first?.filter else { return nil }
      let topics = ChannelTopics(
        productKey: identity.productKey, deviceName: identity.deviceName)
      if wanted.count == 2, wanted.last?.filter == topics.endOfSweep {
        return .findRetained(.full(FullTopic(unchecked: filter)))
      }
      guard wanted.count == 1 else { return nil }
      if let number = requests.subscriptions[ordinal] { return request(number) }
      return .subscribe(.full(FullTopic(unchecked: filter)))
    case .unsubscribe(let filters):
      guard filters.count == 1, let filter = filters.first else { return nil }
      return .unsubscribe(.full(FullTopic(unchecked: filter)))
    case .publish(let message):
      return requests.publications.contains(ordinal) ? request(ordinal) : publication(of: message)
    default: return nil
    }
  }

  private func request(_ number: Int) -> ChannelStateMachine.Call? {
    guard case .publish(let message) = session.actions[number].kind,
      let envelope = RecordedEnvelope(message.payload, clientID: identity.clientID)
    else { return nil }
    if envelope.extra.isEmpty, let call = accountCall(message.topic, envelope.params) {
      return call
    }
    return .invoke(
      .init(
        .full(FullTopic(unchecked: message.topic)), params: envelope.params ?? [:],
        options: envelope.options))
  }

  /// Binding and unbinding, if the parameters are those that the channel writes.
  private func accountCall(
    _ topic: String, _ params: JSONValue?
  ) -> ChannelStateMachine.Call? {
    let topics = ChannelTopics(
      productKey: identity.productKey, deviceName: identity.deviceName)
    guard case .object(let members)? = params else { return nil }
    if topic == topics.unbind.text, members.isEmpty { return .unbind }
    guard topic == topics.bind.text, members.count == 1, members.first?.key == "iotToken",
      let token = members.first?.value.text, !token.isEmpty
    else { return nil }
    return .bind(token: token)
  }

  private func publication(of message: Message) -> ChannelStateMachine.Call {
    let topic = ChannelTopic.full(FullTopic(unchecked: message.topic))
    guard let envelope = RecordedEnvelope(message.payload, clientID: identity.clientID),
      envelope.extra.isEmpty, let params = envelope.params
    else { return .publishBytes(topic, message.payload, isRetained: message.isRetained) }
    return .publish(topic, params, isRetained: message.isRetained)
  }
}
