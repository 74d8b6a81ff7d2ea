/// The topics of one link: how sessions, heartbeats, presence and states lie on MQTT.
///
/// The vendor's own protocol is private, so this is ours. A link is one MQTT 3.1.1 session with a
/// broker, on which a *server* is subscribed to what links send. The message service has one link for
/// each user, every joined stream channel one more.
///
/// ## Names
///
/// | what | topic |
/// |---|---|
/// | a link of the message service | `link/{app}/message/{user}/{session}` |
/// | a link of a stream channel | `link/{app}/stream/{user}/{session}/{channel}` |
/// | what it sends, what it gets | `…/up/{verb}`, `…/down/{verb}` |
/// | a channel | `link/{app}/channel/{message or stream}/{channel}` |
/// | who comes and goes there | `…/presence` |
/// | what is published there | `…/message/{user}` |
/// | what is published in a topic of a stream channel | `…/topic/{topic}/{user}` |
///
/// In `{…}`, `%`, `+`, `#`, `/` and U+0000 are written `%25`, `%2B`, `%23`, `%2F` and `%00`. The
/// session is the life of one SDK object: it is kept when the link connects again, and tells two
/// devices of one user apart. The MQTT client identifier is the link's topic, so that a new connection
/// takes the place of its own predecessor and of nobody else.
///
/// ## Opening
///
/// CONNECT with a clean session, the user as user name, and a will on `up/lost`, which ends the
/// connection in the server's count but is no reason for it to tell anybody. Then one SUBSCRIBE to
/// `down/+` and to the topics of all channels that the session had. Then the greeting: `up/login`, or
/// `up/join` for a stream channel. The link is connected when its reply has code 0.
///
///     up/login  {"id":"1","token":"…","heartbeatInterval":5,"presenceTimeout":300,"again":true,
///                "restore":[{"channel":"a","features":5,"states":{"k":"v"}}]}
///     up/join   {"id":"1","token":"…","presenceTimeout":300,"again":false,"features":1,"states":{},
///                "topics":[{"topic":"chat","meta":"m"}]}
///     down/reply {"id":"1","code":0,"unrestored":["a"],"expiresIn":86400}
///     down/reply {"id":"1","code":-10009,"reason":17,"message":"the token has expired"}
///
/// `again` says that the link was connected before in this session: the server refuses it with reason
/// 27 if the user has logged in with another session since. A reply without a `reason` has that of its
/// code. Codes of CONNACK say no as well: 1 −10022, 2 −10006, 4 −10005, 5 −10015; 3 is a lost try.
/// `up/join` has `topics` only if the session had joined any, and then `unrestored` of its reply names those of them that
/// the server did not let the user join again.
///
/// ## Living
///
/// | verb | QoS | payload | answer |
/// |---|---|---|---|
/// | `up/ping` | 0 | the number of the heartbeat in digits | `down/pong`, the same |
/// | `up/renew` | 1 | `{"id","token"}` | `down/reply`, with `expiresIn` |
/// | `up/subscribe` | 1 | `{"id","channel","features","states"}` | `down/reply`, then `down/snapshot` |
/// | `up/unsubscribe` | 1 | `{"id","channel"}` | `down/reply` |
/// | `up/state` | 1 | `{"id","channel","states"}`, all states there are | `down/reply` |
/// | `up/joinTopic` | 1 | `{"id","topic","meta"}` | `down/reply` |
/// | `up/leaveTopic` | 1 | `{"id","topic"}` | `down/reply` |
/// | `up/logout`, `up/leave` | 1 | `{}` | none; DISCONNECT follows at once |
///
/// A channel is subscribed to in two steps: the broker grants the topics that its features need, then
/// the server takes the user in. Messages go straight through the broker. Unasked, the server sends
/// `down/snapshot` (`{"channel","type","users":[{"user","states"}]}`) and `down/kick`
/// (`{"reason":27,"message"}`), which ends the link for good. In a channel it tells
/// `{"event":"join","user":"b","states":{}}`, with `join`, `leave`, `timeout` or `state`; or
/// `{"event":"interval","join":[…],"leave":[…],"timeout":[…],"states":[{"user","states"}]}` if there
/// are many.
///
/// ## Topics of stream channels
///
/// Joining a topic is the server's matter: it tells the members of the channel. Listening is the broker's alone: one filter
/// for each user of a topic whose messages are wanted, also for users who have not joined it yet. Messages go straight
/// through the broker, at QoS 0 if the topic was joined unordered, at QoS 1 if ordered.
///
/// On `down/topics` each member is told `{"event":"snapshot","topics":[{"topic":"chat","publishers":[{"user":"b",
/// "meta":"m"}]}]}` behind the reply to its greeting, and then `join` or `leave` in the same form, with the topic and
/// the one user. This goes to the links and not to the channel, so that snapshot and changes have one order, and a channel
/// whose apps use no topics needs no filter more. A user who is quiet in the channel is quiet in its topics.
///
/// ## Silence
///
/// The server measures silence from the last heartbeat or greeting. It does not answer heartbeats of
/// sessions that it does not know, which makes them greet again.
///
/// Locks, storage and history are no part of this.
package struct LinkTopics: Sendable, Hashable {
  /// The topic of the link itself, which is also its MQTT client identifier.
  package let base: String
  /// The filter of all that the server sends to this link.
  package let downFilter: String
  let ping: String
  let pong: String
  let reply: String
  let kick: String
  let snapshot: String
  let topics: String
  let lost: String

  /// Creates the topics of a link of the message service.
  /// - Parameter configuration: Whose link it is.
  package init(message configuration: LinkConfiguration) {
    self.init(base: Self.link("message", configuration))
  }

  /// Creates the topics of a link of a stream channel.
  /// - Parameters:
  ///   - channel: The channel.
  ///   - configuration: Whose link it is.
  package init(stream channel: String, _ configuration: LinkConfiguration) {
    self.init(base: Self.link("stream", configuration) + "/" + Self.encode(channel))
  }

  private init(base: String) {
    self.base = base
    downFilter = base + "/down/+"
    ping = base + "/up/ping"
    pong = base + "/down/pong"
    reply = base + "/down/reply"
    kick = base + "/down/kick"
    snapshot = base + "/down/snapshot"
    topics = base + "/down/topics"
    lost = base + "/up/lost"
  }

  private static func link(_ service: String, _ configuration: LinkConfiguration) -> String {
    let parts = [configuration.appID, service, configuration.userID, configuration.sessionID]
    return "link/" + parts.map(encode).joined(separator: "/")
  }

  func up(_ verb: LinkVerb) -> String { "\(base)/up/\(verb.rawValue)" }

  // MARK: Parts

  private static let special = Set("%+#/\0".utf8)

  /// Writes a name so that it is one level of a topic.
  static func encode(_ name: String) -> String {
    guard name.utf8.contains(where: special.contains) else { return name }
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      guard special.contains(byte) else {
        bytes.append(byte)
        continue
      }
      let digits = Array("0123456789ABCDEF".utf8)
      bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads a name from a level of a topic; nil when it was not written by ``encode(_:)``.
  package static func decode(_ level: Substring) -> String? {
    guard level.utf8.contains(UInt8(ascii: "%")) else { return String(level) }
    var bytes: [UInt8] = []
    var rest = level.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// What links ask servers for.
package enum LinkVerb: String, Sendable {
  /// To let a user in, and to let it go.
  case login, logout
  /// To let a user into a stream channel, and to let it go.
  case join, leave
  /// To take another token.
  case renew
  /// To deliver what is said in a channel, and to stop that.
  case subscribe, unsubscribe
  /// To tell temporary states.
  case state
  /// To let a user publish in a topic of a stream channel, and to stop that.
  case joinTopic, leaveTopic
}

/// The topics of one channel.
package struct LinkChannelTopics: Sendable, Hashable {
  /// What a topic of a channel is for.
  package enum Use: Sendable, Hashable {
    /// The users who are there, with temporary states.
    case presence
    /// A message of a user.
    case message(from: String)
  }

  let base: String

  init(_ type: LinkChannelType, _ channel: String, appID: String) {
    base = "link/\(LinkTopics.encode(appID))/channel/\(type)/\(LinkTopics.encode(channel))"
  }

  var presence: String { base + "/presence" }
  var messages: String { base + "/message/+" }

  func message(from user: String) -> String { "\(base)/message/\(LinkTopics.encode(user))" }

  /// Where a user publishes in a topic of a stream channel.
  func topic(_ topic: String, from user: String) -> String {
    "\(base)/topic/\(LinkTopics.encode(topic))/\(LinkTopics.encode(user))"
  }

  /// Tells in which topic of a stream channel, and by whom, something was published; nil when it was in none.
  package static func parseTopic(
    _ topic: String
  ) -> (channel: String, topic: String, user: String)? {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count == 8, levels[2] == "channel", levels[3] == "stream", levels[5] == "topic",
      let channel = LinkTopics.decode(levels[4]), let name = LinkTopics.decode(levels[6]),
      let user = LinkTopics.decode(levels[7])
    else { return nil }
    return (channel, name, user)
  }

  /// Tells what a received topic is; nil when it is of no channel.
  package static func parse(_ topic: String) -> (channel: String, use: Use)? {
    let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count >= 6, levels[2] == "channel", let channel = LinkTopics.decode(levels[4])
    else { return nil }
    if levels.count == 6, levels[5] == "presence" { return (channel, .presence) }
    guard levels.count == 7, levels[5] == "message", let user = LinkTopics.decode(levels[6])
    else { return nil }
    return (channel, .message(from: user))
  }
}
