import DataClient

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

  private let log: ChannelLog
  private let mainWork: AsyncStream<@Sendable @MainActor () -> Void>
  private let mainQueue: AsyncStream<@Sendable @MainActor () -> Void>.Continuation

  /// Creates a hub without listeners.
  package init(log: ChannelLog) {
    self.log = log
    (mainWork, mainQueue) = AsyncStream.makeStream()
  }

  /// Tells the listeners.
  package func take(_ effect: ChannelStateMachine.Effect) {
    switch effect {
    case .deliver(let message):
      messages.send(message, isHeard: tellDownstream(message))
    case .forward(let message): foreignMessages.send(message)
    case .changeState(let change):
      states.send(change)
      tellConnect(change)
    case .changeAccount(let state): accounts.send(state)
    case .log(let entry): log.handler?(entry)
    }
  }

  /// Tells the downstream listeners.
  /// - Returns: Whether there are any.
  private func tellDownstream(_ message: ChannelMessage) -> Bool {
    let (listeners, gone) = downstreamListeners.alive()
    noteGone(gone)
    guard !listeners.isEmpty else { return false }
    let topic = message.topic
    for (listener, onMain) in listeners {
      guard onMain else {
        if listener.shouldHandle(topic: topic) {
          listener.onDownstream(topic: topic, message: message)
        }
        continue
      }
      mainQueue.yield { [weak listener] in
        guard let listener, listener.shouldHandle(topic: topic) else { return }
        listener.onDownstream(topic: topic, message: message)
      }
    }
    return true
  }

  private func tellConnect(_ change: ChannelStateChange) {
    let (listeners, gone) = connectListeners.alive()
    noteGone(gone)
    for (listener, onMain) in listeners {
      guard onMain else {
        listener.onConnectState(change)
        continue
      }
      mainQueue.yield { [weak listener] in listener?.onConnectState(change) }
    }
  }

  /// Nobody removed them: perhaps their owner did not mean to let them go.
  private func noteGone(_ count: Int) {
    guard count > 0, log.takes(.debug, .listener) else { return }
    log.handler?(
      ChannelLog.Entry(
        level: .debug, module: .listener, message: "\(count) listeners no longer exist"))
  }

  /// Has something done on the main actor, behind what is waiting for it already.
  func doOnMain(_ work: @escaping @Sendable @MainActor () -> Void) { mainQueue.yield(work) }

  /// Does on the main actor what is to be done there, until the end.
  func runMainWork() async {
    for await work in mainWork { await MainActor.run(body: work) }
  }

  /// Ends all sequences; nothing more will be told.
  package func finish() {
    messages.finish()
    foreignMessages.finish()
    states.finish()
    accounts.finish()
    mainQueue.finish()
  }
}
