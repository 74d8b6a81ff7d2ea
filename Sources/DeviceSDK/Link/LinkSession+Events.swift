import RepriseCore

/// What the client tells, and what it means for the session.
extension LinkSession {
  /// Takes in one event.
  /// - Returns: What happened by it, if it concerns the service's machine.
  mutating func receive(_ event: ClientEvent, now: Timestamp) -> Happening? {
    switch event {
    case .message(let message): return receive(message, now)
    case .deadline: return expire(now)
    case .published(let action), .unsubscribed(let action): return noteDone(action, [])
    case .subscribed(let action, let granted): return noteGranted(action, granted, now)
    case .failed(let action, let failure):
      return noteRefusal(of: action, DataClientError(.rejected, "\(failure)"))
    case .connected: return noteConnected()
    case .closed(let reason): return noteClosed(reason)
    case .ended:
      phase = .ended
      forgetAll()
      return .ended
    case .text, .binary, .response, .woken: return nil
    }
  }

  mutating func forgetAll() {
    purposes.purposes = [:]
    requests = [:]
  }

  // MARK: Messages

  private mutating func receive(_ message: Message, _ now: Timestamp) -> Happening? {
    switch phase {
    case .open:
      if message.topic == topics.pong {
        if let number = LinkHeartbeat.number(in: message.payload) { heartbeat?.answer(number) }
        return nil
      }
      guard message.topic == topics.reply else { return receiveUnasked(message, now) }
      guard let reply = LinkReply(parsing: message.payload),
        let call = requests.removeValue(forKey: reply.id)
      else { return nil }
      return .replied(call, reply)
    case .greeting(_, let request, _):
      guard message.topic == topics.reply, let reply = LinkReply(parsing: message.payload),
        reply.id == request
      else { return receiveUnasked(message, now) }
      return noteGreeted(reply, now)
    case .none, .connecting, .subscribing, .closing, .ended: return nil
    }
  }

  private mutating func receiveUnasked(_ message: Message, _ now: Timestamp) -> Happening? {
    switch message.topic {
    case topics.kick:
      close(now: now)
      return .kicked(LinkRejection(kick: message.payload))
    case topics.snapshot: return .snapshot(message.payload)
    case topics.topics: return .topics(message.payload)
    default: return .arrived(message)
    }
  }

  private mutating func noteGreeted(_ reply: LinkReply, _ now: Timestamp) -> Happening {
    guard reply.isSuccess else {
      close(now: now)
      return .rejected(LinkRejection(reply))
    }
    phase = .open
    heartbeat = LinkHeartbeat(every: interval, since: now)
    return .opened(reply)
  }

  // MARK: The connection

  private mutating func noteConnected() -> Happening? {
    guard case .connecting(_, let until) = phase else { return nil }
    let own = Subscription(topics.downFilter)
    phase = .subscribing(perform(.subscribe([own] + filters)), until: until)
    return nil
  }

  private mutating func noteGranted(
    _ action: ClientAction.ID, _ granted: [QoS?], _ now: Timestamp
  ) -> Happening? {
    guard case .subscribing(action, let until) = phase else { return noteDone(action, granted) }
    guard let own = granted.first, own != nil else {
      close(now: now)
      return .rejected(
        LinkRejection(.loginNotAuthorized, "the broker does not grant \(topics.downFilter)"))
    }
    phase = .greeting(nil, request: 0, until: until)
    return .ready(Array(granted.dropFirst()))
  }

  private mutating func noteClosed(_ reason: ClientEvent.Closed) -> Happening? {
    defer { forgetAll() }
    switch phase {
    case .none, .ended: return nil
    case .connecting:
      phase = .none
      if case .refused(let code) = reason, let rejection = LinkRejection(connectCode: code) {
        return .rejected(rejection)
      }
      return .failed(Self.text(reason))
    case .subscribing, .greeting:
      phase = .none
      return .failed(Self.text(reason))
    case .open:
      phase = .none
      return .lost(Self.text(reason))
    case .closing(let closing): return finish(closing)
    }
  }

  private mutating func finish(_ closing: Closing) -> Happening? {
    phase = .none
    guard let until = closing.reopensUntil else { return .closed }
    connect(until: until)
    return nil
  }

  private static func text(_ reason: ClientEvent.Closed) -> String {
    switch reason {
    case .byUser: "the connection was closed"
    case .refused(let code): "the broker refuses the connection with code \(code)"
    case .byServer(_, let text), .lost(let text), .unreached(let text, _): text
    }
  }

  // MARK: Answers of the client

  private mutating func noteDone(_ action: ClientAction.ID, _ granted: [QoS?]) -> Happening? {
    guard case .call(let call) = purposes.close(action) else { return nil }
    return .done(call, granted)
  }

  /// An action was not handed over.
  mutating func refuse(
    _ action: ClientAction.ID, _ error: DataClientError, now: Timestamp
  ) -> Happening? {
    switch phase {
    case .connecting(action, _):
      phase = .none
      guard error.code == .unsupported else { return .failed(error.message) }
      return .rejected(LinkRejection(.initServiceFailed, error.message))
    case .subscribing(action, _), .greeting(action?, _, _):
      close(now: now)
      return .failed(error.message)
    case .closing(let closing):
      // There is nothing to close any more.
      return closing.action == action ? finish(closing) : nil
    case .none, .connecting, .subscribing, .greeting, .open, .ended:
      return noteRefusal(of: action, error)
    }
  }

  private mutating func noteRefusal(
    of action: ClientAction.ID, _ error: DataClientError
  ) -> Happening? {
    switch purposes.close(action) {
    case .call(let call): return .refused(call, error)
    case .request(let request):
      return requests.removeValue(forKey: request).map { .refused($0, error) }
    case nil: return nil
    }
  }

  // MARK: Time

  private mutating func expire(_ now: Timestamp) -> Happening? {
    switch phase {
    case .none, .ended: return nil
    case .open: return beat(now)
    case .connecting(_, let until), .subscribing(_, let until), .greeting(_, _, let until):
      guard until <= now else { return nil }
      close(now: now)
      return .failed("the link did not open in time")
    case .closing(var closing): return expire(&closing, now)
    }
  }

  private mutating func beat(_ now: Timestamp) -> Happening? {
    switch heartbeat?.pass(now) {
    case .ping(let number):
      perform(.publish(Message(topic: topics.ping, payload: Array(String(number).utf8))))
      return nil
    case .silence:
      close(now: now)
      return .silenced
    case .rest, nil: return nil
    }
  }

  private mutating func expire(_ closing: inout Closing, _ now: Timestamp) -> Happening? {
    let isOver = closing.until.map { $0 <= now } ?? false
    let isTooLate = closing.reopensUntil.map { $0 <= now } ?? false
    if isOver { closing.until = nil }
    if isTooLate { closing.reopensUntil = nil }
    phase = .closing(closing)
    if isTooLate { return .failed("the former connection does not end") }
    return isOver && closing.reopensUntil == nil ? .closed : nil
  }
}
