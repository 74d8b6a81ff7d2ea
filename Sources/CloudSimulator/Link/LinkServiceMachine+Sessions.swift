import RepriseCore

/// How users come and go.
extension LinkServiceMachine {
  static let notLogin = -10_002
  static let loginRejected = -10_012
  static let invalidParameter = -10_014
  static let tokenExpired = 17
  static let sameUIDLogin = 27

  // MARK: Messages of the message service

  mutating func receive(
    _ verb: String, _ request: LinkServiceRequest, _ address: LinkAddress, _ now: Timestamp
  ) {
    if verb == "login" { return login(request, address, now) }
    guard line(of: address) != nil else { return reply(Self.notLogin, to: request, address) }
    switch verb {
    case "logout": logOut(address.user, now)
    case "renew": renew(request, address, now)
    case "subscribe": subscribe(request, address, now)
    case "unsubscribe": unsubscribe(request, address, now)
    case "state": setStates(request, channel(request.text("channel"), address), address, now)
    default: break
    }
  }

  private mutating func login(
    _ request: LinkServiceRequest, _ address: LinkAddress, _ now: Timestamp
  ) {
    guard let interval = request.seconds("heartbeatInterval", in: 5...1_800),
      let timeout = request.seconds("presenceTimeout", in: 5...300)
    else { return reply(Self.invalidParameter, to: request, address) }
    guard let token = accept(request, address), takeOver(request, address, now) else {
      return
    }
    take(
      LinkLine(
        address: address, interval: interval, presenceTimeout: timeout, lastHeard: now,
        tokenEnd: now.advanced(by: token.lifetime)))
    restore(request, address, token, now)
  }

  /// Judges a token; one that is not accepted is answered.
  private mutating func accept(
    _ request: LinkServiceRequest, _ address: LinkAddress
  ) -> LinkServiceRules.Token? {
    let token = rules.tokens[request.text("token") ?? ""] ?? LinkServiceRules.Token()
    guard token.code == 0 else {
      reply(token.code, reason: token.reason, to: request, address)
      return nil
    }
    return token
  }

  /// Lets the session of a greeting be the user's only one; false when the greeting is refused.
  private mutating func takeOver(
    _ request: LinkServiceRequest, _ address: LinkAddress, _ now: Timestamp
  ) -> Bool {
    let user = address.user
    guard let account = accounts[user], account.session != address.session else {
      if accounts[user] == nil { accounts[user] = LinkAccount(session: address.session) }
      return true
    }
    guard !request.flag("again"), address.streamChannel == nil else {
      reply(Self.loginRejected, reason: Self.sameUIDLogin, to: request, address)
      return false
    }
    if let line = account.line { kick(line, reason: Self.sameUIDLogin) }
    for (channel, line) in account.streams.sorted(by: { $0.key < $1.key }) {
      kick(line, reason: Self.sameUIDLogin)
      endStream(channel, of: user, .leave, now)
    }
    // The user stays in message channels until it is clear which the new session has.
    accounts[user] = LinkAccount(session: address.session)
    return true
  }

  /// Takes the user back into the channels of the session, and out of all others.
  private mutating func restore(
    _ request: LinkServiceRequest, _ address: LinkAddress, _ token: LinkServiceRules.Token,
    _ now: Timestamp
  ) {
    var restored: [(channel: LinkChannel, request: LinkServiceRequest)] = []
    var unrestored: [JSONValue] = []
    for wish in request.restored {
      guard let name = wish.text("channel") else { continue }
      if rules.lostChannels.contains(name) {
        unrestored.append(.string(name))
      } else {
        restored.append((channel(name, address), wish))
      }
    }
    reply(0, lifetime: token.lifetime, unrestored: unrestored, to: request, address)
    let kept = Set(restored.map(\.channel))
    for channel in presence.messageChannels(of: address.user) where !kept.contains(channel) {
      presence.exit(address.user.user, channel, .leave, now: now)
    }
    for (channel, wish) in restored { enter(channel, wish, address, now) }
  }

