/// Tells the application's listeners what the machine tells.
package final class ChannelHub: Sendable {
  /// An app asks for its messages when a call has returned, and a message may be right behind the reply.
  let messages = Broadcast<ChannelMessage>(keepingEarly: 1 << 20) { message in
    message.payload.count + message.fullTopic.utf8.count + 128
  }
  let foreignMessages = Broadcast<ChannelMessage>()
  let states = Broadcast<ChannelStateChange>()
  let accounts = Broadcast<AccountState>()
  /// The listeners of what comes down the channel.
  package let downstreamListeners = WeakListeners<any ChannelDownstreamListener>()
  let connectListeners = WeakListeners<any ChannelConnectListener>()

  let calls: ListenerCalls
  private let log: SystemLog

  /// Creates a hub without listeners.
  /// - Parameter log: Where the channel's log goes.
  package init(log: SystemLog = .none) {
    self.log = log
    calls = ListenerCalls(log: log)
  }

  /// Tells the listeners.
  package func take(_ effect: ChannelStateMachine.Effect) {
    switch effect {
    case .deliver(let message):
      messages.send(message, isHeard: tellDownstream(message))
    case .forward(let message): foreignMessages.send(message)
    case .changeState(let change):
      states.send(change)
      calls.tell(connectListeners, change) { $0.onConnectState($1) }
    case .changeAccount(let state): accounts.send(state)
    case .log(let entry): log(entry)
    }
  }

  /// Tells the downstream listeners.
  /// - Returns: Whether there are any.
  private func tellDownstream(_ message: ChannelMessage) -> Bool {
    calls.tell(downstreamListeners, message, isMessage: true) { listener, message in
      let topic = message.topic
      if listener.shouldHandle(topic: topic) {
        listener.onDownstream(topic: topic, message: message)
      }
    }
  }

  /// Ends all sequences; nothing more will be told.
  package func finish() {
    messages.finish()
    foreignMessages.finish()
    states.finish()
    accounts.finish()
    calls.finish()
  }
}
