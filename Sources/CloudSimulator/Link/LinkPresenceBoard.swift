import RepriseCore

/// Which users are in which channel, and how channels are told of it.
struct LinkPresenceBoard: Sendable {
  /// A user in a channel.
  struct Member: Sendable, Hashable {
    /// Whether nobody is told of the user.
    var isQuiet: Bool
    var states: [String: String]
  }

  /// What happened to a user.
  enum Word: String, Sendable {
    case join, leave, timeout, state
  }

  /// What happened in a channel with many users since it was told the last time.
  fileprivate struct Interval {
    let end: Timestamp
    var words: [Word: [String]] = [:]
    var states: [String: [String: String]] = [:]
  }

  private var channels: [LinkChannel: [String: Member]] = [:]
  private var intervals: [LinkChannel: Interval] = [:]
  private var messages: [Message] = []
  /// How it behaves from now on; an interval that has begun keeps its end.
  var rules: LinkServiceRules

  init(_ rules: LinkServiceRules) { self.rules = rules }

  /// When a channel is to be told something.
  var deadline: Timestamp? { intervals.values.map(\.end).min() }

  func member(_ user: String, of channel: LinkChannel) -> Member? { channels[channel]?[user] }

  /// Whether others are told of a user who is in a channel.
  func isTold(_ user: String, in channel: LinkChannel) -> Bool {
    member(user, of: channel)?.isQuiet == false
  }

  /// The message channels of an app that a user is in.
  func messageChannels(of user: LinkUser) -> [LinkChannel] {
    channels.filter { $0.key.app == user.app && !$0.key.isStream && $0.value[user.user] != nil }
      .map(\.key).sorted()
  }

  /// The users of a channel that others are told of, in order.
  func users(of channel: LinkChannel) -> [(user: String, states: [String: String])] {
    (channels[channel] ?? [:]).filter { !$0.value.isQuiet }.sorted { $0.key < $1.key }
      .map { ($0.key, $0.value.states) }
  }

  // MARK: Coming and going

  /// Takes a user in, or finds the user there.
  mutating func enter(_ user: String, _ channel: LinkChannel, _ member: Member, now: Timestamp) {
    let known = channels[channel]?.updateValue(member, forKey: user)
    if known == nil {
      channels[channel, default: [:]][user] = member
      tell(.join, user, channel, member.isQuiet, now)
    }
    guard member.states != known?.states ?? [:] else { return }
    tell(.state, user, channel, member.isQuiet, now, member.states)
  }

  /// Takes a user out, whose temporary states are gone.
  mutating func exit(_ user: String, _ channel: LinkChannel, _ word: Word, now: Timestamp) {
    guard let member = channels[channel]?.removeValue(forKey: user) else { return }
    if channels[channel]?.isEmpty == true { channels[channel] = nil }
    tell(word, user, channel, member.isQuiet, now)
  }

  // MARK: Telling

  private mutating func tell(
    _ word: Word, _ user: String, _ channel: LinkChannel, _ isQuiet: Bool, _ now: Timestamp,
    _ states: [String: String] = [:]
  ) {
    guard !isQuiet else { return }
    guard channels[channel]?.count ?? 0 > rules.announceLimit || intervals[channel] != nil else {
      return send(
        [
          JSONMember("event", .string(word.rawValue)), JSONMember("user", .string(user)),
          JSONMember("states", .strings(states)),
        ], to: channel)
    }
    var interval = intervals[channel] ?? Interval(end: now.advanced(by: rules.interval))
    if word == .state {
      interval.states[user] = states
    } else {
      interval.words[word, default: []].append(user)
    }
    intervals[channel] = interval
  }

  private mutating func send(_ members: [JSONMember], to channel: LinkChannel) {
    let payload = JSONValue.object(members).utf8
    messages.append(Message(topic: channel.presenceTopic, payload: payload, qos: .atLeastOnce))
  }

  /// Takes what channels are to be told by now.
  mutating func take(_ now: Timestamp) -> [Message] {
    for channel in intervals.keys.sorted() {
      guard let interval = intervals[channel], interval.end <= now else { continue }
      intervals[channel] = nil
      send(interval.members, to: channel)
    }
    defer { messages = [] }
    return messages
  }
}

extension LinkPresenceBoard.Interval {
  fileprivate var members: [JSONMember] {
    let names = [LinkPresenceBoard.Word.join, .leave, .timeout].map { word in
      JSONMember(word.rawValue, .array((words[word] ?? []).map { .string($0) }))
    }
    let changes = states.sorted { $0.key < $1.key }.map { user, states -> JSONValue in
      ["user": .string(user), "states": .strings(states)]
    }
    return [JSONMember("event", "interval")] + names + [JSONMember("states", .array(changes))]
  }
}
