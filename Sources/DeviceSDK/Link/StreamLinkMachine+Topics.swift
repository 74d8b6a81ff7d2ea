import RepriseCore

/// Topics inside of a stream channel: joining them lets a user publish, subscribing to users lets it listen.
///
/// Joining is the server's matter, subscribing the broker's alone.
extension StreamLinkMachine {
  // MARK: Joining

  mutating func joinTopic(
    _ topic: String, _ options: LinkTopicOptions, _ id: CallID
  ) throws(LinkError) {
    try LinkName.checkTopic(topic)
    guard options.meta.utf8.count <= LinkLimits.topicMetaSize else {
      throw LinkError(
        .channelInvalidTopicMeta, "meta has \(LinkLimits.topicMetaSize) bytes at most")
    }
    try checkConnected(.channelNotConnected)
    guard topics.joined[topic] != options else { return complete(id) }
    let underway = topicsUnderway
    guard topics.joined[topic] == nil, underway[topic] == nil else {
      throw LinkError(
        .duplicateOperation, "\(topic) is joined, or being joined; leave it to join it otherwise")
    }
    guard topics.joined.count + underway.count < LinkLimits.topics else {
      throw LinkError(
        .channelExceedTopicLimitation, "\(LinkLimits.topics) topics are the most to be joined")
    }
    wait(id, .joiningTopic(topic, options))
    session.request(
      .joinTopic, [JSONMember("topic", .string(topic)), JSONMember("meta", .string(options.meta))],
      for: id)
  }

  /// The calls that join topics and are not answered, by topic.
  private var topicsUnderway: [String: CallID] {
    calls.reduce(into: [:]) { underway, call in
      if case .joiningTopic(let topic, _) = call.value { underway[topic] = call.key }
    }
  }

  mutating func leaveTopic(_ topic: String, _ id: CallID) throws(LinkError) {
    try LinkName.checkTopic(topic)
    if state == .idle || state == .failed { try checkConnected(.channelNotConnected) }
    let joining = topicsUnderway[topic]
    guard topics.joined.removeValue(forKey: topic) != nil || joining != nil else {
      throw LinkError(.channelTopicNotJoined, "\(topic) is not joined")
    }
    if let joining {
      fail(joining, LinkError(.channelJoinCanceled, "\(topic) was left before it was joined"))
    }
    // A link that is down does not join it again.
    guard state == .connected else { return complete(id) }
    wait(id, .leavingTopic)
    session.request(.leaveTopic, [JSONMember("topic", .string(topic))], for: id)
  }

  /// Tells the server that a topic is not wanted, and does not wait for it.
  mutating func dropTopic(_ topic: String) {
    session.tell(.leaveTopic, [JSONMember("topic", .string(topic))])
  }

  // MARK: Publishing

  mutating func publish(
    _ topic: String, _ payload: [UInt8], _ id: CallID
  ) throws(LinkError) {
    try LinkName.checkTopic(topic)
    try checkConnected(.channelNotConnected)
    guard let options = topics.joined[topic] else {
      throw LinkError(.channelTopicNotJoined, "\(topic) has to be joined to publish in it")
    }
    guard payload.count <= LinkLimits.topicMessageSize else {
      throw LinkError(
        .channelMessageLengthExceedLimitation,
        "a message of a topic has \(LinkLimits.topicMessageSize) bytes at most")
    }
    guard messages.count(time) else {
      throw LinkError(
        .channelPublishMessageTooFrequent,
        "\(LinkLimits.topicMessages) messages of topics a second are the most")
    }
    wait(id, .publishing)
    let message = Message(
      topic: channelTopics.topic(topic, from: configuration.userID), payload: payload,
      qos: options.qos.qos)
    session.perform(.publish(message), for: id)
  }

  // MARK: Subscribing

  mutating func subscribeTopic(
    _ topic: String, _ users: [String], _ id: CallID
  ) throws(LinkError) {
    try check(topic, users)
    try checkConnected(.channelNotConnected)
    let underway = sourcesUnderway
    let former = topics.sources.union(underway)
    let wanted = users.isEmpty ? try publishers(of: topic, beside: former) : Set(users)
    let new = Set(wanted.map { StreamTopics.Source(topic: topic, user: $0) })
    let all = former.union(new)
    guard all.count(where: { $0.topic == topic }) <= LinkLimits.topicUsers else {
      throw LinkError(
        .channelExceedTopicUserLimitation,
        "\(LinkLimits.topicUsers) users of a topic are the most to be subscribed to")
    }
    guard Set(all.map(\.topic)).count <= LinkLimits.subscribedTopics else {
      throw LinkError(
        .channelExceedTopicLimitation,
        "\(LinkLimits.subscribedTopics) topics are the most to be subscribed to")
    }
    let missing = new.subtracting(topics.sources)
    guard !missing.isEmpty else { return complete(id) }
    wait(id, .subscribingTopic(missing))
    session.perform(.subscribe(filters(of: missing.sorted())), for: id)
  }

