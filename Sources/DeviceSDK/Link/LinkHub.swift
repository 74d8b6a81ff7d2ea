import DataClient

/// Tells the application's listeners what the machines tell.
final class LinkHub: Sendable {
  let states = Broadcast<LinkStateEvent>()
  let presence = Broadcast<LinkPresenceEvent>()
  let messages = Broadcast<LinkMessage>()
  let tokens = Broadcast<LinkTokenEvent>()
  let delegates = WeakListeners<any LinkDelegate>()

  private let mainWork: AsyncStream<@Sendable @MainActor () -> Void>
  private let mainQueue: AsyncStream<@Sendable @MainActor () -> Void>.Continuation

  init() { (mainWork, mainQueue) = AsyncStream.makeStream() }

  func take(_ effect: LinkEffect) {
    switch effect {
    case .changeState(let event): states.send(event)
    case .tellPresence(let event): presence.send(event)
    case .deliver(let message): messages.send(message)
    case .warnOfToken(let event): tokens.send(event)
    }
    for (delegate, onMain) in delegates.alive().listeners {
      guard onMain else {
        effect.tell(delegate)
        continue
      }
      mainQueue.yield { [weak delegate] in
        if let delegate { effect.tell(delegate) }
      }
    }
  }

  /// Does on the main actor what is to be done there, until the end.
  func runMainWork() async {
    for await work in mainWork { await MainActor.run(body: work) }
  }

  /// Ends all sequences; nothing more will be told.
  func finish() {
    states.finish()
    presence.finish()
    messages.finish()
    tokens.finish()
    mainQueue.finish()
  }
}

extension LinkEffect {
  fileprivate func tell(_ delegate: any LinkDelegate) {
    switch self {
    case .changeState(let event): delegate.didReceiveLinkStateEvent(event)
    case .tellPresence(let event): delegate.didReceivePresenceEvent(event)
    case .deliver(let message): delegate.didReceiveMessageEvent(message)
    case .warnOfToken(let event): delegate.tokenPrivilegeWillExpire(event)
    }
  }
}
