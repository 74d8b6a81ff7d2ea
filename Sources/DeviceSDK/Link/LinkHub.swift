/// Tells the application's listeners what the machines tell.
final class LinkHub: Sendable {
  let states = Broadcast<LinkStateEvent>()
  let presence = Broadcast<LinkPresenceEvent>()
  let messages = Broadcast<LinkMessage>()
  let tokens = Broadcast<LinkTokenEvent>()
  let topics = Broadcast<LinkTopicEvent>()
  let delegates = WeakListeners<any LinkDelegate>()

  let log: SystemLog
  let calls: ListenerCalls

  init(log: SystemLog = .none) {
    self.log = log
    calls = ListenerCalls(log: log)
  }

  func take(_ effect: LinkEffect) {
    switch effect {
    case .changeState(let event):
      states.send(event)
      note(event)
    case .tellPresence(let event): presence.send(event)
    case .deliver(let message): messages.send(message)
    case .tellTopics(let event): topics.send(event)
    case .warnOfToken(let event):
      tokens.send(event)
      log(.warning, .account, "the token of a link will be too old soon; renew it")
    }
    calls.tell(delegates, effect, isMessage: effect.isMessage) { delegate, effect in
      effect.tell(delegate)
    }
  }

  private func note(_ event: LinkStateEvent) {
    let level: DeviceLog.Level =
      switch event.current {
      case .failed: .error
      case .disconnected, .suspended: .warning
      case .idle, .connecting, .connected: .info
      }
    log(level, .connection, at: event.time, "\(event.service) \(event.current): \(event.reason)")
  }

  /// Ends all sequences; nothing more will be told.
  func finish() {
    states.finish()
    presence.finish()
    messages.finish()
    tokens.finish()
    topics.finish()
    calls.finish()
  }
}

extension LinkEffect {
  fileprivate var isMessage: Bool { if case .deliver = self { true } else { false } }

  fileprivate func tell(_ delegate: any LinkDelegate) {
    switch self {
    case .changeState(let event): delegate.didReceiveLinkStateEvent(event)
    case .tellPresence(let event): delegate.didReceivePresenceEvent(event)
    case .deliver(let message): delegate.didReceiveMessageEvent(message)
    case .tellTopics(let event): delegate.didReceiveTopicEvent(event)
    case .warnOfToken(let event): delegate.tokenPrivilegeWillExpire(event)
    }
  }
}
