package import DeviceSDK
package import RepriseCore

/// What is known of a recorded link before anything is played: whose it is, and how it has to behave.
struct RecordedLink: Sendable {
  let configuration: LinkConfiguration
  /// The stream channel that the link is of; nil for the message service.
  let streamChannel: String?
  let notes: [String]
  let session: RecordedLinkSession

  init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    let session = RecordedLinkSession(dialogue)
    guard case .connect(let options)? = session.actions.first else {
      throw DataClientError(.unreadable, "the session of a link has to begin with its CONNECT")
    }
    guard let name = RecordedLinkName(options.clientID) else {
      throw DataClientError(
        .unreadable, "\(options.clientID) is no client identifier of a link; see LinkTopics")
    }
    var configuration = LinkConfiguration(
      appID: name.app, userID: name.user, sessionID: name.session)
    configuration.leavesWill = options.will != nil
    configuration.restoresAfterFailure = session.restoresAfterFailure
    let greeting = session.greeting(after: -1)
    configuration.presenceTimeout = Self.seconds("presenceTimeout", greeting, or: 300)
    configuration.heartbeatInterval = Self.seconds("heartbeatInterval", greeting, or: 5)
    self.configuration = configuration
    self.session = session
    streamChannel = name.streamChannel
    notes =
      greeting == nil
      ? ["the link never says who it is, so its heartbeats are taken to come every 5 s"] : []
  }

  private static func seconds(_ key: String, _ greeting: JSONValue?, or other: Int) -> Duration {
    .seconds(greeting?[key]?.lenientInteger ?? other)
  }

  /// Whose session it is, for people.
  var subject: String {
    let channel = streamChannel.map { ", stream channel \($0)" } ?? ""
    return "user \(configuration.userID) of app \(configuration.appID)\(channel)"
  }
}

/// A plan of a link: what a link sends by itself (heartbeats, greetings, new tries) is its work again in a replay.
package protocol LinkPlan: ReplayPlan
where Machine.Effect == LinkEffect, Machine.Value == Void, Ending == LinkState {}

extension LinkPlan {
  /// A link that is not used.
  package static var start: LinkState { .idle }

  /// Notes the state.
  package static func note(_ effect: LinkEffect, in ending: inout LinkState) {
    if case .changeState(let event) = effect { ending = event.current }
  }

  /// Returns why no call brings an action about.
  package func reason(against action: ClientAction.Kind?) -> String {
    guard case .publish(let message)? = action, message.topic.hasSuffix("/up/ping") else {
      return "the link has no call for it"
    }
    return "no heartbeat is due then; a link that was recorded in another time than its own differs"
  }
}

extension JSONValue {
  /// A message that is published: an object of JSON as that, anything else as text.
  static func shown(_ payload: [UInt8]) -> JSONValue {
    if let value = JSONValue(parsing: payload), case .object = value { return value }
    let text = String(validating: payload, as: UTF8.self)
    return .string(text ?? "\(payload.count) bytes, no text")
  }
}

extension ReplayedCall.Words {
  /// A call with changes of states: as JSON, in which null takes one away.
  init(_ name: String, _ channel: String?, states: [String: String?]) {
    let members = states.sorted { $0.key < $1.key }.map { key, value in
      JSONMember(key, value.map(JSONValue.string) ?? .null)
    }
    self.init(name, channel, .object(members))
  }
}
