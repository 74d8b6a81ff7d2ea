import RepriseCore

/// What a server answers to a request of a link.
struct LinkReply: Sendable, Hashable {
  let id: UInt64
  let code: LinkErrorCode
  let reason: LinkReason
  let message: String
  /// The channels, or topics of a stream channel, that the server did not take the user back into.
  let unrestored: [String]
  /// How long the token is still valid.
  let expiresIn: Duration?

  /// Reads a reply; nil when it is none.
  init?(parsing payload: [UInt8]) {
    guard let object = JSONValue(parsing: payload),
      let id = object["id"]?.identifier.flatMap({ UInt64($0) }),
      let code = object["code"]?.lenientInteger
    else { return nil }
    self.id = id
    self.code = LinkErrorCode(rawValue: code)
    reason =
      object["reason"]?.lenientInteger.flatMap { LinkReason(rawValue: $0) }
      ?? .rejection(self.code)
    message = object["message"]?.text ?? ""
    unrestored = object["unrestored"]?.elements?.compactMap(\.text) ?? []
    expiresIn = object["expiresIn"]?.lenientInteger.map { .seconds($0) }
  }

  var isSuccess: Bool { code.rawValue == 0 }
}

/// Why a server, or a broker, does not want a link.
struct LinkRejection: Sendable, Hashable {
  let code: LinkErrorCode
  let reason: LinkReason
  let message: String

  init(_ reply: LinkReply) {
    code = reply.code
    reason = reply.reason
    message = reply.message
  }

  init(_ code: LinkErrorCode, _ message: String, reason: LinkReason? = nil) {
    self.code = code
    self.reason = reason ?? .rejection(code)
    self.message = message
  }

  /// What a code of CONNACK says, of MQTT 3.1.1 or 5.0; nil when the next try may say something else.
  init?(connectCode code: UInt8) {
    let reason = ClientEvent.Closed.refused(code: code)
    guard !reason.mayPass else { return nil }
    let error: LinkErrorCode =
      switch code {
      case 1, 0x84: .serviceNotSupported
      case 2, 0x85: .invalidUserID
      case 4, 0x86: .invalidToken
      case 5, 0x87: .loginNotAuthorized
      default: .loginRejected
      }
    self.init(error, "\(reason)")
  }

  /// Reads why the server throws the user out.
  init(kick payload: [UInt8]) {
    let object = JSONValue(parsing: payload)
    reason =
      object?["reason"]?.lenientInteger.flatMap { LinkReason(rawValue: $0) } ?? .kickedOutByServer
    code = reason.kickCode
    message = object?["message"]?.text ?? ""
  }
}

extension LinkPresenceEvent {
  /// Reads what a server says of a channel's users.
  init(parsing payload: [UInt8], _ channel: String, _ type: LinkChannelType, time: Timestamp) {
    let object = JSONValue(parsing: payload)
    let user = object?["user"]?.text.map { User($0, states: object?["states"]?.strings ?? [:]) }
    let kind: Kind =
      switch (object?["event"]?.text, user) {
      case ("join", .some): .remoteJoinChannel
      case ("leave", .some): .remoteLeaveChannel
      case ("timeout", .some): .remoteConnectionTimeout
      case ("state", .some): .remoteStateChanged
      case ("interval", _): .interval
      default: .errorOutOfService
      }
    guard kind == .interval, let object else {
      self.init(kind, channel, type, user: user, time: time)
      return
    }
    self.init(kind, channel, type, interval: Interval(object), time: time)
  }

  /// Reads the list of a channel's users; nil when it is none, or of another kind of channel.
  init?(snapshot payload: [UInt8], _ type: LinkChannelType, time: Timestamp) {
    guard let object = JSONValue(parsing: payload), let channel = object["channel"]?.text,
      object["type"]?.lenientInteger == type.rawValue, let users = object["users"]
    else { return nil }
    self.init(.snapshot, channel, type, snapshot: users.users, time: time)
  }
}

extension LinkPresenceEvent.Interval {
  fileprivate init(_ object: JSONValue) {
    joined = object["join"]?.elements?.compactMap(\.text) ?? []
    left = object["leave"]?.elements?.compactMap(\.text) ?? []
    timedOut = object["timeout"]?.elements?.compactMap(\.text) ?? []
    states = object["states"]?.users ?? []
  }
}

extension JSONValue {
  fileprivate var users: [LinkPresenceEvent.User] {
    (elements ?? []).compactMap { value in
      value["user"]?.text.map { .init($0, states: value["states"]?.strings ?? [:]) }
    }
  }

  /// The members of an object that are strings.
  fileprivate var strings: [String: String] {
    guard case .object(let members) = self else { return [:] }
    return members.reduce(into: [:]) { if let text = $1.value.text { $0[$1.key] = text } }
  }

  /// An object of strings, in the order of their keys.
  static func strings(_ strings: [String: String]) -> JSONValue {
    .object(strings.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) })
  }
}
