import RepriseCore

/// How users come into topics of stream channels.
extension LinkServiceMachine {
  private static let topicNotJoined = -11_016

  mutating func joinTopic(
    _ request: LinkServiceRequest, _ stream: String, _ address: LinkAddress
  ) {
    guard let topic = request.text("topic"), !topic.isEmpty else {
      return reply(Self.invalidParameter, to: request, address)
    }
    if let code = rules.refusedTopics[topic] { return reply(code, to: request, address) }
    reply(0, to: request, address)
    enter(topic, request.text("meta") ?? "", channel(stream, address), address.user)
  }

  mutating func leaveTopic(
    _ request: LinkServiceRequest, _ stream: String, _ address: LinkAddress
  ) {
    let channel = channel(stream, address)
    guard let topic = request.text("topic"), exit(topic, channel, address.user) else {
      return reply(Self.topicNotJoined, to: request, address)
    }
    reply(0, to: request, address)
  }

  private mutating func enter(
    _ topic: String, _ meta: String, _ channel: LinkChannel, _ user: LinkUser
  ) {
    guard topics.enter(topic, user.user, meta: meta, in: channel) else { return }
    tell(.join, topic, meta, channel, user)
  }

  @discardableResult
  private mutating func exit(
    _ topic: String, _ channel: LinkChannel, _ user: LinkUser
  ) -> Bool {
    guard let meta = topics.exit(topic, user.user, in: channel) else { return false }
    tell(.leave, topic, meta, channel, user)
    return true
  }

  /// Takes a user out of all topics of a channel.
  mutating func leaveTopics(of channel: LinkChannel, _ user: LinkUser) {
    for topic in topics.topics(of: user.user, in: channel) { exit(topic, channel, user) }
  }

  /// The topics that a user is not let into again.
  func unrestoredTopics(_ request: LinkServiceRequest) -> [JSONValue] {
    request.topics.map(\.name).filter(rules.lostTopics.contains).map { .string($0) }
  }

  /// Takes a user back into the topics of the session and out of all others, and lists the topics of the channel.
  mutating func restoreTopics(
    _ request: LinkServiceRequest, _ stream: String, _ address: LinkAddress
  ) {
    let channel = channel(stream, address)
    let restored = request.topics.filter { !rules.lostTopics.contains($0.name) }
    let kept = Set(restored.map(\.name))
    for topic in topics.topics(of: address.user.user, in: channel) where !kept.contains(topic) {
      exit(topic, channel, address.user)
    }
    for (name, meta) in restored { enter(name, meta, channel, address.user) }
    let list = topics.snapshot(of: channel) { presence.isTold($0, in: channel) }
    tellTopics(list, to: address)
  }

  // MARK: Telling

  /// Tells the other members of a channel, unless the user is quiet there.
  private mutating func tell(
    _ word: LinkTopicBoard.Word, _ topic: String, _ meta: String, _ channel: LinkChannel,
    _ user: LinkUser
  ) {
    guard presence.isTold(user.user, in: channel) else { return }
    let change = LinkTopicBoard.change(word, topic, user.user, meta: meta)
    let others = accounts.filter { $0.key.app == user.app && $0.key != user }
    for (_, account) in others.sorted(by: { $0.key < $1.key }) {
      if let line = account.streams[channel.name] { tellTopics(change, to: line.address) }
    }
  }

  private mutating func tellTopics(_ payload: JSONValue, to address: LinkAddress) {
    outputs.append(
      Message(topic: address.down("topics"), payload: payload.utf8, qos: .atLeastOnce))
  }
}