  // MARK: Messages of stream channels

  mutating func receive(
    _ verb: String, _ request: LinkServiceRequest, _ address: LinkAddress, stream: String,
    _ now: Timestamp
  ) {
    if verb == "join" { return join(request, address, stream, now) }
    guard line(of: address) != nil else { return reply(Self.notLogin, to: request, address) }
    switch verb {
    case "leave": endStream(stream, of: address.user, .leave, now)
    case "renew": renew(request, address, now)
    case "state": setStates(request, channel(stream, address), address, now)
    case "joinTopic": joinTopic(request, stream, address)
    case "leaveTopic": leaveTopic(request, stream, address)
    default: break
    }
  }

  private mutating func join(
    _ request: LinkServiceRequest, _ address: LinkAddress, _ stream: String, _ now: Timestamp
  ) {
    guard let timeout = request.seconds("presenceTimeout", in: 5...300) else {
      return reply(Self.invalidParameter, to: request, address)
    }
    if let code = rules.refusedChannels[stream] { return reply(code, to: request, address) }
    guard let token = accept(request, address), takeOver(request, address, now) else {
      return
    }
    take(
      LinkLine(
        address: address, interval: .milliseconds(500), presenceTimeout: timeout,
        lastHeard: now, tokenEnd: now.advanced(by: token.lifetime)))
    reply(
      0, lifetime: token.lifetime, unrestored: unrestoredTopics(request), to: request, address)
    enter(channel(stream, address), request, address, now)
    restoreTopics(request, stream, address)
  }

  // MARK: Requests of both

  private mutating func renew(
    _ request: LinkServiceRequest, _ address: LinkAddress, _ now: Timestamp
  ) {
    guard let token = accept(request, address) else { return }
    changeLine(of: address) { $0.tokenEnd = now.advanced(by: token.lifetime) }
    if let line = line(of: address) { take(line) }
    reply(0, lifetime: token.lifetime, to: request, address)
  }

  // MARK: Ending

  private mutating func logOut(_ user: LinkUser, _ now: Timestamp) {
    endMessages(of: user, .leave, now)
    for channel in (accounts[user]?.streams.keys.sorted() ?? []) {
      endStream(channel, of: user, .leave, now)
    }
    accounts[user] = nil
  }

  /// Throws a user out of everything; the others are told at once.
  mutating func throwOut(_ user: LinkUser, _ reason: Int, _ now: Timestamp) {
    guard let account = accounts[user] else { return }
    if let line = account.line { kick(line, reason: reason) }
    for (_, line) in account.streams.sorted(by: { $0.key < $1.key }) { kick(line, reason: reason) }
    logOut(user, now)
  }

  mutating func kick(_ line: LinkLine, reason: Int) {
    let payload: JSONValue = ["reason": .number("\(reason)")]
    outputs.append(
      Message(topic: line.address.down("kick"), payload: payload.utf8, qos: .atLeastOnce))
  }

  /// Ends the link of the message service, with all message channels.
  mutating func endMessages(of user: LinkUser, _ word: LinkPresenceBoard.Word, _ now: Timestamp) {
    for channel in presence.messageChannels(of: user) {
      presence.exit(user.user, channel, word, now: now)
    }
    accounts[user]?.line = nil
    forgetIfEmpty(user)
  }

  mutating func endStream(
    _ name: String, of user: LinkUser, _ word: LinkPresenceBoard.Word, _ now: Timestamp
  ) {
    let channel = LinkChannel(app: user.app, isStream: true, name: name)
    leaveTopics(of: channel, user)
    presence.exit(user.user, channel, word, now: now)
    accounts[user]?.streams[name] = nil
    forgetIfEmpty(user)
  }

  private mutating func forgetIfEmpty(_ user: LinkUser) {
    if accounts[user]?.isEmpty == true { accounts[user] = nil }
  }
}