  /// The users of a topic, for a subscription that names none: as many as there is room for.
  private func publishers(
    of topic: String, beside former: Set<StreamTopics.Source>
  ) throws(LinkError) -> Set<String> {
    let others = topics.publishers(of: topic).subtracting([configuration.userID])
    guard !others.isEmpty else {
      throw LinkError(
        .channelTopicNotExist, "nobody else has joined \(topic); name those whom to listen to")
    }
    let known = Set(former.lazy.filter { $0.topic == topic }.map(\.user))
    let room = max(0, LinkLimits.topicUsers - known.count)
    return Set(others.subtracting(known).sorted().prefix(room)).union(known)
  }

  private func check(_ topic: String, _ users: [String]) throws(LinkError) {
    try LinkName.checkTopic(topic)
    for user in users { try LinkName.check(user, .channelInvalidUserList, "a user's name") }
  }

  func filters(of sources: [StreamTopics.Source]) -> [Subscription] {
    sources.map { Subscription(channelTopics.topic($0.topic, from: $0.user)) }
  }

  /// What calls subscribe to that are not answered.
  private var sourcesUnderway: Set<StreamTopics.Source> {
    calls.values.reduce(into: []) { underway, call in
      if case .subscribingTopic(let sources) = call { underway.formUnion(sources) }
    }
  }

  mutating func noteGranted(
    _ sources: Set<StreamTopics.Source>, _ granted: [QoS?], _ id: CallID
  ) {
    guard granted.count == sources.count, !granted.contains(nil) else {
      fail(
        id, LinkError(.subscribePermissionDenied, "the broker does not grant all of the users"),
        isAnswered: true)
      return release(sources)
    }
    topics.subscribe(sources)
    complete(id)
  }

  mutating func unsubscribeTopic(
    _ topic: String, _ users: [String], _ id: CallID
  ) throws(LinkError) {
    try check(topic, users)
    if state == .idle || state == .failed { try checkConnected(.channelNotConnected) }
    let isMeant = { (source: StreamTopics.Source) in
      source.topic == topic && (users.isEmpty || users.contains(source.user))
    }
    var dropped = topics.sources.filter(isMeant)
    for (other, call) in openCalls {
      guard case .subscribingTopic(let sources) = call, sources.contains(where: isMeant) else {
        continue
      }
      dropped.formUnion(sources.subtracting(topics.sources))
      fail(other, LinkError(.channelSubscribeCanceled, "\(topic) was unsubscribed from"))
    }
    guard !dropped.isEmpty else {
      throw LinkError(.channelTopicNotSubscribed, "\(topic) is not subscribed to")
    }
    topics.unsubscribe(dropped)
    let unwanted = dropped.subtracting(sourcesUnderway).sorted()
    guard state == .connected, !unwanted.isEmpty else { return complete(id) }
    wait(id, .unsubscribingTopic)
    session.perform(.unsubscribe(filters(of: unwanted).map(\.filter)), for: id)
  }

  /// Has the broker drop users that nobody wants to hear, and does not wait for it.
  mutating func release(_ sources: Set<StreamTopics.Source>) {
    let unwanted = sources.subtracting(topics.sources).subtracting(sourcesUnderway).sorted()
    guard state == .connected, !unwanted.isEmpty else { return }
    session.perform(.unsubscribe(filters(of: unwanted).map(\.filter)))
  }

  // MARK: What comes

  mutating func noteTopicMessage(_ message: Message) {
    guard let place = LinkChannelTopics.parseTopic(message.topic),
      topics.sources.contains(.init(topic: place.topic, user: place.user)),
      message.topic == channelTopics.topic(place.topic, from: place.user)
    else { return }
    tell(
      .deliver(
        LinkMessage(
          channel: channel, topic: place.topic, publisher: place.user, payload: message.payload,
          time: time)))
  }

  mutating func noteTopicEvent(_ payload: [UInt8]) {
    guard let event = LinkTopicEvent(parsing: payload, channel, time: time) else { return }
    topics.note(event)
    if let other = event.without(configuration.userID) { tell(.tellTopics(other)) }
  }

  // MARK: Restoring

  /// What the greeting says of the topics that the session had: nothing if there are none.
  var restoredTopics: [JSONMember] {
    guard !topics.joined.isEmpty else { return [] }
    let values = topics.joined.sorted { $0.key < $1.key }.map { topic, options -> JSONValue in
      ["topic": .string(topic), "meta": .string(options.meta)]
    }
    return [JSONMember("topics", .array(values))]
  }

  /// Takes out of the session what did not come back.
  mutating func dropUnrestored(_ names: [String]) -> [UnrestoredChannel] {
    let lost = topics.drop(names, refusedSources)
    guard !lost.isEmpty else { return [] }
    return [UnrestoredChannel(channel: channel, type: .stream, states: [:], topics: lost)]
  }

  /// Leaves what was not wanted any more while the greeting was on its way.
  mutating func leaveDropped(but unrestored: [String]) {
    let left = greetedTopics.subtracting(topics.joined.keys).subtracting(unrestored)
    for topic in left.sorted() { dropTopic(topic) }
    release(Set(restoring).subtracting(refusedSources))
    (restoring, refusedSources, greetedTopics) = ([], [], [])
  }
}
