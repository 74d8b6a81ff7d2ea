import DeviceSDK
import RepriseCore

/// What a plan has to know of a session, gathered in one walk through it.
struct RecordedSession: Sendable {
  /// Something that the recorded client did; its place in the list is its number.
  struct Action: Sendable {
    let kind: ClientAction.Kind
    let place: ReplayPlace
    let isImplied: Bool
    /// Its number among all that was said.
    let step: Int
    /// The number of the SUBACK or UNSUBACK.
    var answeredAt: Int?
    /// Of a CONNECT: whether the server had kept the session; nil when it was not accepted.
    var isSessionPresent: Bool?
  }

  /// The end of a connection.
  struct End: Sendable {
    let reason: ClientEvent.Closed
    let time: Timestamp
    /// When the connection was accepted; nil when it was not.
    let acceptedAt: Timestamp?
    /// How many actions there were before it.
    let actionCount: Int
  }

  /// A reply to a request that binds an account.
  struct BindReply: Sendable {
    let code: Int
    let time: Timestamp
    let step: Int
  }

  private(set) var actions: [Action] = []
  private(set) var ends: [End] = []
  /// The topics on which replies came.
  private(set) var replyTopics: Set<String> = []
  private(set) var bindReplies: [BindReply] = []
  /// The identities that topics of an app name, each once.
  private(set) var identities: [ChannelIdentity] = []
  /// The first topics that are no app's.
  private(set) var otherTopics: [String] = []
  /// Whether the session ends while its last connection is open.
  private(set) var breaksOff = false
  /// How long the server took at most to accept connections and to close them.
  private(set) var patience = RecordedPatience()
  private var seen: Set<String> = []
  private var steps = 0
  private var acceptedAt: Timestamp?

  init(_ dialogue: some Sequence<ReplayDialogue.Step>) {
    for step in dialogue {
      switch step.content {
      case .action(let action): take(action.kind, step)
      case .event(let event): take(event, step)
      }
      steps += 1
    }
  }

  // MARK: Actions

  private mutating func take(_ kind: ClientAction.Kind, _ step: ReplayDialogue.Step) {
    actions.append(
      Action(kind: kind, place: step.place, isImplied: step.isImplied, step: steps))
    switch kind {
    case .subscribe(let subscriptions):
      for subscription in subscriptions { note(subscription.filter, isFromClient: false) }
    case .unsubscribe(let filters):
      for filter in filters { note(filter, isFromClient: false) }
    case .publish(let message): note(message.topic, isFromClient: true)
    case .connect:
      breaksOff = true
      patience.noteTry(step.place.time)
    case .disconnect: patience.noteGoodbye(step.place.time)
    case .send, .sendText, .sendBinary: return
    }
  }

  /// Notes whose topic it is: apps send up and receive down, whoever does it the other way is no app.
  private mutating func note(_ topic: String, isFromClient: Bool) {
    guard seen.count < 10_000, seen.insert(topic).inserted else { return }
    if let identity = ChannelTopics.identity(in: topic, isUp: isFromClient) {
      if !identities.contains(identity) { identities.append(identity) }
    } else if otherTopics.count < 3 {
      otherTopics.append(topic)
    }
  }

  // MARK: Events

  private mutating func take(_ event: ClientEvent, _ step: ReplayDialogue.Step) {
    if case .connected(let connected) = event {
      acceptedAt = step.place.time
      patience.noteAnswer(step.place.time)
      let connect = actions.lastIndex { if case .connect = $0.kind { true } else { false } }
      if let connect { actions[connect].isSessionPresent = connected.isSessionPresent }
    } else if case .subscribed(let id, _) = event {
      noteAnswer(to: id)
    } else if case .unsubscribed(let id) = event {
      noteAnswer(to: id)
    } else if case .message(let message) = event {
      note(message.topic, isFromClient: false)
      takeReply(message, step.place.time)
    } else if case .closed(let reason) = event {
      breaksOff = false
      patience.noteAnswer(step.place.time)
      ends.append(
        End(
          reason: reason, time: step.place.time, acceptedAt: acceptedAt,
          actionCount: actions.count))
      acceptedAt = nil
    }
  }

  private mutating func noteAnswer(to id: ClientAction.ID) {
    let number = Int(id.rawValue)
    if actions.indices.contains(number) { actions[number].answeredAt = steps }
  }

  private mutating func takeReply(_ message: Message, _ time: Timestamp) {
    guard message.topic.hasSuffix("_reply"),
      let envelope = ChannelEnvelope(parsing: message.payload)
    else { return }
    replyTopics.insert(message.topic)
    if let code = envelope.code, message.topic.hasSuffix("/app/down/account/bind_reply") {
      bindReplies.append(BindReply(code: code, time: time, step: steps))
    }
  }
}

extension ChannelTopics {
  /// Returns the identity that a topic or filter of an app names; nil when it is no app's.
  /// - Parameters:
  ///   - topic: The full topic: `/sys/a1pk/dev1/app/up/account/bind`.
  ///   - isUp: Whether it has to be one that the app sends to, or one that it receives from.
  /// - Returns: The identity.
  static func identity(in topic: String, isUp: Bool) -> ChannelIdentity? {
    let levels = topic.split(separator: "/", maxSplits: 6, omittingEmptySubsequences: false)
    guard levels.count == 7, levels[0].isEmpty, levels[1] == "sys", levels[4] == "app",
      levels[5] == (isUp ? "up" : "down")
    else { return nil }
    return try? ChannelIdentity(productKey: String(levels[2]), deviceName: String(levels[3]))
  }
}
