import RepriseCore

/// How users come into channels, and what they say of themselves there.
extension LinkServiceMachine {
  private static let presenceBit = 1
  private static let quietBit = 16
  private static let streamQuietBit = 8

  /// A channel of the kind that a link is for.
  func channel(_ name: String?, _ address: LinkAddress) -> LinkChannel {
    LinkChannel(
      app: address.user.app, isStream: address.streamChannel != nil, name: name ?? "")
  }

  /// Takes a user in, and lists the users if the user wants to know them.
  mutating func enter(
    _ channel: LinkChannel, _ request: LinkServiceRequest, _ address: LinkAddress,
    _ now: Timestamp
  ) {
    let features = request.integer("features") ?? 0
    let quietBit = channel.isStream ? Self.streamQuietBit : Self.quietBit
    let member = LinkPresenceBoard.Member(
      isQuiet: features & quietBit != 0, states: request.states)
    presence.enter(address.user.user, channel, member, now: now)
    flush(now)
    if features & Self.presenceBit != 0 { list(channel, to: address) }
  }

  private mutating func list(_ channel: LinkChannel, to address: LinkAddress) {
    let users = presence.users(of: channel).map { user, states -> JSONValue in
      ["user": .string(user), "states": .strings(states)]
    }
    let payload: JSONValue = [
      "channel": .string(channel.name), "type": channel.isStream ? 2 : 1, "users": .array(users),
    ]
    outputs.append(
      Message(topic: address.down("snapshot"), payload: payload.utf8, qos: .atLeastOnce))
  }

  mutating func subscribe(
    _ request: LinkServiceRequest, _ address: LinkAddress, _ now: Timestamp
  ) {
    guard let name = request.text("channel"), !name.isEmpty else {
      return reply(Self.invalidParameter, to: request, address)
    }
    if let code = rules.refusedChannels[name] { return reply(code, to: request, address) }
    reply(0, to: request, address)
    enter(channel(name, address), request, address, now)
  }

  mutating func unsubscribe(
    _ request: LinkServiceRequest, _ address: LinkAddress, _ now: Timestamp
  ) {
    presence.exit(
      address.user.user, channel(request.text("channel"), address), .leave, now: now)
    reply(0, to: request, address)
  }

  mutating func setStates(
    _ request: LinkServiceRequest, _ channel: LinkChannel, _ address: LinkAddress,
    _ now: Timestamp
  ) {
    guard var member = presence.member(address.user.user, of: channel) else {
      return reply(Self.notInChannel, to: request, address)
    }
    member.states = request.states
    reply(0, to: request, address)
    presence.enter(address.user.user, channel, member, now: now)
  }

  private static let notInChannel = -11_002

  // MARK: Answering

  mutating func reply(
    _ code: Int, reason: Int? = nil, lifetime: Duration? = nil, unrestored: [JSONValue] = [],
    to request: LinkServiceRequest, _ address: LinkAddress
  ) {
    // A link that gives no number does not wait for an answer.
    guard let id = request.id else { return }
    var members = [JSONMember("id", id), JSONMember("code", .number("\(code)"))]
    if let reason { members.append(JSONMember("reason", .number("\(reason)"))) }
    if let lifetime {
      members.append(JSONMember("expiresIn", .number("\(lifetime.components.seconds)")))
    }
    if !unrestored.isEmpty { members.append(JSONMember("unrestored", .array(unrestored))) }
    let payload = JSONValue.object(members).utf8
    outputs.append(Message(topic: address.down("reply"), payload: payload, qos: .atLeastOnce))
  }
}
